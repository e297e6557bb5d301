"""Ages become limits, batches follow one another, history has its own retention (IMP §9.3, FST §8.3)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve

from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.pipeline.retention import RetentionPolicy, RetentionSweep
from msgx_core.ports import RetentionCutoffs, Silent
from msgx_core.rules.policy import Policy
from msgx_core.testing.builders import AUDIT, NOW, close, dead, skipped
from msgx_core.testing.clock import ManualClock

DAY = timedelta(days=1)
NONE = RetentionPolicy(None, None, None, None)


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    made = SqliteStore.open(None)
    assert made.acquire_lease("test", 600.0).granted
    yield made
    made.connection.close()


@pytest.fixture
def sweep(store: SqliteStore) -> RetentionSweep:
    """A day after `NOW`; final messages leave after an hour."""
    ages = evolve(NONE, processed=timedelta(hours=1))
    return RetentionSweep(store, ManualClock(NOW + DAY), Silent(), Policy(), ages, batch=3)


def test_ages_become_limits() -> None:
    """R-401 to R-409: the ledger counts airport days, what is off has no limit."""
    policy = Policy(airport_zone=ZoneInfo("Asia/Shanghai"), day_cutover=time(4))
    now = datetime(2027, 3, 14, 19, 59, tzinfo=UTC)  # 03:59 on the 15th, which has not begun
    ages = evolve(NONE, events=7 * DAY, ledger=7 * DAY)
    assert ages.cutoffs(now, policy) == RetentionCutoffs(
        events=now - 7 * DAY, ledger=date(2027, 3, 7), late_since=now - DAY
    )


def test_requests_stay_while_they_may_be_answered_late() -> None:
    """D-32: whatever their age says."""
    ages = evolve(NONE, requests=timedelta(hours=1))
    assert ages.cutoffs(NOW, Policy()).requests == NOW - DAY


def test_batches_follow_one_another(store: SqliteStore, sweep: RetentionSweep) -> None:
    """R-405: until nothing is left to go; asked to stop, between two of them."""
    close(store, skipped(), *range(1, 8))
    store.writebacks_done(list(range(1, 8)), NOW)
    assert sweep.preview() == {"PROC_STATE": {"go": 7}}
    told: list[int] = []
    stops = iter([False, True])
    sweep.run(lambda: next(stops), lambda removed: told.append(removed["PROC_STATE"]))
    assert told == [3]
    assert sweep.run() == {"PROC_STATE": 4}


def test_a_replay_between_two_batches_wins(store: SqliteStore, sweep: RetentionSweep) -> None:
    """R-405: an operator's replay of an old dead letter keeps its row, and the message runs."""
    close(store, dead(), *range(1, 6))
    store.writebacks_done(list(range(1, 6)), NOW)

    def replay(name: str) -> None:
        store.replay([5], [], AUDIT, NOW + DAY)

    assert evolve(sweep, on_step=replay).run() == {"PROC_STATE": 4}
    assert store.counts().messages == {"PENDING": 1}


class History:
    """Counts what it is told to remove."""

    def __init__(self) -> None:
        self.cutoffs: list[datetime] = []

    def remove_before(self, cutoff: datetime) -> int:
        self.cutoffs.append(cutoff)
        return 9


@pytest.mark.parametrize(("age", "removed"), [(None, {}), (30 * DAY, {"HISTORY": 9})])
def test_the_history_store_has_a_retention_of_its_own(
    store: SqliteStore, sweep: RetentionSweep, age: timedelta | None, removed: dict[str, int]
) -> None:
    """R-399: off by default."""
    history: Any = History()
    run = evolve(sweep, ages=evolve(NONE, history=age), history=history)
    assert run.run() == removed
    assert history.cutoffs == ([] if age is None else [NOW + DAY - age])
