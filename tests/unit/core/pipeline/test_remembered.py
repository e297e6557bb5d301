"""What is remembered of flights is what the store would answer, and no more (D-34, R-464)."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from attrs import define, evolve, field

from msgx_core.model.change import Change, FlightQuery, FlightSnapshot, RosterReplace
from msgx_core.model.flight import Child, FlightState
from msgx_core.model.schedule import SenderMark
from msgx_core.pipeline.remembered import Memory
from msgx_core.testing.builders import DAY, change, flight, put

MARK = SenderMark("AODB", 7, "20270314143000")


@define
class Asked:
    """A store that holds these flights, each answer with the whole family; `queries` are those that came."""

    flights: dict[int, FlightState] = field(factory=dict)
    mark: SenderMark | None = MARK
    queries: list[FlightQuery] = field(factory=list)

    @classmethod
    def of(cls, *states: FlightState) -> Asked:
        return cls({state.flid: state for state in states})

    def read(self, query: FlightQuery) -> FlightSnapshot:
        self.queries.append(query)
        wanted = set(query.flids)
        wanted |= {s.main_flid for s in self.flights.values() if s.flid in wanted and s.main_flid is not None}
        wanted |= {s.flid for s in self.flights.values() if s.main_flid in wanted and s.is_live}
        found = {flid: self.flights[flid] for flid in sorted(wanted & self.flights.keys())}
        days: dict[date, int] = {s.operation_day: 3 for s in found.values() if s.operation_day is not None}
        return FlightSnapshot(found, generations=days, sender=self.mark if query.sndr else None)


def one(flid: int, sndr: str | None = "AODB") -> FlightQuery:
    return FlightQuery(flids=frozenset({flid}), sndr=sndr)


def next_of(state: FlightState, **more: Any) -> FlightState:
    return evolve(state, version=state.version + 1, **more)


def is_asked(memory: Memory, store: Asked, query: FlightQuery) -> bool:
    """Whether the store was asked; the answer is right either way."""
    before = len(store.queries)
    answer = memory.read(query)
    asked = len(store.queries) > before
    assert answer == store.read(query)
    store.queries.pop()
    return asked


def written(memory: Memory, store: Asked, *states: FlightState, **more: Any) -> None:
    """The store commits new states of these flights and the memory hears of it."""
    made: Change = change(9, *[put(state) for state in states], **more)
    store.flights |= {state.flid: state for state in states}
    store.mark = made.sender or store.mark
    memory.learn(made)


def test_the_second_question_is_answered_from_memory() -> None:
    store = Asked.of(flight(1))
    memory = Memory(store.read)
    assert is_asked(memory, store, one(1))
    assert not is_asked(memory, store, one(1))
    assert not is_asked(memory, store, one(1, sndr=None))


def test_what_was_written_is_known() -> None:
    store = Asked.of(flight(1))
    memory = Memory(store.read)
    memory.read(one(1))
    written(memory, store, next_of(store.flights[1], fields={"GTNO": "B7"}), sender=evolve(MARK, seqn=8))
    assert not is_asked(memory, store, one(1))


def test_a_family_is_known_by_each_of_its_members() -> None:
    """D-21: the main flight with its live children, whichever is asked for."""
    main = evolve(flight(1), mafl=(Child(2, None), Child(3, None)))
    store = Asked.of(main, flight(2, MAID=1), flight(3, MAID=1))
    memory = Memory(store.read)
    memory.read(one(2))
    assert not is_asked(memory, store, one(1))
    written(memory, store, next_of(store.flights[3], fields={"MAID": 1, "FLNO": "MU1"}))
    assert not is_asked(memory, store, one(2))


@pytest.mark.parametrize(
    "later",
    [
        pytest.param(next_of(flight(1), status=flight(1, deleted=True).status), id="deleted"),
        pytest.param(next_of(flight(1), fields={"MAID": 5}), id="it gets a main flight"),
        pytest.param(next_of(flight(1), operation_day=date(2027, 3, 20)), id="it gets another day"),
        pytest.param(flight(4, MAID=1), id="a new child"),
    ],
)
def test_whoever_comes_goes_or_moves_is_asked_for_again(later: FlightState) -> None:
    store = Asked.of(flight(1), flight(7))
    memory = Memory(store.read)
    memory.read(one(1))
    memory.read(one(7))
    written(memory, store, later)
    assert is_asked(memory, store, one(1))
    assert not is_asked(memory, store, one(7)), "others stay known"


def test_a_child_that_leaves_takes_the_memory_of_both_families_along() -> None:
    store = Asked.of(flight(1), flight(2, MAID=1), flight(5))
    memory = Memory(store.read)
    for flid in (1, 5):
        memory.read(one(flid))
    written(memory, store, next_of(store.flights[2], fields={"MAID": 5}))
    assert [is_asked(memory, store, one(flid)) for flid in (1, 5)] == [True, True]


@pytest.mark.parametrize(
    "states",
    [
        pytest.param((), id="nobody"),
        pytest.param((flight(1, deleted=True),), id="deleted"),
        pytest.param((flight(1, MAID=9),), id="its main flight is not there"),
        pytest.param((flight(1, MAID=2), flight(2, MAID=3), flight(3)), id="its main flight has one too"),
    ],
)
def test_what_is_no_plain_family_is_not_remembered(states: tuple[FlightState, ...]) -> None:
    store = Asked.of(*states)
    memory = Memory(store.read)
    memory.read(one(1))
    assert is_asked(memory, store, one(1))


def test_a_schedule_makes_it_forget_flights() -> None:
    """D-11: the generation of a day is in what is rendered."""
    store = Asked.of(flight(1))
    memory = Memory(store.read)
    memory.read(one(1))
    written(memory, store, rosters=(RosterReplace(DAY, 3, frozenset({1})),))
    assert is_asked(memory, store, one(1))


def test_it_forgets_when_told_and_when_there_is_too_much() -> None:
    store = Asked.of(*[flight(n) for n in range(1, 6)])
    memory = Memory(store.read, most=3)
    for flid in range(1, 6):
        memory.read(one(flid))
    assert [flid for flid in (5, 4, 3, 2) if is_asked(memory, store, one(flid))] == [2]
    memory.forget()
    assert is_asked(memory, store, one(5))


def test_other_questions_go_to_the_store() -> None:
    store = Asked.of(flight(1), flight(2))
    memory = Memory(store.read)
    memory.read(one(1))
    for query in (
        evolve(one(1), maids=frozenset({2})),
        evolve(one(1), days=frozenset({DAY})),
        evolve(one(1), roster_days=frozenset({DAY})),
        FlightQuery(flids=frozenset({1, 2}), sndr="AODB"),
        FlightQuery(sndr="AODB"),
        one(1, "ANOTHER"),
    ):
        assert is_asked(memory, store, query)
