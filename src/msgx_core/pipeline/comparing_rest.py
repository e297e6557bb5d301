"""The comparison of what is beside flights: rosters, reference data, floors, senders, counters (D-36)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Any

from attrs import define, field

from msgx_core.model.schedule import SenderMark
from msgx_core.model.sis import CATEGORIES, RSTA
from msgx_core.pipeline.comparing import Comparing
from msgx_core.pipeline.differences import Difference, key_text, unreadable
from msgx_core.pipeline.recomputed import Generation
from msgx_core.ports.inspection import (
    COUNTERS,
    FLOORS,
    GENERATIONS,
    MEMBERS,
    REFERENCES,
    SENDERS,
    StoredRow,
    Unreadable,
)

_COUNTERS = frozenset({"event_msg", "event_schd", "apply_no", "outbound_seqn"})
_RTYPES = frozenset({*CATEGORIES, RSTA})


@define
class ComparingRest:
    """Each comparison returns how many things were compared. Comes after that of the flights."""

    flights: Comparing
    highest: dict[str, int] = field(factory=dict)

    def rosters(self) -> int:
        """Every roster of both sides and its generation; of a range only what it has covered."""
        days = {*self._generations(), *self._members()}
        self.flights.settle()
        return len(days)

    def _generations(self) -> Iterator[date]:
        world, doubts = self.flights.world, self.flights.doubts
        seen = set()
        for row in self.flights.store.stored(GENERATIONS):
            day = row["OPERATION_DAY"]
            seen.add(day)
            computed = _generation(world.generations.get(day))
            if not doubts.whole:
                del computed["VERSION"]
            self._roster(day, row, {} if day in doubts.days else computed)
            if isinstance(day, date) and (doubts.whole or day in world.generations):
                yield day
        for day, mine in world.generations.items():
            yield day
            if day not in seen and not self._removed_by_age(day) and day not in doubts.days:
                missing = Difference("roster", GENERATIONS.name, str(day), "VERSION", None, mine.version)
                self.flights.suspect([missing], (), mine.msg_id)

    def _roster(self, day: Any, row: StoredRow, computed: Mapping[str, Any]) -> None:
        key = key_text(day)
        found = [
            Difference("roster", GENERATIONS.name, key, name, row[name], computed.get(name))
            for name in row
            if isinstance(row[name], Unreadable) or (name in computed and row[name] != computed[name])
        ]
        self.flights.suspect(found, (), row["LAST_MSG_ID"])

    def _members(self) -> Iterator[date]:
        stored = {}
        for row in self.flights.store.stored(MEMBERS):
            stored[row["FLID"]] = row["OPERATION_DAY"]
        computed = self.flights.world.roster_of
        for flid in sorted(stored.keys() | computed.keys()):
            theirs, mine = stored.get(flid), computed.get(flid)
            found = [
                Difference(
                    "roster", MEMBERS.name, key_text(day), str(flid), there or None, (not there) or None
                )
                for day, there in ((theirs, True), (mine, False))
                if day is not None and theirs != mine
            ]
            if isinstance(theirs, Unreadable):
                found = [Difference("roster", MEMBERS.name, str(flid), "OPERATION_DAY", theirs, mine)]
            if found:
                flight = self.flights.store.stored_flight(flid)
                self.flights.suspect(found, (flid,), None if flight is None else flight["LAST_MSG_ID"])
        known = {*computed.values(), *(stored.values() if self.flights.doubts.whole else ())}
        yield from (day for day in known if isinstance(day, date))

    def _removed_by_age(self, day: date) -> bool:
        """Ledger retention takes a day whole when none of its flights is left (FST §8.3)."""
        world = self.flights.world
        if world.roster(day).flids:
            return False
        return all(state.operation_day != day for state in world.flights.values())

    def references(self) -> int:
        """Every record of both sides; of a range only what it has put."""
        doubts, lists = self.flights.doubts, self.flights.world.references
        compared, seen, later = 0, set(), False
        suspects: list[tuple[str, tuple[Difference, ...]]] = []
        for row in self.flights.store.stored(REFERENCES):
            rtype, rkey = row["RTYPE"], row["RKEY"]
            seen.add((rtype, rkey))
            mine = lists.records.get(rtype, {}).get(rkey)
            complete = doubts.whole or rtype in lists.replaced or rtype not in _RTYPES
            if mine is None and not complete:
                doubts.left_out += 1
                self.flights.tell(unreadable("reference", REFERENCES, _ref_key(row), row))
                continue
            compared += 1
            suspects.append((rtype, tuple(self._record(row, complete=complete))))
        for rtype, records in lists.records.items():
            for rkey in records.keys() - {key for name, key in seen if name == rtype}:
                compared += 1
                missing = Difference("reference", REFERENCES.name, f"{rtype}/{rkey}", "RKEY", None, rkey)
                suspects.append((rtype, (missing,)))
        for rtype, found in suspects:
            if found and not later:
                later = True
                doubts.refresh()
            is_left = bool(found) and rtype in doubts.rtypes
            doubts.left_out += is_left
            compared -= is_left
            self.flights.tell(each for each in found if each.is_unreadable or not is_left)
        return compared

    def _record(self, row: StoredRow, *, complete: bool) -> Iterator[Difference]:
        lists, key = self.flights.world.references, _ref_key(row)
        rtype, rkey = row["RTYPE"], row["RKEY"]
        mine = lists.records.get(rtype, {}).get(rkey)
        if mine is None:
            yield from unreadable("reference", REFERENCES, key, row)
            yield Difference("reference", REFERENCES.name, key, "RKEY", rkey, None)
            return
        computed = {"PAYLOAD": mine.node, "MSG_ID": mine.msg_id, "UPDATED_AT": mine.updated_at}
        if complete:
            computed["ORDINAL"] = lists.ordinals[rtype][rkey]
        for name in ("PAYLOAD", "MSG_ID", "UPDATED_AT", "ORDINAL"):
            value = computed.get(name)
            if isinstance(row[name], Unreadable) or (name in computed and row[name] != value):
                yield Difference("reference", REFERENCES.name, key, name, row[name], value)

    def floors(self) -> None:
        """The version floor of every flight that left."""
        world, doubts = self.flights.world, self.flights.doubts
        seen = set()
        computed: dict[str, Any]
        for row in self.flights.store.stored(FLOORS):
            flid = row["FLID"]
            seen.add(flid)
            if flid in world.floors:
                version, at = world.floors[flid]
                computed = {"STATE_VERSION": version, "UPDATED_AT": at}
            else:
                computed = {"FLID": None}
            found = [
                Difference("floor", FLOORS.name, str(flid), name, row[name], value)
                for name, value in computed.items()
                if row[name] != value
            ]
            if doubts.lags(row["STATE_VERSION"], computed.get("STATE_VERSION")):
                doubts.flids.add(flid)
            # The unreadable ones were told when the floors were first read.
            self.flights.suspect((each for each in found if not each.is_unreadable), (flid,))
        for flid in world.floors.keys() - seen:
            missing = Difference(
                "floor", FLOORS.name, str(flid), "STATE_VERSION", None, world.floors[flid][0]
            )
            self.flights.suspect([missing], (flid,))
        if not doubts.whole:
            self.flights.doubts.flids |= seen - world.floors.keys()
        self.flights.settle()

    def senders(self) -> None:
        """The last message of each sender; of a range what it knows of it."""
        world, doubts = self.flights.world, self.flights.doubts
        seen, found = set(), []
        for row in self.flights.store.stored(SENDERS):
            sndr = row["SNDR"]
            seen.add(sndr)
            mark = world.senders.get(sndr)
            computed = {} if mark is None else _sender(*mark)
            if mark is not None and not doubts.whole:
                computed = {name: value for name, value in computed.items() if value is not None}
            if mark is None and doubts.whole:
                found.append((sndr, Difference("sender", SENDERS.name, key_text(sndr), "SNDR", sndr, None)))
            for name, value in row.items():
                if isinstance(value, Unreadable) or (name in computed and value != computed[name]):
                    each = Difference("sender", SENDERS.name, key_text(sndr), name, value, computed.get(name))
                    found.append((sndr, each))
        for sndr in world.senders.keys() - seen:
            found.append((sndr, Difference("sender", SENDERS.name, sndr, "SNDR", None, sndr)))
        if found:
            doubts.refresh()
        self.flights.tell(d for sndr, d in found if d.is_unreadable or sndr not in doubts.senders)

    def count(self, name: str, number: Any) -> None:
        """A number that a counter must have reached."""
        if isinstance(number, int):
            self.highest[name] = max(number, self.highest.get(name, 0))

    def counters(self) -> None:
        """No counter is below what was given out (D-27)."""
        for name, number in self.flights.store.given_out().items():
            self.count(name, number)
        stored = {}
        for row in self.flights.store.stored(COUNTERS):
            stored[row["NAME"]] = row["VALUE"]
            self.flights.tell(unreadable("counter", COUNTERS, key_text(row["NAME"]), row))
        for name, least in self.highest.items():
            value = stored.get(name)
            if isinstance(value, int) and value < least:
                self.flights.found(Difference("counter", COUNTERS.name, name, "VALUE", value, least))
        for name in _COUNTERS - stored.keys():
            least = self.highest.get(name, 0)
            self.flights.found(Difference("counter", COUNTERS.name, name, "NAME", None, f"{least} or more"))
        for name in stored.keys() - _COUNTERS:
            self.flights.found(
                Difference("counter", COUNTERS.name, key_text(name), "NAME", key_text(name), None)
            )


def _generation(mine: Generation | None) -> dict[str, Any]:
    if mine is None:
        return {"VERSION": 0}
    return {"VERSION": mine.version, "LAST_MSG_ID": mine.msg_id, "LAST_RECV_AT": mine.at}


def _ref_key(row: StoredRow) -> str:
    return f"{key_text(row['RTYPE'])}/{key_text(row['RKEY'])}"


def _sender(mark: SenderMark, at: datetime) -> dict[str, Any]:
    return {
        "SEQN": mark.seqn,
        "DTTM": mark.dttm,
        "SCHEDULE_DTTM": mark.schedule_dttm,
        "DNLD_RECS": mark.dnld_recs,
        "RESP_RECS": mark.resp_recs,
        "UPDATED_AT": at,
    }
