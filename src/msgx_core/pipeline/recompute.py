"""One applied message decided again: at its time, with the settings and the coverage it had (D-36)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, tzinfo
from typing import cast

from attrs import define, field, frozen

from msgx_core.errors import MessageError
from msgx_core.model.message import DecodedMessage, MsgKind
from msgx_core.pipeline.desk import Decision, Desk, Work
from msgx_core.pipeline.handlers import decide
from msgx_core.pipeline.handlers.schedule import decide_covered
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.operations import Row
from msgx_core.ports.store import PipelineStore
from msgx_core.ports.telemetry import Silent
from msgx_core.rules.coverage import parse_coverage
from msgx_core.rules.policy import Policy
from msgx_core.rules.policy_text import POLICY_PIN, parse_grounds, parse_policy

TextSource = Callable[[Row], RawText | None]
"""Finds the raw text of a `PROC_STATE` row again; None when nobody has it any more."""


@frozen
class Instant:
    """A clock that stands still."""

    at: datetime

    def now(self) -> datetime:
        """That instant."""
        return self.at

    def monotonic_s(self) -> float:
        """No time passes."""
        return 0.0


@define
class Policies:
    """The settings of each time, by the digest that a message names.

    A digest that the store does not know, or none, means `today`.
    """

    today: Policy
    pins: Mapping[str, str]
    zone_of: Callable[[str], tzinfo]
    assumed: int = 0
    _known: dict[str, Policy] = field(factory=dict, init=False)

    def of(self, coverage: str | None) -> Policy:
        """The settings under which a message was applied."""
        digest = parse_grounds(coverage).policy
        text = None if digest is None else self.pins.get(f"{POLICY_PIN}{digest}")
        if digest is None or text is None:
            self.assumed += 1
            return self.today
        if digest not in self._known:
            self._known[digest] = parse_policy(text, self.zone_of)
        return self._known[digest]


def decide_again(
    row: Row, raw: RawText, world: Recomputed, codec: Codec, policy: Policy, at: datetime
) -> tuple[DecodedMessage, Decision | None]:
    """The message and its decision on `world`; None for an answer that only closed a request.

    Raises `MessageError` where the message is wrong in itself.
    """
    message = codec.decode(raw)

    def locate(error: MessageError) -> None:
        codec.locate(raw, error)

    received = row.get("RECEIVED_AT") or row["ENQUEUED_AT"]
    work = Work(row["MSG_ID"], message, received, 0.0, locate)
    return message, decided(work, world, policy, at, row.get("COVERAGE"))


def decided(
    work: Work, world: Recomputed, policy: Policy, at: datetime, coverage: str | None
) -> Decision | None:
    """The decision of a message that was let in."""
    if work.message.kind is MsgKind.ERROR_ANSWER:
        return None
    desk = Desk(cast(PipelineStore, world), Instant(at), policy, Silent())
    if work.message.kind is MsgKind.SCHEDULE and work.message.meta.styp == "RESP":
        return decide_covered(work, desk, parse_coverage(coverage))
    return decide(work, desk)
