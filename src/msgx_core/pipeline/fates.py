"""How a message without effects ended, checked against what its text alone says (D-25, D-36)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import cast

from attrs import frozen

from msgx_core.errors import MessageError
from msgx_core.model.message import DecodedMessage, MsgKind
from msgx_core.pipeline.desk import Close, Desk, Work
from msgx_core.pipeline.handlers import decide
from msgx_core.pipeline.recompute import Instant, Policies
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.ports.inspection import StoredRow, Unreadable
from msgx_core.ports.store import PipelineStore
from msgx_core.ports.telemetry import Silent
from msgx_core.rules.policy import Policy

_BY_DECODING = frozenset(
    "not-well-formed doctype-not-allowed bad-encoding control-character wrong-root meta-missing"
    " meta-invalid".split()
)
"""Reasons of a text that nobody can decode."""
_ANY_TIME = datetime(2000, 1, 1, tzinfo=UTC)
_UNSUPPORTED = "unsupported"
_BY_TEXT = frozenset(
    {MsgKind.FLOP, MsgKind.FDEL, MsgKind.REFERENCE, MsgKind.RESOURCE_STATUS, MsgKind.UNSUPPORTED}
)
"""Kinds that are dead by their text or not at all; of the others flights, requests and days decide too."""


@frozen
class Fate:
    """How a message ends: state, code, reason; of an unsupported one with its `DETAIL`."""

    state: str
    code: str | None
    reason: str
    detail: str | None = None

    @property
    def words(self) -> str:
        """For people."""
        return " ".join(filter(None, (self.state, self.code, self.reason, self.detail)))


@frozen
class Fates:
    """Decides on nothing but the text, under all settings that a store has kept: each start keeps some."""

    policies: Policies

    def contradiction(self, row: StoredRow, message: DecodedMessage) -> str | None:
        """How a message that can be decoded must have ended; None: as it did, for all that its text says."""
        told = [row[name] for name in ("STATE", "ERROR_CODE", "REASON", "DETAIL")]
        state, code, reason, detail = told
        head = str(reason).partition(":")[0]
        if any(isinstance(each, Unreadable) for each in told) or (state, head) == ("SKIPPED", "duplicate-of"):
            return None
        fates = {self._fate(row, message, policy) for policy in self.policies.kept()}
        certain = sorted(fate.words for fate in fates if fate is not None)
        if state == "SKIPPED":
            is_told = reason == _UNSUPPORTED
            legal = Fate(state, code, reason, detail) in fates if is_told else None in fates
        elif head in _BY_DECODING:
            legal = False
        else:
            by_text = message.kind in _BY_TEXT
            legal = Fate(state, code, reason) in fates or (not by_text and None in fates)
        if legal:
            return None
        return " or ".join(certain) if certain and None not in fates else f"not {head}: its text is whole"

    def _fate(self, row: StoredRow, message: DecodedMessage, policy: Policy) -> Fate | None:
        """Under these settings, where there is nothing but the text; None: its text alone does not end it."""
        at = row["ENQUEUED_AT"] if isinstance(row["ENQUEUED_AT"], datetime) else _ANY_TIME
        desk = Desk(cast(PipelineStore, Recomputed()), Instant(at), policy, Silent())
        try:
            decision = decide(Work(row["MSG_ID"], message, at, 0.0), desk)
        except MessageError as error:
            return Fate("DEAD", error.code, error.reason)
        outcome = decision.outcome if isinstance(decision, Close) else None
        if outcome is None or outcome.reason is None:
            return None
        if outcome.reason == _UNSUPPORTED:
            return Fate("SKIPPED", None, outcome.reason, outcome.detail)
        return None if outcome.code is None else Fate("DEAD", outcome.code, outcome.reason)
