"""What the store says of a message, checked against its text and against what it decided (D-36)."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from attrs import define, field

from msgx_core.errors import MessageError
from msgx_core.model.change import Change
from msgx_core.model.identity import Identity
from msgx_core.model.message import DecodedMessage
from msgx_core.pipeline.checking_events import CheckingEvents
from msgx_core.pipeline.consistency import of_message, was_applied
from msgx_core.pipeline.differences import Difference, unreadable
from msgx_core.pipeline.doubts import Doubts
from msgx_core.pipeline.fates import Fates
from msgx_core.pipeline.heads import digest_of, is_blank
from msgx_core.pipeline.timeline import Timeline
from msgx_core.pipeline.witness import applied_at
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.inspection import MESSAGES, Inspection, StoredRow, Unreadable
from msgx_core.rules.policy_text import GROUNDS, parse_grounds, raw_grounds, with_grounds

_META = ("SNDR", "TYPE", "STYP", "SEQN", "DTTM")
_NOT_BY_ITSELF = frozenset({"raw-missing", "too-large", "raw-unreadable"})
"""Reasons that a text alone does not give: the mailbox, a setting, a row."""


@define
class Checking:
    """Tells `found` what differs about messages; `events` does so about their `msg` events.

    `fates` say how messages without effects end by their text alone. `by_day`: whether identities have the
    day in them; None where the store does not say so readably.
    """

    store: Inspection
    doubts: Doubts
    timeline: Timeline
    found: Callable[[Difference], None]
    fates: Fates
    by_day: bool | None = None
    events: CheckingEvents = field(init=False)

    @events.default
    def _events(self) -> CheckingEvents:
        return CheckingEvents(self.store, self.doubts, self.timeline, self.found)

    def applied(self, row: StoredRow) -> None:
        """What can be said of an applied one without its text."""
        self._by_itself(row)

    def corrected(self, row: StoredRow, notices: Sequence[StoredRow]) -> StoredRow:
        """The row with the time that its events say it was applied: one difference, not all that follows."""
        at = applied_at(row, notices, self.timeline.departures)
        if at is None:
            return row
        if not isinstance(row["APPLIED_AT"], Unreadable | None):
            self._tell(row, "APPLIED_AT", at)
        return {**row, "APPLIED_AT": at}

    def unapplied(self, row: StoredRow, text: Callable[[], RawText | None], codec: Codec) -> None:
        """One without effects: how it ended fits to itself, and to what its text alone says.

        Whether it was rightly skipped hangs on the state and the settings of then, which it does not record.
        """
        self._by_itself(row)
        state, code, reason = row["STATE"], row["ERROR_CODE"], row["REASON"]
        ended = state in ("SKIPPED", "DEAD") and code != "EXHAUSTED"
        by_text = ended and str(reason).partition(":")[0] not in _NOT_BY_ITSELF
        raw = text()
        if raw is None or is_blank(raw):
            if by_text:
                self._tell(row, "RAW", "no text is left of it", str(state))
            return
        try:
            message: DecodedMessage = codec.decode(raw)
        except MessageError as error:
            if by_text:
                self._undecoded(row, error)
        except Exception:
            return
        else:
            ended_as = self.fates.contradiction(row, message) if by_text else None
            if ended_as is not None:
                self._tell(row, "STATE", ended_as, _ended_as(row))
            self._digest(row, raw, always=by_text)
            # What ends by its text was bound before, or, as a duplicate, described (D-24).
            self._meta(row, message, only_given=not by_text)

    def _undecoded(self, row: StoredRow, error: MessageError) -> None:
        """One that is dead by its text was neither bound nor described: nobody could read who sent it."""
        ended = ("DEAD", error.code, error.reason)
        if (row["STATE"], row["ERROR_CODE"], row["REASON"]) != ended:
            self._tell(row, "STATE", " ".join(ended))
        for name in ("IDENTITY_KEY", "RAW_DIGEST", *_META):
            if row[name] is not None and not isinstance(row[name], Unreadable):
                self._tell(row, name, None)

    def text(self, row: StoredRow, raw: RawText, message: DecodedMessage) -> None:
        """What an applied one says of its text."""
        self._digest(row, raw, always=True)
        self._meta(row, message)

    def outcome(self, row: StoredRow, change: Change, flids: set[int]) -> None:
        """What it says of its effects; `flids` are the flights that it names."""
        outcome = change.outcome
        touched = [put.state.flid for put in change.flights]
        certain = self.doubts.whole and not self.doubts.lost
        whole = certain and self.doubts.flids.isdisjoint({*flids, *touched})
        names = ["OUTCOME_REASON", "OUTCOME_DETAIL"]
        names += ["REASON", "DETAIL"] if row["STATE"] == "SUCCEEDED" else []
        for name in names:
            wanted = outcome.reason if name.endswith("REASON") else outcome.detail
            # In a range nobody knows whether the flight was there.
            known = whole or not name.endswith("REASON")
            if known and row[name] != wanted and not isinstance(row[name], Unreadable):
                self._tell(row, name, wanted)
        stored = _coverage(row["COVERAGE"])
        wanted_coverage = json.loads(change.coverage or "{}")
        if stored is not None and stored != wanted_coverage:
            self._tell(row, "COVERAGE", change.coverage)
        elif stored is not None:
            self._grounds(row, change)
        if whole and "TOUCHED" in row and (row["TOUCHED"] or []) != touched:
            self._tell(row, "TOUCHED", touched)

    def _digest(self, row: StoredRow, raw: RawText, *, always: bool = False) -> None:
        digest = digest_of(raw)
        stored = row["RAW_DIGEST"]
        if (stored is not None or always) and stored != digest and not isinstance(stored, Unreadable):
            self._tell(row, "RAW_DIGEST", digest)

    def _meta(self, row: StoredRow, message: DecodedMessage, *, only_given: bool = False) -> None:
        meta = message.meta
        values = dict(zip(_META, (meta.sndr, meta.type, meta.styp, meta.seqn, meta.dttm), strict=True))
        for name, value in values.items():
            given = row[name] is not None or not only_given
            if given and row[name] != value and not isinstance(row[name], Unreadable):
                self._tell(row, name, value)
        self._identity(row, message, only_given=only_given)

    def _identity(self, row: StoredRow, message: DecodedMessage, *, only_given: bool) -> None:
        held = row["IDENTITY_KEY"]
        if isinstance(held, Unreadable) or (only_given and held is None):
            return
        by_days = (False, True) if self.by_day is None else (self.by_day,)
        keys = [Identity.of(message.meta, include_day=by_day) for by_day in by_days]
        legal: set[str | None]
        if row["MSG_ID"] in self.timeline.readmitted:
            legal = {key.readmitted_as(row["MSG_ID"]).key for key in keys}
        else:
            legal = {key.key for key in keys}
        if row["STATE"] == "SKIPPED" and str(row["REASON"]).startswith("duplicate-of"):
            # It wanted what another one has; an identity of its own it has when it was readmitted.
            legal = {None, *(legal if row["MSG_ID"] in self.timeline.readmitted else ())}
        if held not in legal:
            self._tell(row, "IDENTITY_KEY", min(filter(None, legal), default=None))

    def _grounds(self, row: StoredRow, change: Change) -> None:
        """What is beside the coverage, and the form of it all."""
        stored = row["COVERAGE"]
        grounds = parse_grounds(stored)
        self._put_back(row, grounds.raw)
        if grounds.policy is not None:
            wanted = with_grounds(change.coverage, grounds.policy, grounds.raw)
            if stored != wanted:
                self._tell(row, "COVERAGE", wanted)

    def _put_back(self, row: StoredRow, key: str | None) -> None:
        """A text that was put back: the audit says who did that, and from where (D-36)."""
        if key is not None and not self.timeline.was_put_back(row["MSG_ID"], key):
            self._tell(row, "COVERAGE", "no `raw`: nobody has put that text back")

    def _by_itself(self, row: StoredRow) -> None:
        for each in unreadable("message", MESSAGES, row["MSG_ID"], row):
            self.found(each)
        coverage, msg_id = row["COVERAGE"], row["MSG_ID"]
        if isinstance(coverage, str) and not was_applied(row):
            key = parse_grounds(coverage).raw
            if key is None or coverage != raw_grounds(key):
                self._tell(row, "COVERAGE", "a `raw`, or nothing")
            else:
                self._put_back(row, key)
        elif isinstance(coverage, str) and _coverage(coverage) is None:
            self._tell(row, "COVERAGE", None, Unreadable(coverage))
        replayed = msg_id in self.timeline.replayed or msg_id in self.timeline.readmitted
        for name, stored, wanted in of_message(row, replayed=replayed):
            self.found(Difference("message", MESSAGES.name, str(msg_id), name, stored, wanted))

    def _tell(self, row: StoredRow, name: str, computed: Any, stored: Any = None) -> None:
        value = row[name] if stored is None else stored
        self.found(Difference("message", MESSAGES.name, str(row["MSG_ID"]), name, value, computed))


def _ended_as(row: StoredRow) -> str:
    return " ".join(str(row[name]) for name in ("STATE", "ERROR_CODE", "REASON") if row[name] is not None)


def _coverage(text: Any) -> dict[str, Any] | None:
    """What `COVERAGE` says of the coverage alone; None when it cannot be read."""
    if text is None:
        return {}
    try:
        value = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return {name: each for name, each in value.items() if name not in GROUNDS}
