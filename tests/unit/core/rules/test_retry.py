"""Attempts and pauses of messages, write-backs, events and outages."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.events import DueEvent, EventStatus, Target
from msgx_core.model.proc import WritebackDue
from msgx_core.rules.retry import RetryPolicy, WritebackPolicy, outage_pause_s, settle_delivery
from tests.unit.core.build import NOW

SECOND = timedelta(seconds=1)
EVENT = DueEvent(7, Target.MSG, 15, 3, "{}", attempts=0)


def test_the_pauses_of_a_message() -> None:
    """`msgx.pipeline.backoff`: 1s 5s 30s 2m 10m 30m 1h; eight attempts."""
    pauses = [RetryPolicy().next_at(n, NOW) - NOW for n in range(1, 9)]
    assert [p.total_seconds() for p in pauses] == [1, 5, 30, 120, 600, 1800, 3600, 3600]
    assert [RetryPolicy().exhausted(n) for n in (0, 7, 8, 9)] == [False, False, True, True]


@pytest.mark.parametrize(
    ("attempts", "steps", "right"), [(8, 7, True), (8, 8, False), (8, 6, False), (1, 0, True)]
)
def test_one_step_fewer_than_attempts(attempts: int, steps: int, right: bool) -> None:
    """R-117: checked at start, with the key in the text."""
    problems = RetryPolicy(attempts, (SECOND,) * steps).problems("msgx.pipeline.backoff")
    assert (problems == ()) is right
    assert all("msgx.pipeline.backoff" in problem for problem in problems)


@given(st.integers(1, 12), st.integers(1, 20))
def test_every_legal_policy_can_schedule_its_failures(max_attempts: int, attempts_made: int) -> None:
    """R-117, D-25: also the one with a single attempt and so no pause; the last step repeats."""
    policy = RetryPolicy(max_attempts, tuple(n * SECOND for n in range(1, max_attempts)))
    assert policy.problems("x") == ()
    assert policy.next_at(attempts_made, NOW) >= NOW


def test_the_pauses_of_a_write_back() -> None:
    """`msgx.pipeline.backfill-backoff`: 5s 30s 2m 10m, the last step repeats for ever."""
    pauses = [WritebackPolicy().next_at(n, NOW) - NOW for n in (1, 2, 3, 4, 5, 1000)]
    assert [p.total_seconds() for p in pauses] == [5, 30, 120, 600, 600, 600]


def test_r_may_not_exceed_the_owners_clean_up() -> None:
    """R-152: equal is legal."""
    week = timedelta(days=7)
    assert WritebackPolicy(overdue=week, inbox_retention=week).problems() == ()
    (problem,) = WritebackPolicy(overdue=week + SECOND, inbox_retention=week).problems()
    assert "msgx.pipeline.overdue-backfill" in problem


def test_a_write_back_is_given_up_only_by_a_try_past_r() -> None:
    """D-38, R-146: never before one try made at or after `R`."""
    row, overdue = WritebackDue(1, 900, NOW, NOW), WritebackPolicy().overdue
    tried = [NOW, NOW + overdue - SECOND, NOW + overdue, NOW + 2 * overdue]
    assert [WritebackPolicy().past_deadline(row, moment) for moment in tried] == [False, False, True, True]


def test_the_number_of_tries_raises_one_alert() -> None:
    """R-151: at `backfill-max-attempts`, once; it stops nothing."""
    assert [n for n in range(1, 100) if WritebackPolicy().alerts_at(n)] == [20]


def test_a_confirmed_event_is_sent() -> None:
    """R-112, D-29: settled for that id and that version."""
    settled = settle_delivery(EVENT, None, RetryPolicy(), NOW)
    assert (settled.status, settled.event_id, settled.version, settled.flid) == (EventStatus.SENT, 7, 3, 15)
    assert (settled.next_attempt_at, settled.code) == (None, None)


@pytest.mark.parametrize("attempts_before", range(7))
def test_a_refused_event_is_tried_again(attempts_before: int) -> None:
    """R-113, D-28: counted, with a pause."""
    due = DueEvent(7, Target.MSG, 15, 3, "{}", attempts_before)
    settled = settle_delivery(due, "refused:x", RetryPolicy(), NOW)
    assert (settled.status, settled.attempts, settled.code) == (
        EventStatus.PENDING,
        attempts_before + 1,
        "refused:x",
    )
    assert settled.next_attempt_at == RetryPolicy().next_at(attempts_before + 1, NOW)


def test_an_exhausted_event_is_dead() -> None:
    """R-114: the eighth refusal; a person decides from there."""
    settled = settle_delivery(DueEvent(7, Target.SCHD, 15, 3, "{}", 7), "refused:x", RetryPolicy(), NOW)
    assert (settled.status, settled.attempts, settled.next_attempt_at) == (EventStatus.DEAD, 8, None)


def test_an_event_too_large_is_dead_at_once() -> None:
    """D-29: it never gets smaller; it is dead-lettered alone."""
    settled = settle_delivery(EVENT, "too-large", RetryPolicy(), NOW)
    assert (settled.status, settled.code) == (EventStatus.DEAD, "too-large")


def test_one_attempt_is_enough_for_an_event() -> None:
    """R-114, R-117: no pause, no retry."""
    assert settle_delivery(EVENT, "refused:x", RetryPolicy(1, ()), NOW).status is EventStatus.DEAD


@given(st.integers(0, 10**6))
def test_an_outage_waits_one_to_thirty_seconds(failures: int) -> None:
    """D-04: growing, never more."""
    assert 1.0 <= outage_pause_s(failures) <= outage_pause_s(failures + 1) <= 30.0
