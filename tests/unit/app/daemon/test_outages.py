"""An outage is over when every loop that met it has got through; one alert each (D-04)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from msgx_adapters.store_sqlite import SqliteStore
from msgx_app.daemon.outages import SharedOutages
from msgx_core.errors import Transient
from msgx_core.pipeline.outages import OutageWatch
from msgx_core.ports import Silent
from msgx_core.testing.clock import ManualClock


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    opened = SqliteStore.open(None)
    yield opened
    opened.close()


@pytest.fixture
def recovered() -> list[str]:
    return []


@pytest.fixture
def outages(store: SqliteStore, recovered: list[str]) -> SharedOutages:
    return SharedOutages(OutageWatch(store, ManualClock(), Silent()), lambda: recovered.append("now"))


def alerts(store: SqliteStore) -> list[str]:
    return [str(row["DETAIL"]) for row in store.alerts()]


def test_one_alert_however_many_loops_meet_it(outages: SharedOutages, store: SqliteStore) -> None:
    for loop in ("poller", "pump", "write-back", "poller"):
        outages.failed(loop, Transient("mailbox", "cable out"))
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


def test_store_outage_is_told_when_it_is_over(outages: SharedOutages, store: SqliteStore) -> None:
    outages.failed("pump", Transient("store", "disk full"))
    assert alerts(store) == []
    outages.succeeded("pump")
    assert len(alerts(store)) == 1
    assert "store did not answer from" in alerts(store)[0]


def test_a_new_outage_is_a_new_alert(outages: SharedOutages, store: SqliteStore) -> None:
    for _ in range(2):
        outages.failed("relay-msg", Transient("bus", "down"))
        outages.succeeded("relay-msg")
    assert len(alerts(store)) == 2
