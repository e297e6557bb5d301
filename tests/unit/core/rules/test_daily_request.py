"""The daily request: when it is due, for which day, and when it is asked for again."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.rules.daily_request import daily_day, last_due
from msgx_core.rules.policy import Policy
from msgx_core.rules.requests import expiry_limit

SHANGHAI, BERLIN = ZoneInfo("Asia/Shanghai"), ZoneInfo("Europe/Berlin")
POLICY = Policy(airport_zone=SHANGHAI, sis_zone=SHANGHAI)
TWO = time(2, 0)
DUE = datetime(2027, 3, 14, 2, 0, tzinfo=SHANGHAI)
NEXT = date(2027, 3, 15)
PAUSE = timedelta(minutes=10)
MINUTE = timedelta(minutes=1)
ASKED = Request(1, RequestSlot.RQFD, RequestState.SENT, DUE, first_day=NEXT, last_day=NEXT, sent_at=DUE)


def ask(*requests: Request, at: datetime = DUE + MINUTE, policy: Policy = POLICY) -> date | None:
    return daily_day(requests, at.astimezone(UTC), TWO, PAUSE, policy)


def closed(state: RequestState, at: datetime) -> Request:
    return evolve(ASKED, state=state, closed_at=at)


def test_the_next_day_is_asked_for_at_its_time() -> None:
    """FST §7.1: local time of the airport; before it, yesterday's question still stands."""
    assert ask(at=DUE) == NEXT
    assert ask(at=DUE - timedelta(seconds=1)) == NEXT - timedelta(days=1)
    assert ask(at=DUE + timedelta(hours=23, minutes=59)) == NEXT


def test_the_day_has_its_cut_over() -> None:
    """D-09: at 02:00 with a cut-over at 04:00 the next operation day begins in two hours."""
    assert ask(policy=evolve(POLICY, day_cutover=time(4, 0))) == NEXT - timedelta(days=1)


def test_once_a_day() -> None:
    """D-32: until it is DONE, whoever asked, and never while a schedule request is open."""
    assert ask(ASKED) is None
    assert ask(closed(RequestState.DONE, DUE + MINUTE)) is None
    wider = evolve(closed(RequestState.DONE, DUE + MINUTE), first_day=NEXT - timedelta(days=3))
    assert ask(wider) is None
    other = evolve(ASKED, first_day=date(2027, 4, 1), last_day=date(2027, 4, 1))
    assert ask(other) is None
    assert ask(evolve(other, state=RequestState.DONE, closed_at=DUE)) == NEXT


def test_an_answer_from_before_does_not_count() -> None:
    """FST §7.1: the day is asked for at its time, however often it was asked for earlier."""
    earlier = evolve(closed(RequestState.DONE, DUE - MINUTE), created_at=DUE - timedelta(hours=1))
    assert ask(earlier) == NEXT


@pytest.mark.parametrize("state", [RequestState.EXPIRED, RequestState.FAILED])
def test_again_after_a_pause(state: RequestState) -> None:
    """D-32: EXPIRED and FAILED do not end it."""
    vain = closed(state, DUE + timedelta(minutes=30))
    assert ask(vain, at=DUE + timedelta(minutes=39)) is None
    assert ask(vain, at=DUE + timedelta(minutes=40)) == NEXT
    assert ask(closed(RequestState.DONE, DUE), vain, at=DUE + timedelta(hours=5)) is None


def test_reference_requests_are_another_slot() -> None:
    """D-32: an open RQRD holds nothing up."""
    assert ask(Request(2, RequestSlot.RQRD, RequestState.SENT, DUE, rtype="GLST")) == NEXT


def test_when_clocks_change() -> None:
    """D-45: a time that is jumped over moves forward; of a repeated one the first counts."""
    spring = datetime(2027, 3, 28, 12, 0, tzinfo=UTC)
    assert last_due(spring, time(2, 30), BERLIN) == datetime(2027, 3, 28, 1, 30, tzinfo=UTC)
    autumn = datetime(2027, 10, 31, 12, 0, tzinfo=UTC)
    assert last_due(autumn, time(2, 30), BERLIN) == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),
    st.times().map(lambda t: t.replace(second=0, microsecond=0)),
    st.sampled_from([SHANGHAI, BERLIN, ZoneInfo("America/New_York")]),
)
def test_the_last_due_time_is_less_than_a_long_day_ago(at: datetime, local: time, zone: ZoneInfo) -> None:
    """FST §7.1: never in the future, so that one that was missed is caught up with after a restart."""
    now = at.replace(tzinfo=UTC)
    due = last_due(now, local, zone)
    assert timedelta(0) <= now - due <= timedelta(hours=25)
    assert last_due(due, local, zone) == due


def test_nothing_expires_over_the_head_of_an_answer() -> None:
    """R-332: what is in the mailbox or waits for its turn may be the answer."""
    half = timedelta(minutes=30)
    assert expiry_limit(DUE, None, half) == DUE - half
    assert expiry_limit(DUE, DUE - MINUTE, half) == DUE - MINUTE - half
    assert expiry_limit(DUE, DUE + MINUTE, half) == DUE - half
