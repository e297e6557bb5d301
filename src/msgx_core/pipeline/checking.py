"""What the store says of a message, checked against its text and against what it decided (D-36)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from attrs import define, field

from msgx_core.errors import MessageError
from msgx_core.model.change import Change, FlightPut
from msgx_core.model.identity import Identity
from msgx_core.model.message import DecodedMessage
from msgx_core.pipeline.differences import Difference, json_parts, unreadable
from msgx_core.pipeline.doubts import Doubts
from msgx_core.pipeline.heads import digest_of, is_blank
from msgx_core.pipeline.timeline import Timeline
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.inspection import EVENTS, MESSAGES, Inspection, StoredRow, Unreadable
from msgx_core.rules.policy_text import GROUNDS

_MOMENT = timedelta(microseconds=1)
_META = ("SNDR", "TYPE", "STYP", "SEQN", "DTTM")
_LIVES = frozenset({"SUCCEEDED", "PENDING", "FAILED"})
_NOT_BY_ITSELF = frozenset({"raw-missing", "too-large", "raw-unreadable"})
"""Reasons that a text alone does not give: the mailbox, a setting, a row."""


@define
class Checking:
    """Tells `found` what differs about messages and their `msg` events."""

    store: Inspection
    doubts: Doubts
    timeline: Timeline
    found: Callable[[Difference], None]
    _old: dict[int, bool] = field(factory=dict)

    def applied(self, row: StoredRow) -> None:
        """What can be said of an applied one without its text."""
        self._unreadable(row)
        if row["APPLIED_AT"] is None:
            self._tell(row, "APPLIED_AT", None)
        if isinstance(row["APPLY_NO"], int) and row["APPLY_NO"] < 1:
            self._tell(row, "APPLY_NO", None)
        state, code = row["STATE"], row["ERROR_CODE"]
        if state == "DEAD" and code == "EXHAUSTED":
            return
        if state not in _LIVES and not isinstance(state, Unreadable):
            self._tell(row, "STATE", "SUCCEEDED")
        elif state == "SUCCEEDED" and code is not None:
            self._tell(row, "ERROR_CODE", None)

    def unapplied(self, row: StoredRow, text: Callable[[], RawText | None], codec: Codec) -> None:
        """One without effects: how it ended fits to itself, and to what its text alone says.

        Whether it was rightly skipped hangs on the state and the settings of then, which it does not record.
        """
        self._unreadable(row)
        state, code, reason = row["STATE"], row["ERROR_CODE"], row["REASON"]
        if state == "SUCCEEDED" or row["APPLIED_AT"] is not None:
            self._tell(row, "APPLY_NO", "a number")
        elif state == "SKIPPED" and code is not None:
            self._tell(row, "ERROR_CODE", None)
        elif state == "DEAD" and code is None:
            self._tell(row, "ERROR_CODE", "a code")
        if state in ("SKIPPED", "DEAD") and reason is None:
            self._tell(row, "REASON", "a reason")
        if state not in ("SKIPPED", "DEAD"):
            return
        raw = text()
        if raw is None or is_blank(raw):
            return
        self._digest(row, raw)
        try:
            message: DecodedMessage = codec.decode(raw)
        except MessageError as error:
            known = str(reason).partition(":")[0] in _NOT_BY_ITSELF or code == "EXHAUSTED"
            if not known and (state, code, reason) != ("DEAD", error.code, error.reason):
                self._tell(row, "STATE", f"DEAD {error.code} {error.reason}")
        except Exception:
            return
        else:
            self._meta(row, message, only_given=True)

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
        if whole and "TOUCHED" in row and (row["TOUCHED"] or []) != touched:
            self._tell(row, "TOUCHED", touched)

    def notices(self, row: StoredRow, stored: Sequence[StoredRow], change: Change) -> None:
        """Its own `msg` events, as far as they are there; those of a sweep or of `republish` are not."""
        expected = {
            (put.state.flid, put.state.version): put
            for put in change.flights
            if put.advanced and put.notice is not None
        }
        for event in stored:
            found = list(self._event(row, event, expected.get((event["FLID"], event["STATE_VERSION"]))))
            if found and self._says_nothing(event):
                found = [each for each in found if each.is_unreadable]
            for each in found:
                self.found(each)

    def _event(self, row: StoredRow, event: StoredRow, put: FlightPut | None) -> Iterator[Difference]:
        key, at = f"msg/{event['EVENT_ID']}", event["CREATED_AT"]
        yield from (each for each in unreadable("event", EVENTS, key, event))
        if isinstance(at, Unreadable) or isinstance(event["PAYLOAD"], Unreadable):
            return
        if at != row["APPLIED_AT"]:
            if not self._is_anothers(at):
                yield Difference("event", EVENTS.name, key, "CREATED_AT", at, row["APPLIED_AT"])
        elif put is None and not self.doubts.lost:
            told = f"{event['FLID']} version {event['STATE_VERSION']}"
            yield Difference("event", EVENTS.name, key, "STATE_VERSION", told, None)
        elif put is not None and event["PAYLOAD"] != put.notice:
            known = self.doubts.whole and put.state.operation_day not in self.doubts.days
            ignored = frozenset() if known else frozenset({"DAY_VERSION"})
            stored, computed = json_parts(event["PAYLOAD"], put.notice or "", ignored)
            if stored != computed:
                yield Difference("event", EVENTS.name, key, "PAYLOAD", stored, computed)

    def _is_anothers(self, at: datetime) -> bool:
        """Whether an event was written by a sweep, or once more."""
        republished = self.timeline.republished
        return at in self.timeline.departures or (republished is not None and at <= republished)

    def _says_nothing(self, event: StoredRow) -> bool:
        flid = event["FLID"]
        state = self.doubts.world.flights.get(flid)
        relatives = set() if state is None else {child.flid for child in state.mafl}
        if not self.doubts.flids.isdisjoint({flid, *relatives}):
            return True
        at = event["CREATED_AT"]
        if isinstance(at, datetime) and at > max(self.timeline.departures, default=at - _MOMENT):
            self.doubts.look_for_departures()
        if at in self.doubts.departures:
            return True
        return not self.doubts.whole and (bool(relatives) or self._is_old(flid))

    def _is_old(self, flid: int) -> bool:
        """Whether a flight may have begun before the range."""
        if flid not in self._old:
            row = self.store.stored_flight(flid)
            content = None if row is None else row["CONTENT"]
            self._old[flid] = (
                row is None
                or self.doubts.began_before(row["CREATED_AT"])
                or not isinstance(content, Mapping)
                or "MAID" in content
            )
        return self._old[flid]

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
        held = row["IDENTITY_KEY"]
        keys = [Identity.of(meta, include_day=by_day) for by_day in (False, True)]
        legal = {key.key for key in keys} | {key.readmitted_as(row["MSG_ID"]).key for key in keys}
        if held not in legal and not isinstance(held, Unreadable) and not (only_given and held is None):
            self._tell(row, "IDENTITY_KEY", keys[0].key)

    def _unreadable(self, row: StoredRow) -> None:
        for each in unreadable("message", MESSAGES, row["MSG_ID"], row):
            self.found(each)
        coverage = row["COVERAGE"]
        if isinstance(coverage, str) and _coverage(coverage) is None:
            self._tell(row, "COVERAGE", None, Unreadable(coverage))

    def _tell(self, row: StoredRow, name: str, computed: Any, stored: Any = None) -> None:
        value = row[name] if stored is None else stored
        self.found(Difference("message", MESSAGES.name, str(row["MSG_ID"]), name, value, computed))


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
