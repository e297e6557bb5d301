"""Three layers whose duties do not mix: only the store decides (FST §3.2, §5.6, IMP §11)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

import first_day
from embedded import System, closing_system
from msgx_core.errors import Rejected, Transient
from msgx_core.model.schedule import SnapshotLogRow

Change = Callable[[System, pytest.MonkeyPatch], None]


def outcome(system: System) -> dict[str, Any]:
    """Fates, full states, rosters, events and reference data: everything that was decided."""
    flids = [state.flid for state in system.store.flights(limit=1000)]
    return {
        "fates": system.fates(),
        "flights": {flid: system.document(flid) for flid in flids},
        "rosters": system.store.rosters(),
        "events": {flid: [e["PAYLOAD"] for e in system.store.flight_events(flid)] for flid in flids},
        "reference": {rtype: system.store.references(rtype) for rtype in first_day.REFERENCE},
        "alerts": [(a["CODE"], a.get("MSG_ID")) for a in system.store.alerts()],
    }


def day(prepare: Change, between: Change, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The sample day with something done before it and after each of its messages."""
    with closing_system(None) as system:
        prepare(system, monkeypatch)
        for _, raw in first_day.messages():
            system.send([raw])
            system.drain()
            between(system, monkeypatch)
        return outcome(system)


def nothing(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Undisturbed."""


def no_log(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every write of the schedule log fails."""

    def refused(rows: Sequence[SnapshotLogRow]) -> None:
        raise Rejected("store-rejected:53100", f"no room for message {rows[0].msg_id}")

    monkeypatch.setattr(system.store, "log_snapshots", refused)


def log_is_lost(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """The schedule log is emptied."""
    with system.store.connection.write():
        system.store.connection.run("DELETE FROM SCHD_SNAP_LOG")


def cache_cannot_be_read(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads a flight from the cache gets nothing but an outage."""

    def unreadable(*_: object) -> None:
        raise Transient("cache", "nobody reads here")

    for method in ("get", "day"):
        monkeypatch.setattr(system.cache, method, unreadable)


def cache_is_lost(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache is emptied; nobody is told."""
    system.cache.clear()


def bus_is_emptied(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Consumers have dropped what was sent: the bus is no source either."""
    system.bus.records.clear()


@pytest.mark.parametrize(
    ("prepare", "between"),
    [
        pytest.param(no_log, nothing, id="schedule-log-refuses"),
        pytest.param(nothing, log_is_lost, id="schedule-log-is-lost"),
        pytest.param(cache_cannot_be_read, nothing, id="cache-cannot-be-read"),
        pytest.param(nothing, cache_is_lost, id="cache-is-lost"),
        pytest.param(nothing, bus_is_emptied, id="bus-is-emptied"),
    ],
)
def test_only_the_store_decides(prepare: Change, between: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-016, R-130, R-168, R-376, R-444, R-458, R-467, INV-5: whatever becomes of the schedule log, the
    cache and the bus, the day ends as it does undisturbed."""
    assert day(prepare, between, monkeypatch) == day(nothing, nothing, monkeypatch)


def test_a_lost_log_is_a_metric_and_a_written_one_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """R-130, R-444: the message ends as it would, and no alert is raised."""
    with closing_system(None) as system:
        no_log(system, monkeypatch)
        system.send([raw for _, raw in first_day.messages()])
        system.drain()
        assert system.store.snapshots() == []
        assert [a["CODE"] for a in system.store.alerts()] == [code for code, _ in first_day.ALERTS]
