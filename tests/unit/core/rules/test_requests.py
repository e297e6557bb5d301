"""Requests and answers: who answers whom, when an answer is ambiguous, what an EROR closes."""

from datetime import date, timedelta

import pytest
from attrs import evolve

from msgx_core.model.message import ErrorAnswer
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.model.schedule import Days, Nothing
from msgx_core.model.sis import CATEGORIES
from msgx_core.rules.requests import (
    ErrorUnmatched,
    ScheduleAnswer,
    closed,
    expired,
    match_error,
    match_reference_answer,
    match_schedule_answer,
    may_replace,
    request_coverage,
)
from msgx_core.states.machine import IllegalTransition
from msgx_core.states.request import RequestEvent
from tests.unit.core.build import DAY, NEXT_DAY, NOW

WINDOW = timedelta(hours=24)
MINUTE = timedelta(minutes=1)
RQFD, RQRD = RequestSlot.RQFD, RequestSlot.RQRD
SENT, PENDING = RequestState.SENT, RequestState.PENDING

OPEN = Request(2, RQFD, SENT, NOW, first_day=NEXT_DAY, last_day=NEXT_DAY, send_started_at=NOW, sent_at=NOW)
OLD = Request(
    1,
    RQFD,
    RequestState.EXPIRED,
    NOW - 2 * MINUTE,
    first_day=DAY,
    last_day=DAY,
    send_started_at=NOW - MINUTE,
    sent_at=NOW - MINUTE,
    closed_at=NOW,
)
GATES = Request(3, RQRD, SENT, NOW, rtype="GLST", sent_at=NOW)


def match(*requests: Request, at: timedelta = MINUTE) -> ScheduleAnswer | None:
    return match_schedule_answer(requests, NOW + at, WINDOW)


def test_an_answer_covers_the_days_of_its_request() -> None:
    """D-11, R-181: the whole days inside the range of the open request, both ends included."""
    assert match(OPEN) == ScheduleAnswer(OPEN, Days(frozenset({NEXT_DAY})))
    assert request_coverage(evolve(OPEN, first_day=DAY)) == Days(frozenset({DAY, NEXT_DAY}))


def test_an_answer_to_nothing_matches_nothing() -> None:
    """D-22, G-RESP-GUARD: no open request; an expired one does not count (R-342)."""
    assert match() is None
    assert match(OLD) is None
    assert match(evolve(OPEN, state=RequestState.DONE)) is None


def test_a_request_that_is_being_answered_takes_no_other_answer() -> None:
    """R-339, D-32: a second one, replayed or committed late while the first is under way, matches none."""
    assert match(evolve(OPEN, resp_msg_id=9)) is None
    assert match_reference_answer([evolve(GATES, resp_msg_id=9)], "GLST") is None


def test_an_answer_may_overtake_our_own_confirmation() -> None:
    """D-32: an answer that comes while the row is `PENDING` is an answer to it."""
    assert match(evolve(OPEN, state=PENDING, sent_at=None)) is not None


def test_an_answer_is_ambiguous_while_another_range_may_still_be_answered() -> None:
    """D-32: it only upserts, and leaves the request open."""
    assert match(OPEN, OLD) == match(OLD, OPEN) == ScheduleAnswer(None, Nothing(), ambiguous=True)


@pytest.mark.parametrize(
    "old",
    [
        evolve(OLD, first_day=NEXT_DAY, last_day=NEXT_DAY),  # the same range: either answer says the same
        evolve(OLD, sent_at=None, send_started_at=None),  # never sent
        evolve(OLD, resp_msg_id=9),  # answered
        evolve(OLD, state=RequestState.DONE),
        evolve(OLD, state=RequestState.FAILED),  # refused or lost: no answer will come
        evolve(OLD, closed_at=NOW + MINUTE - WINDOW),  # the window is over at its end
    ],
)
def test_what_makes_no_answer_ambiguous(old: Request) -> None:
    """D-32: another range, sent, expired unanswered, less than the window ago; all of these."""
    assert match(OPEN, old) == ScheduleAnswer(OPEN, Days(frozenset({NEXT_DAY})))


@pytest.mark.parametrize(("first", "last"), [(DAY, NEXT_DAY), (NEXT_DAY, NEXT_DAY + timedelta(days=1))])
def test_an_overlapping_range_is_another_range(first: date, last: date) -> None:
    """D-32: any difference of the range counts."""
    found = match(OPEN, evolve(OLD, first_day=first, last_day=last), at=WINDOW - MINUTE)
    assert found is not None
    assert found.ambiguous


def test_a_request_that_may_have_been_sent_is_taken_as_sent() -> None:
    """D-32: replaced between `SEND_STARTED_AT` and `SENT` it may be in `COUTMSGS`: its answer may come.

    A wrong match would delete the whole new day when that answer is empty (D-12); the other way heals.
    """
    maybe = evolve(OLD, sent_at=None, reason="replaced")
    found = match(OPEN, maybe)
    assert found is not None
    assert found.ambiguous


def test_a_request_without_days_has_no_coverage() -> None:
    """D-11: a broken row is an error, not a guess."""
    with pytest.raises(ValueError, match="names no days"):
        request_coverage(GATES)


@pytest.mark.parametrize("rtype", [*CATEGORIES, "RSTA"])
def test_reference_answers_match_by_type(rtype: str) -> None:
    """R-339, R-412, R-419: the answer's `TYPE` against the category asked for, open requests only."""
    asked = evolve(GATES, rtype=rtype)
    assert match_reference_answer([asked], rtype) == asked
    assert match_reference_answer([asked], "OTHER") is None
    assert match_reference_answer([evolve(asked, state=RequestState.EXPIRED)], rtype) is None


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        (ErrorAnswer(in_type="RQFD"), OPEN),
        (ErrorAnswer(in_type="SCHD", in_styp="RESP"), OPEN),
        (ErrorAnswer(in_type="RQRD", in_styp="GLST"), GATES),
        (ErrorAnswer(in_type="GLST"), GATES),
        (ErrorAnswer(in_styp="RSTA"), GATES),
    ],
)
def test_an_error_closes_the_slot_it_names(answer: ErrorAnswer, named: Request) -> None:
    """D-32, R-338: whichever else is open; nothing when that slot is free."""
    assert match_error([GATES, OPEN], answer) == named
    other = GATES if named is OPEN else OPEN
    assert match_error([other], answer) is ErrorUnmatched.NO_OPEN_REQUEST


@pytest.mark.parametrize(
    "answer", [None, ErrorAnswer(), ErrorAnswer("E1", "no"), ErrorAnswer(in_type="FLOP")]
)
def test_an_error_that_names_none_closes_the_only_one(answer: ErrorAnswer | None) -> None:
    """D-32: two open and none named: neither; none open: none."""
    assert match_error([OPEN], answer) == OPEN
    assert match_error([GATES, evolve(OPEN, state=RequestState.EXPIRED)], answer) == GATES
    assert match_error([OPEN, GATES], answer) is ErrorUnmatched.AMBIGUOUS
    assert match_error([], answer) is ErrorUnmatched.NO_OPEN_REQUEST
    assert [e.value for e in ErrorUnmatched] == ["no-open-request", "ambiguous-error"]


def test_a_sent_request_expires_unless_it_is_bound() -> None:
    """D-32, `msgx.requests.timeout`: at the timeout; a bound, pending or closed one does not."""
    timeout = timedelta(minutes=30)
    assert not expired(OPEN, NOW + timeout - MINUTE, timeout)
    assert expired(OPEN, NOW + timeout, timeout)
    for other in (evolve(OPEN, resp_msg_id=9), evolve(OPEN, state=PENDING, sent_at=None), OLD):
        assert not expired(other, NOW + timeout, timeout)


def test_a_new_request_waits_while_the_old_one_is_being_answered() -> None:
    """D-32, R-334: a free slot or an unbound request may be replaced."""
    assert may_replace(None)
    assert may_replace(OPEN)
    assert not may_replace(evolve(OPEN, resp_msg_id=9))


def test_closing_follows_the_table() -> None:
    """R-332, R-334: legal steps set time and reason, others raise."""
    replaced = closed(evolve(OPEN, state=PENDING), RequestEvent.REPLACE, NOW, "replaced")
    assert (replaced.state, replaced.closed_at, replaced.reason) == (RequestState.EXPIRED, NOW, "replaced")
    assert closed(OPEN, RequestEvent.ANSWER, NOW).state is RequestState.DONE
    with pytest.raises(IllegalTransition):
        closed(OLD, RequestEvent.ANSWER, NOW)
