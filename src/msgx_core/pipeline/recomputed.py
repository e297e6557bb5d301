"""Flights, rosters and reference data in memory, built again from messages, for decisions (D-36)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, datetime

from attrs import define, evolve, field

from msgx_core.model.change import Change, FlightPut, FlightQuery, FlightSnapshot
from msgx_core.model.flight import FlightState
from msgx_core.model.reference import PutRecord, RefChange, RefRecord, ReplaceCategory
from msgx_core.model.request import Request, RequestSlot
from msgx_core.model.schedule import Roster, SenderMark
from msgx_core.rules.policy import Policy
from msgx_core.rules.sweep import plan_departure


@define
class Recomputed:
    """What a store holds of flights after the changes given so far. Holds flights, never messages."""

    flights: dict[int, FlightState] = field(factory=dict)
    floors: dict[int, int] = field(factory=dict)
    sections: dict[int, Mapping[str, str]] = field(factory=dict)
    references: dict[str, dict[str, RefRecord]] = field(factory=dict)
    replaced: set[str] = field(factory=set)
    _senders: dict[str, SenderMark] = field(factory=dict)
    _children: dict[int, set[int]] = field(factory=dict)
    _members: dict[date, set[int]] = field(factory=dict)
    _day_of: dict[int, date] = field(factory=dict)
    _generations: dict[date, int] = field(factory=dict)

    def read(self, query: FlightQuery) -> FlightSnapshot:
        """The answer that `ports.store.Effects.read` promises."""
        rosters = {day: self.roster(day) for day in query.roster_days}
        inside = self._inside(query.interval)
        asked = query.flids.union(inside, *(roster.flids for roster in rosters.values()))
        found = self._family(asked, query.maids)
        days = {s.operation_day for s in found.values() if s.operation_day is not None}
        return FlightSnapshot(
            flights=found,
            floors={flid: self.floors[flid] for flid in asked - found.keys() if flid in self.floors},
            rosters=rosters,
            generations={day: self._generations.get(day, 0) for day in days | query.days | query.roster_days},
            in_interval=inside,
            sender=None if query.sndr is None else self._senders.get(query.sndr),
        )

    def open_requests(self, slot: RequestSlot, expired_since: datetime | None = None) -> Sequence[Request]:
        """None: requests are not recomputed."""
        return ()

    def roster(self, day: date) -> Roster:
        """The roster of a day."""
        return Roster(day, self._generations.get(day, 0), frozenset(self._members.get(day, ())))

    def rosters(self) -> Mapping[date, Roster]:
        """All rosters that were ever covered or have a member."""
        days = self._generations.keys() | {day for day, flids in self._members.items() if flids}
        return {day: self.roster(day) for day in sorted(days)}

    def commit(self, change: Change) -> None:
        """What ① writes, in its order."""
        for put in change.flights:
            self._put(put)
        for replaced in change.rosters:
            self._generations[replaced.day] = replaced.read_version + 1
            for flid in self._members.pop(replaced.day, set()):
                self._day_of.pop(flid, None)
        for replaced in change.rosters:
            self._enrol(dict.fromkeys(replaced.flids, replaced.day))
        self._strike(change.roster_remove)
        self._enrol(change.roster_add)
        for each in change.reference:
            self._refer(each)
        if change.sender is not None:
            self._senders[change.sender.sndr] = change.sender

    def hold(self, state: FlightState) -> None:
        """Take a flight as it is."""
        self._put(FlightPut(state, None))

    def raise_versions(self, by: int) -> None:
        """What `recover --versions-by` does (D-31)."""
        self.flights = {f: evolve(s, version=s.version + by) for f, s in self.flights.items()}
        self.floors = {flid: floor + by for flid, floor in self.floors.items()}

    def depart(self, floors: Mapping[int, int], at: datetime, policy: Policy) -> Mapping[int, int]:
        """What one transaction of the history sweep did (D-33): flights leave, their main flights step.

        `floors` are the floors it left; those of them that are too low for what was here come back, with the
        lowest that is right.
        """
        here = [flid for flid in floors if flid in self.flights]
        low = {f: self.flights[f].version + 1 for f in here if floors[f] <= self.flights[f].version}
        if here:
            snapshot = self.read(FlightQuery(flids=frozenset(here)))
            departure = plan_departure(here, snapshot, now=at, policy=policy)
            for put in departure.notified:
                self._put(put)
        for flid in here:
            self._unlink(self.flights.pop(flid))
            self.sections.pop(flid, None)
        self._strike(here)
        self.floors |= floors
        return low

    def _inside(self, interval: tuple[datetime, datetime] | None) -> frozenset[int]:
        if interval is None:
            return frozenset()
        first, last = interval
        return frozenset(
            s.flid
            for s in self.flights.values()
            if s.is_live and s.sodt_at is not None and first <= s.sodt_at <= last
        )

    def _family(self, asked: frozenset[int], maids: frozenset[int]) -> dict[int, FlightState]:
        """What was asked for, its main flights, and every live child of any of these, by FLID."""
        stored = (self.flights[flid].main_flid for flid in asked if flid in self.flights)
        wanted = {*asked, *maids, *(main for main in stored if main is not None)}
        waiting = list(wanted)
        while waiting:
            more = self._children.get(waiting.pop(), set()) - wanted
            wanted |= more
            waiting += more
        return {flid: self.flights[flid] for flid in sorted(wanted) if flid in self.flights}

    def _put(self, put: FlightPut) -> None:
        state = put.state
        before = self.flights.get(state.flid)
        if before is not None:
            self._unlink(before)
        self.flights[state.flid] = state
        if state.is_live and state.main_flid is not None:
            self._children.setdefault(state.main_flid, set()).add(state.flid)
        if put.raw_sections:
            self.sections[state.flid] = put.raw_sections
        elif put.raw_sections is not None:
            self.sections.pop(state.flid, None)

    def _unlink(self, state: FlightState) -> None:
        if state.is_live and state.main_flid is not None:
            children = self._children[state.main_flid]
            children.discard(state.flid)
            if not children:
                del self._children[state.main_flid]

    def _enrol(self, added: Mapping[int, date]) -> None:
        for flid, day in added.items():
            self._strike((flid,))
            self._members.setdefault(day, set()).add(flid)
            self._day_of[flid] = day

    def _strike(self, flids: Iterable[int] | Collection[int]) -> None:
        for flid in flids:
            day = self._day_of.pop(flid, None)
            if day is not None:
                self._members[day].discard(flid)

    def _refer(self, change: RefChange) -> None:
        if isinstance(change, ReplaceCategory):
            self.references[change.rtype] = {record.rkey: record for record in change.records}
            self.replaced.add(change.rtype)
        elif isinstance(change, PutRecord):
            self.references.setdefault(change.record.rtype, {})[change.record.rkey] = change.record
        else:
            self.references.get(change.rtype, {}).pop(change.rkey, None)
