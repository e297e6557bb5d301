"""The state machines as tables: what is reachable, what is final, what is refused."""

import enum
from typing import Any

import pytest

from msgx_core.model.events import EventStatus
from msgx_core.model.job import OPEN_JOB_STATES, JobState
from msgx_core.model.proc import TERMINAL_STATES, UNFINISHED_STATES, MessageState
from msgx_core.model.request import OPEN_REQUEST_STATES, RequestState
from msgx_core.states.delivery import DELIVERY, DeliveryEvent
from msgx_core.states.flight import FLIGHT, FlightEvent, FlightLife
from msgx_core.states.job import JOB, JobEvent
from msgx_core.states.machine import IllegalTransition, Machine
from msgx_core.states.message import MESSAGE, MessageEvent
from msgx_core.states.request import REQUEST, RequestEvent
from msgx_core.states.writeback import WRITEBACK, WritebackEvent, WritebackState

MACHINES: dict[str, tuple[Machine[Any, Any], type[enum.Enum], type[enum.Enum]]] = {
    m.name: (m, states, events)
    for m, states, events in (
        (MESSAGE, MessageState, MessageEvent),
        (DELIVERY, EventStatus, DeliveryEvent),
        (REQUEST, RequestState, RequestEvent),
        (WRITEBACK, WritebackState, WritebackEvent),
        (FLIGHT, FlightLife, FlightEvent),
        (JOB, JobState, JobEvent),
    )
}

LEAVING_THE_END = {
    "message": {(MessageState.DEAD, MessageEvent.REPLAY), (MessageState.SKIPPED, MessageEvent.READMIT)},
    "delivery": {(s, DeliveryEvent.SUPERSEDE) for s in (EventStatus.SENT, EventStatus.DISCARDED)},
    "request": set(),
    "write-back": {(WritebackState.WRITTEN, e) for e in (WritebackEvent.FINISH, WritebackEvent.REPLAY)},
    "flight": set(),
    "job": set(),
}
"""The documented steps out of a final state: a person's (D-24, D-25), or a new version's (D-29)."""

every_machine = pytest.mark.parametrize("name", sorted(MACHINES))


@every_machine
def test_every_state_can_be_reached(name: str) -> None:
    """R-106 to R-115: there is no state that nothing leads to."""
    machine, states, _ = MACHINES[name]
    assert machine.reachable() == frozenset(states)
    assert machine.initial | machine.terminal <= frozenset(states)


@every_machine
def test_only_documented_steps_leave_an_end(name: str) -> None:
    """R-110, D-24, D-25, D-29: final is final, but for these."""
    machine, _, _ = MACHINES[name]
    leaving = {(t.source, t.event) for t in machine.transitions if t.source in machine.terminal}
    assert leaving == LEAVING_THE_END[name]


@every_machine
def test_every_other_state_has_a_way_on(name: str) -> None:
    """R-111: no state that is not final is a dead end."""
    machine, states, _ = MACHINES[name]
    assert {t.source for t in machine.transitions} >= frozenset(states) - machine.terminal


@every_machine
def test_one_event_leads_to_one_state(name: str) -> None:
    """R-106 to R-115: the table is a function, each row names its rule."""
    machine, _, events = MACHINES[name]
    steps = [(t.source, t.event) for t in machine.transitions]
    assert len(steps) == len(set(steps))
    assert {t.event for t in machine.transitions} == frozenset(events)
    assert all(t.rule[:2] in {"R-", "D-", "H-"} for t in machine.transitions)


@every_machine
def test_what_the_table_lacks_is_refused(name: str) -> None:
    """R-106 to R-115: `next`, `allows` and `sources` say the same of every pair; illegal steps raise."""
    machine, states, events = MACHINES[name]
    table = {(t.source, t.event): t.target for t in machine.transitions}
    for state in states:
        for event in events:
            assert (
                machine.allows(state, event) == ((state, event) in table) == (state in machine.sources(event))
            )
            if (state, event) in table:
                assert machine.next(state, event) is table[state, event]
            else:
                with pytest.raises(IllegalTransition, match=str(event.value)):
                    machine.next(state, event)


def test_the_head_is_left_only_by_an_end() -> None:
    """R-070, R-110, R-111: `PENDING` and `FAILED` occupy the head, and nothing else does."""
    assert set(MessageState) == TERMINAL_STATES | UNFINISHED_STATES
    assert MESSAGE.terminal == TERMINAL_STATES
    for event in (MessageEvent.SUCCEED, MessageEvent.SKIP, MessageEvent.DIE):
        assert MESSAGE.sources(event) == UNFINISHED_STATES
        assert {MESSAGE.next(s, event) for s in UNFINISHED_STATES} <= TERMINAL_STATES


def test_replay_leads_back_to_the_queue() -> None:
    """R-120, D-25: from `FAILED` and `DEAD`; a success or a skip is never replayed."""
    assert MESSAGE.sources(MessageEvent.REPLAY) == {MessageState.FAILED, MessageState.DEAD}


def test_only_deleted_news_is_too_late() -> None:
    """D-06 to D-08, D-33: who may do what to a flight in which life."""
    assert FLIGHT.sources(FlightEvent.COMPLETE) == set(FlightLife)
    assert FLIGHT.sources(FlightEvent.CHANGE) == {FlightLife.ABSENT, FlightLife.ACTIVE}
    assert FLIGHT.sources(FlightEvent.DELETE) == {FlightLife.ACTIVE}
    assert FLIGHT.sources(FlightEvent.ARCHIVE) == {FlightLife.ACTIVE, FlightLife.DELETED}


def test_a_request_is_open_until_it_is_closed() -> None:
    """R-332, R-342: closed requests change no more; an answer goes through `SENT` (D-32)."""
    assert set(RequestState) == OPEN_REQUEST_STATES | REQUEST.terminal
    assert REQUEST.sources(RequestEvent.ANSWER) == {RequestState.SENT}
    assert REQUEST.next(RequestState.PENDING, RequestEvent.LOSE) is RequestState.FAILED
    assert not REQUEST.allows(RequestState.SENT, RequestEvent.LOSE)


def test_a_job_is_open_until_it_has_ended() -> None:
    """D-34: one that runs may be begun again, by the next holder or after an outage; an end is an end."""
    assert set(JobState) == OPEN_JOB_STATES | JOB.terminal
    assert JOB.sources(JobEvent.START) == OPEN_JOB_STATES
    assert JOB.sources(JobEvent.SUCCEED) == JOB.sources(JobEvent.FAIL) == {JobState.RUNNING}


def test_a_written_mark_is_never_owed_again() -> None:
    """R-133, H-25: whatever is replayed, what was written stays written."""
    ends = {t.target for t in WRITEBACK.transitions if t.source is WritebackState.WRITTEN}
    assert ends == {WritebackState.WRITTEN}


def test_a_claim_keeps_a_replay_out() -> None:
    """D-25, R-121: write-back and replay exclude each other."""
    assert not WRITEBACK.allows(WritebackState.CLAIMED, WritebackEvent.REPLAY)


def test_a_failed_message_may_be_replayed_though_nothing_is_owed() -> None:
    """R-120, H-25: replay is legal from `FAILED`, when there is no intent yet."""
    assert WRITEBACK.next(WritebackState.NOT_OWED, WritebackEvent.REPLAY) is WritebackState.NOT_OWED
