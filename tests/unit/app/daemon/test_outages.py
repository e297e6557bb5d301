"""An outage is over when every loop that met it has got through; one alert each (D-04)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from msgx_adapters.store_sqlite import SqliteStore
from msgx_app.daemon.outages import SharedOutages
from msgx_core.errors import Transient
from msgx_core.model.outage import Outage
from msgx_core.pipeline.outages import OutageWatch
from msgx_core.ports import Silent
from msgx_core.testing.clock import ManualClock


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore.open(None)
    opened.acquire_lease("test", 60.0)
    yield opened
    opened.close()


@pytest.fixture
def recovered() -> list[str]:
    return []


@pytest.fixture
def outages(store: SqliteStore, recovered: list[str]) -> SharedOutages:
    return shared(store, lambda: recovered.append("now"))


def shared(store: SqliteStore, on_recovery: Callable[[], None] = lambda: None) -> SharedOutages:
    """For a pump that needs the cache, and a relay that needs the bus."""
    needs = {"cache": frozenset({"pump", "jobs"}), "bus": frozenset({"relay-msg"})}
    return SharedOutages(OutageWatch(store, ManualClock(), Silent()), on_recovery, needs=needs)


def alerts(store: SqliteStore) -> list[str]:
    return [str(row["DETAIL"]) for row in store.alerts()]


def on(store: SqliteStore) -> set[str]:
    return {outage.service for outage in store.outages() if outage.ended_at is None}


def test_one_alert_however_many_loops_meet_it(outages: SharedOutages, store: SqliteStore) -> None:
    for loop in ("poller", "pump", "write-back", "poller"):
        outages.failed(loop, Transient("mailbox", "cable out"))
        outages.tell()
    assert alerts(store) == ["mailbox does not answer: cable out"]
    assert [(o.service, o.failures) for o in outages.current()] == [("mailbox", 4)]


def test_another_loops_success_does_not_end_it(outages: SharedOutages, recovered: list[str]) -> None:
    """A cache that answers reads and refuses writes is one outage, not one every five seconds."""
    outages.failed("pump", Transient("cache", "READONLY"))
    for _ in range(3):
        outages.succeeded("jobs")
        outages.failed("pump", Transient("cache", "READONLY"))
    assert [o.failures for o in outages.current()] == [4]
    assert not recovered
    outages.succeeded("pump")
    assert not outages.current()
    assert recovered == ["now"]


def test_over_when_the_last_one_got_through(outages: SharedOutages, recovered: list[str]) -> None:
    outages.failed("pump", Transient("mailbox", "gone"))
    outages.failed("poller", Transient("mailbox", "gone"))
    outages.succeeded("pump")
    assert outages.current()
    outages.succeeded("poller")
    assert not outages.current()
    assert recovered == ["now"]


def test_who_is_held_up_elsewhere_does_not_keep_the_stores_outage_on(
    outages: SharedOutages, store: SqliteStore
) -> None:
    """A pump that waits for the mailbox says nothing of the store; the loop that renews the lease does."""
    outages.failed("pump", Transient("store", "timeout"))
    outages.failed("lease", Transient("store", "timeout"))
    outages.failed("pump", Transient("mailbox", "gone"))
    assert {outage.service for outage in outages.current()} == {"store", "mailbox"}
    outages.succeeded("lease")
    outages.tell()
    assert {outage.service for outage in outages.current()} == {"mailbox"}
    assert on(store) == {"mailbox"}


def test_store_outage_is_told_when_it_is_over(outages: SharedOutages, store: SqliteStore) -> None:
    outages.failed("pump", Transient("store", "disk full"))
    outages.succeeded("pump")
    outages.tell()
    assert len(alerts(store)) == 1
    assert "store did not answer from" in alerts(store)[0]
    assert not on(store)


def test_a_new_outage_is_a_new_alert(outages: SharedOutages, store: SqliteStore) -> None:
    for _ in range(2):
        outages.failed("relay-msg", Transient("bus", "down"))
        outages.tell()
        assert on(store) == {"bus"}
        outages.succeeded("relay-msg")
        outages.tell()
        assert not on(store)
    assert len(alerts(store)) == 2
    assert all(row["ENDED_AT"] for row in store.alerts())


def test_one_that_is_over_before_it_is_told_is_told_whole(outages: SharedOutages, store: SqliteStore) -> None:
    outages.failed("relay-msg", Transient("bus", "down"))
    outages.succeeded("relay-msg")
    outages.tell()
    (alert,) = store.alerts()
    assert "bus did not answer from" in str(alert["DETAIL"])
    assert "ENDED_AT" in alert


def test_what_the_holder_before_left_is_gone_on_with(outages: SharedOutages, store: SqliteStore) -> None:
    """D-34: met again, it is the same outage: one row, one alert, which gets the end."""
    outages.failed("pump", Transient("cache", "READONLY"))
    outages.tell()
    store.acquire_lease("test", 60.0)
    next_one = shared(store)
    next_one.tell()
    next_one.failed("pump", Transient("cache", "READONLY"))
    next_one.tell()
    assert {outage.epoch for outage in store.outages()} == {store.lease().epoch}
    assert len(alerts(store)) == 1
    next_one.succeeded("pump")
    next_one.tell()
    assert not on(store)
    assert "ENDED_AT" in store.alerts()[0]


def test_what_is_met_before_it_was_looked_for_is_gone_on_with_too(
    outages: SharedOutages, store: SqliteStore
) -> None:
    outages.failed("pump", Transient("cache", "READONLY"))
    outages.failed("relay-msg", Transient("bus", "down"))
    outages.tell()
    store.acquire_lease("test", 60.0)
    next_one = shared(store)
    next_one.failed("pump", Transient("cache", "READONLY"))
    next_one.failed("relay-msg", Transient("bus", "down"))
    next_one.succeeded("relay-msg")
    next_one.tell()
    assert on(store) == {"cache"}
    assert len(alerts(store)) == 2


def test_what_the_holder_before_left_ends_when_all_that_need_it_got_through(
    outages: SharedOutages, store: SqliteStore
) -> None:
    """What it had held up is the first thing that they do; other loops prove nothing."""
    outages.failed("pump", Transient("cache", "READONLY"))
    outages.tell()
    store.acquire_lease("test", 60.0)
    next_one = shared(store)
    for loop in ("pump", "lease", "relay-msg"):
        next_one.succeeded(loop)
        next_one.tell()
        assert on(store) == {"cache"}
    next_one.succeeded("jobs")
    next_one.tell()
    assert not on(store)
    assert len(alerts(store)) == 1


def test_nobody_waits_for_the_telling(outages: SharedOutages, store: SqliteStore) -> None:
    """D-04: a store that does not answer keeps one loop, not those that only report."""
    entered, release = threading.Event(), threading.Event()

    class Slow(OutageWatch):
        def _write(self, outage: Outage) -> None:
            entered.set()
            release.wait(10)

    slow = SharedOutages(Slow(store, ManualClock(), Silent()))
    slow.failed("pump", Transient("cache", "gone"))
    teller = threading.Thread(target=slow.tell)
    teller.start()
    assert entered.wait(5)
    started = time.monotonic()
    slow.failed("relay-msg", Transient("bus", "gone"))
    slow.succeeded("pump")
    assert time.monotonic() - started < 1
    assert [outage.service for outage in slow.current()] == ["bus"]
    release.set()
    teller.join(5)
