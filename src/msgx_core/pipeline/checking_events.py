"""What the store says of the events of a message, checked against what it decided (D-28, D-36)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from attrs import define, evolve, field

from msgx_core.model.change import Change, FlightPut
from msgx_core.model.flight import DeleteReason, FlightState
from msgx_core.pipeline.consistency import of_event
from msgx_core.pipeline.differences import Difference, json_parts, unreadable
from msgx_core.pipeline.doubts import Doubts
from msgx_core.pipeline.timeline import Timeline
from msgx_core.ports.inspection import EVENTS, MESSAGES, Inspection, StoredRow, Unreadable
from msgx_core.rules.merge import all_tags
from msgx_core.rules.render import notice_document, to_json

_MOMENT = timedelta(microseconds=1)


@define
class CheckingEvents:
    """Tells `found` what differs about `msg` events, which come in the order of their messages."""

    store: Inspection
    doubts: Doubts
    timeline: Timeline
    found: Callable[[Difference], None]
    _born: dict[int, datetime | None] = field(factory=dict, init=False)
    _event_id: int = field(default=0, init=False)
    _applied_at: datetime | None = field(default=None, init=False)

    def notices(self, row: StoredRow, stored: Sequence[StoredRow], change: Change) -> None:
        """Its own `msg` events, as far as they are there; those of a sweep or of `republish` are not."""
        puts = [put for put in change.flights if put.advanced and put.notice is not None]
        expected = {(put.state.flid, put.state.version): (n, put) for n, put in enumerate(puts)}
        place = -1
        self._in_turn(row, stored)
        for event in stored:
            n, put = expected.get((event["FLID"], self._version(row, event)), (place, None))
            found = list(self._event(row, event, put))
            if event["CREATED_AT"] == row["APPLIED_AT"] and isinstance(event["EVENT_ID"], int):
                found += self._in_order(event, after=place < n) if put is not None else ()
                place = max(place, n)
                self._event_id = max(self._event_id, event["EVENT_ID"])
            if found and self._says_nothing(event):
                found = [each for each in found if each.is_unreadable]
            for each in found:
                self.found(each)

    def orphan(self, event: StoredRow) -> None:
        """An event of a message that was not applied, or that is not there."""
        key = f"msg/{event['EVENT_ID']}"
        for each in unreadable("event", EVENTS, key, event):
            self.found(each)
        self.found(Difference("event", EVENTS.name, key, "MSG_ID", event["MSG_ID"], "an applied message"))

    def _event(self, row: StoredRow, event: StoredRow, put: FlightPut | None) -> Iterator[Difference]:
        key, at = f"msg/{event['EVENT_ID']}", event["CREATED_AT"]
        yield from fitting(key, event)
        if isinstance(at, Unreadable) or isinstance(event["PAYLOAD"], Unreadable):
            return
        if at != row["APPLIED_AT"]:
            if not self._is_once_more(row, event, put):
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

    def _version(self, row: StoredRow, event: StoredRow) -> Any:
        """The version that the message made: until it was written once more, it may have been raised."""
        at, version = event["CREATED_AT"], event["STATE_VERSION"]
        if not isinstance(at, datetime) or not isinstance(version, int):
            return version
        return version - self.timeline.raised(row["APPLIED_AT"], at)

    def _is_once_more(self, row: StoredRow, event: StoredRow, put: FlightPut | None) -> bool:
        """Whether a sweep wrote that event, or `republish`: behind its message, and what that writes."""
        at, since, republished = event["CREATED_AT"], row["APPLIED_AT"], self.timeline.republished
        if at in self.timeline.departures:
            return True
        if republished is None or not since < at <= republished:
            return False
        if put is None:
            # The flight may have stepped as another one left: this is not what the message made of it.
            return self.doubts.lost > 0 or any(since < each <= at for each in self.timeline.departures)
        return is_republished(event, put.state)

    def _in_turn(self, row: StoredRow, stored: Sequence[StoredRow]) -> None:
        """Whether a message comes after the one before it, by its time and by its events (D-27)."""
        at = row["APPLIED_AT"]
        own = [event["EVENT_ID"] for event in stored if event["CREATED_AT"] == at]
        if not own or not all(isinstance(number, int) for number in own):
            return
        if self._applied_at is not None and at < self._applied_at and max(own) <= self._event_id:
            wanted = "a lower one: its events come before those of the message before it"
            key, number = str(row["MSG_ID"]), row["APPLY_NO"]
            self.found(Difference("message", MESSAGES.name, key, "APPLY_NO", number, wanted))
        self._applied_at = at

    def _in_order(self, event: StoredRow, *, after: bool) -> Iterator[Difference]:
        """Ids of events rise with the messages, and within one with its flights (D-27)."""
        number = event["EVENT_ID"]
        if not after or number <= self._event_id:
            key = f"msg/{number}"
            wanted = f"more than {self._event_id}" if after else "another place among those of its message"
            yield Difference("event", EVENTS.name, key, "EVENT_ID", number, wanted)

    def is_anothers(self, at: datetime) -> bool:
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
        return not self.doubts.whole and (bool(relatives) or self._is_old(flid, at))

    def _is_old(self, flid: int, at: Any) -> bool:
        """Whether a flight may have begun before the range; one that came back had a life before."""
        if flid not in self._born:
            row = self.store.stored_flight(flid)
            content = None if row is None else row["CONTENT"]
            alone = row is not None and isinstance(content, Mapping) and "MAID" not in content
            created_at = row["CREATED_AT"] if row is not None and alone else None
            self._born[flid] = created_at if isinstance(created_at, datetime) else None
        born = self._born[flid]
        if born is None or not isinstance(at, datetime):
            return True
        return self.doubts.began_before(born) or at < born


def is_republished(event: StoredRow, state: FlightState) -> bool:
    """Whether that is what `republish` writes of a flight in that state (D-31); its day may have gone on."""
    again = evolve(state, version=event["STATE_VERSION"])
    reason = None if state.is_live else DeleteReason.FDEL
    tags = all_tags(again) if state.is_live else ()
    wanted = to_json(notice_document(again, changed=tags, generation=None, reason=reason))
    stored, computed = json_parts(event["PAYLOAD"], wanted, frozenset({"DAY_VERSION", "REASON"}))
    return bool(stored == computed)


def fitting(key: str, event: StoredRow) -> Iterator[Difference]:
    """What of an event cannot be read, or does not fit to the rest of it."""
    yield from unreadable("event", EVENTS, key, event)
    for name, stored, wanted in of_event(event):
        yield Difference("event", EVENTS.name, key, name, stored, wanted)
