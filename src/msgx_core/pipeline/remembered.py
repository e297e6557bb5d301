"""Flights as this instance has written them: what a decision needs, without asking the store again.

Nobody but the holder of the lease writes flights, and the holder writes them here: what was written under
our epoch is what the store would answer (D-34). A flight is remembered with its family, because a decision
sees all of it (D-21). Step ① still compares each version, so that even a wrong memory could not overwrite
anything newer. Whatever is not plainly known any more is forgotten and read again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from datetime import date

from attrs import define, field

from msgx_core.model.change import Change, FlightQuery, FlightSnapshot
from msgx_core.model.flight import FlightState
from msgx_core.model.schedule import SenderMark

FLIGHTS = 3000
"""So many are remembered at most: some ten thousand bytes each."""

SENDERS = 100


@define
class Family:
    """A main flight with its live children, or one flight alone: the answer for each of its members."""

    flights: dict[int, FlightState]
    generations: Mapping[date, int]


@define
class Memory:
    """Answers queries about single flights; for one thread at a time, under the lock of D-01.

    `ask` is the store. `learn` is told each change that the store has committed, `forget` that anything may
    have happened: a change whose end is unknown, a takeover, flights that the sweep removes. `age` is how
    often it has forgotten: what was decided at another age is to be decided again.
    """

    ask: Callable[[FlightQuery], FlightSnapshot]
    most: int = FLIGHTS
    age: int = 0
    _families: OrderedDict[int, Family] = field(init=False, factory=OrderedDict)
    _senders: OrderedDict[str, SenderMark | None] = field(init=False, factory=OrderedDict)

    def read(self, query: FlightQuery) -> FlightSnapshot:
        """What the store would answer. Raises what the store raises."""
        if not _is_single(query):
            return self.ask(query)
        (flid,) = query.flids
        family = self._families.get(flid)
        if family is not None and (query.sndr is None or query.sndr in self._senders):
            self._families.move_to_end(flid)
            mark = None if query.sndr is None else self._senders[query.sndr]
            return FlightSnapshot(flights=dict(family.flights), generations=family.generations, sender=mark)
        found = self.ask(query)
        self._keep(flid, found)
        if query.sndr is not None:
            self._keep_sender(query.sndr, found.sender)
        return found

    def learn(self, change: Change) -> None:
        """The store has committed this."""
        if change.rosters:
            self._families.clear()
        for put in change.flights:
            self._learn(put.state)
        if change.sender is not None:
            self._keep_sender(change.sender.sndr, change.sender)

    def forget(self) -> None:
        """Know nothing any more."""
        self.age += 1
        self._families.clear()
        self._senders.clear()

    def _learn(self, state: FlightState) -> None:
        family = self._families.get(state.flid)
        before = None if family is None else family.flights.get(state.flid)
        if family is None or before is None or not _is_same_place(before, state):
            # It has come, gone or changed its family: what is known of its relatives is no longer all.
            self._drop(state.flid)
            if state.main_flid is not None:
                self._drop(state.main_flid)
            return
        family.flights[state.flid] = state

    def _keep(self, flid: int, found: FlightSnapshot) -> None:
        if flid not in found.flights or not _is_one_family(found.flights.values()):
            return
        family = Family(dict(found.flights), found.generations)
        for member in found.flights:
            self._drop(member)
        for member in found.flights:
            self._families[member] = family
        while len(self._families) > self.most:
            self._drop(next(iter(self._families)))

    def _drop(self, flid: int) -> None:
        family = self._families.get(flid)
        for member in () if family is None else family.flights:
            self._families.pop(member, None)

    def _keep_sender(self, sndr: str, mark: SenderMark | None) -> None:
        self._senders[sndr] = mark
        self._senders.move_to_end(sndr)
        if len(self._senders) > SENDERS:
            self._senders.popitem(last=False)


def _is_same_place(before: FlightState, state: FlightState) -> bool:
    """Whether it lives on in its family and on its day."""
    return (
        state.is_live and state.main_flid == before.main_flid and state.operation_day == before.operation_day
    )


def _is_single(query: FlightQuery) -> bool:
    return len(query.flids) == 1 and query == FlightQuery(flids=query.flids, sndr=query.sndr)


def _is_one_family(flights: Iterable[FlightState]) -> bool:
    """Live flights of which one is the main flight of all others and has none itself: then the answer is the
    same whichever of them is asked for."""
    members = list(flights)
    mains = {state.flid for state in members if state.main_flid is None}
    return (
        all(state.is_live for state in members)
        and len(mains) == 1
        and all(state.main_flid is None or state.main_flid in mains for state in members)
    )
