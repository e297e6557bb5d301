"""The comparison of flights that were computed again with those in the store, field by field (D-36)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from attrs import define, field, frozen

from msgx_core.model.flight import FlightState
from msgx_core.pipeline.differences import Difference, key_text, unreadable
from msgx_core.pipeline.doubts import Doubts
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.ports.inspection import FLIGHTS, SECTIONS, Inspection, StoredRow, Unreadable


@frozen
class Suspect:
    """Something that differs, before it is known whether that says anything: the flights it hangs on."""

    found: tuple[Difference, ...]
    flids: frozenset[int]
    msg_id: Any = None


@define
class Comparing:
    """Tells `found` what differs. What cannot be read is told whatever else is known of its row."""

    store: Inspection
    world: Recomputed
    doubts: Doubts
    found: Callable[[Difference], None]
    _suspects: list[Suspect] = field(factory=list)
    _compared: set[str] = field(factory=set)

    def flights(self) -> int:
        """Every flight of both sides, with its raw sections; how many were compared."""
        self._compared.clear()
        seen: set[int] = set()
        in_order = self.store.keeps_element_order
        for row in self.store.stored(FLIGHTS):
            flid = row["FLID"]
            seen.add(flid)
            if self.doubts.began_before(row["CREATED_AT"]):
                self.doubts.left_out += 1
                self.doubts.flids.add(flid)
                self.tell(unreadable("flight", FLIGHTS, flid, row))
                continue
            self._compared.add(str(flid))
            state = self.world.flights.get(flid)
            if self.doubts.lags(row["STATE_VERSION"], None if state is None else state.version):
                self.doubts.flids.add(flid)
            self.suspect(
                _flight(row, state, in_order=in_order), {flid, *_relatives(state, row)}, row["LAST_MSG_ID"]
            )
        for flid in sorted(self.world.flights.keys() - seen):
            self._compared.add(str(flid))
            state = self.world.flights[flid]
            missing = Difference("flight", FLIGHTS.name, str(flid), "FLID", None, flid)
            self.suspect([missing], {flid, *_relatives(state, {})}, state.last_msg_id)
        self._sections(seen)
        self.settle()
        return len(self._compared)

    def settle(self) -> None:
        """Tell those suspects that say something; flights of which the others are were not compared."""
        if not self._suspects:
            return
        self.doubts.refresh()
        excused: set[str] = set()
        for suspect in self._suspects:
            if self.doubts.about(suspect.flids, suspect.msg_id):
                excused |= {each.key for each in suspect.found if each.kind == "flight"}
                self.tell(each for each in suspect.found if each.is_unreadable)
            else:
                self.tell(suspect.found)
        self._suspects.clear()
        self.doubts.left_out += len(excused & self._compared)
        self._compared -= excused

    def tell(self, differences: Iterable[Difference]) -> None:
        """Tell all of them."""
        for difference in differences:
            self.found(difference)

    def suspect(self, differences: Iterable[Difference], flids: Iterable[int], msg_id: Any = None) -> None:
        """Keep what differs until `settle`: it hangs on these flights, and on that message."""
        found = tuple(differences)
        if found:
            self._suspects.append(Suspect(found, frozenset(flids), msg_id))

    def _sections(self, flids: set[int]) -> None:
        """Raw sections, also those of flights that are not there."""
        seen = set()
        for row in self.store.stored(SECTIONS):
            flid, tag = row["FLID"], row["TAG"]
            seen.add((flid, tag))
            text = self.world.sections.get(flid, {}).get(tag)
            if isinstance(tag, Unreadable) or isinstance(flid, Unreadable):
                self.tell(unreadable("flight", SECTIONS, key_text(flid), row))
            elif flid not in flids:
                # It may be one that has come since.
                if self.store.stored_flight(flid) is None:
                    self.found(Difference("flight", SECTIONS.name, str(flid), tag, row["XML"], None))
            elif row["XML"] != text:
                found = Difference("flight", SECTIONS.name, str(flid), tag, row["XML"], text)
                self.suspect([found], {flid})
        for flid, sections in self.world.sections.items():
            for tag, text in sections.items():
                if (flid, tag) not in seen:
                    missing = Difference("flight", SECTIONS.name, str(flid), tag, None, text)
                    self.suspect([missing], {flid})


def _relatives(state: FlightState | None, row: Mapping[str, Any]) -> set[int]:
    """Flights on which a flight hangs by code share."""
    content = row.get("CONTENT")
    maid = content.get("MAID") if isinstance(content, Mapping) else None
    found = {maid} if isinstance(maid, int) else set()
    if state is not None:
        found |= {child.flid for child in state.mafl}
        found |= set() if state.main_flid is None else {state.main_flid}
    return found


def _flight(row: StoredRow, state: FlightState | None, *, in_order: bool) -> Iterator[Difference]:
    """What differs of a stored flight."""
    key = str(row["FLID"])
    if state is None:
        yield Difference("flight", FLIGHTS.name, key, "FLID", row["FLID"], None)
        yield from unreadable("flight", FLIGHTS, key, row)
        return
    computed = {
        "STATE": state.status.value,
        "STATE_VERSION": state.version,
        "OPERATION_DAY": state.operation_day,
        "LAST_MSG_ID": state.last_msg_id,
        "CREATED_AT": state.created_at,
        "UPDATED_AT": state.updated_at,
        "SODT_AT": state.sodt_at,
    }
    for name, value in computed.items():
        if row[name] != value:
            yield Difference("flight", FLIGHTS.name, key, name, row[name], value)
    yield from _content(key, row, state, in_order=in_order)


def _content(key: str, row: StoredRow, state: FlightState, *, in_order: bool) -> Iterator[Difference]:
    """Fields, their order and that of the keys in them, and what is kept beside them."""
    stored, fields = row["CONTENT"], state.fields
    if isinstance(stored, Unreadable):
        yield Difference("flight", FLIGHTS.name, key, "CONTENT", stored, None)
    else:
        for tag in {**stored, **fields}:
            if stored.get(tag) != fields.get(tag):
                yield Difference("flight", FLIGHTS.name, key, tag, stored.get(tag), fields.get(tag))
            elif in_order and _keys(stored[tag]) != _keys(fields[tag]):
                yield Difference("flight", FLIGHTS.name, key, tag, stored[tag], fields[tag])
        order = row.get("TAG_ORDER")
        if isinstance(order, Unreadable) or (stored.keys() == fields.keys() and [*stored] != [*fields]):
            shown = order if isinstance(order, Unreadable) else " ".join(stored)
            yield Difference("flight", FLIGHTS.name, key, "TAG_ORDER", shown, " ".join(fields))
    flno = fields.get("FLNO")
    beside = {"MAID": fields.get("MAID"), "FLNO": flno if isinstance(flno, str) else None}
    for name, value in beside.items():
        if name in row and row[name] != value:
            yield Difference("flight", FLIGHTS.name, key, f"{name} (column)", row[name], value)


def _keys(value: Any) -> list[list[str]]:
    """The keys of an element or of each element of a collection, in their order."""
    if isinstance(value, Mapping):
        return [[*value]]
    return [[*each] for each in value] if isinstance(value, tuple) else []
