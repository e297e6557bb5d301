"""Empty and huge states over HTTP: nothing is an empty list, and thousands come page by page."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from http_room import Room, http_room, settings_of
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.flight import Fields, FlightState, FlightStatus
from msgx_core.model.proc import MessageState, NewMessage, Outcome
from msgx_core.testing.builders import apply_states

LISTS = (
    "messages flights resources snapshots rosters writeback outbox alerts audit requests jobs reference/ARPT"
).split()
MANY = 3_000


@pytest.fixture(scope="module")
def empty() -> Iterator[Room]:
    with http_room(settings_of(), active=False) as room:
        yield room


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Thousands of messages, flights, events and alerts, without a daemon."""
    with http_room(settings_of(tmp_path_factory.mktemp("huge")), active=False) as room:
        store, now = room.store, room.daemon.container.clock.now()
        assert store.acquire_lease("test", 600.0).granted
        fields: Fields = {"GTDT": tuple({"GATE": f"G{n}"} for n in range(9)), "FLNO": "QX1"}
        states = [
            FlightState(flid, FlightStatus.ACTIVE, 1, now.date(), fields, 1, now, now)
            for flid in range(1, MANY + 1)
        ]
        apply_states(store, 1, states)
        store.enqueue([NewMessage(n, None) for n in range(2, MANY + 1)], now - timedelta(hours=1))
        for n in range(2, 502):
            alert = Alert(AlertCode.EXHAUSTED, n, detail="x" * 500)
            store.close_unapplied(n, Outcome(MessageState.DEAD, "EXHAUSTED", "raw-unreadable"), [alert], now)
        store.release_lease()
        yield room


@pytest.mark.parametrize("name", LISTS)
def test_nothing_is_an_empty_list(empty: Room, name: str) -> None:
    """And no page behind it."""
    answer = empty.get(f"/api/v1/{name}")
    assert (answer.status_code, answer.json()) == (200, [])
    assert "link" not in answer.headers


def test_the_status_of_nothing(empty: Room) -> None:
    """Zeros and no head."""
    found = empty.json("/api/v1/status")
    assert found["MESSAGES"] == found["FLIGHTS"] == {}
    assert "HEAD" not in found
    assert found["LEASE"]["HELD"] is False


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("messages?", MANY),
        ("messages?state=DEAD&", 500),
        ("flights?", MANY),
        ("outbox?", 2 * MANY),
        ("alerts?", 500),
    ],
)
def test_thousands_come_page_by_page(huge: Room, path: str, count: int) -> None:
    """Each page in time, each item once."""
    seen: set[str] = set()
    answer = huge.get(f"/api/v1/{path}limit=1000")
    while True:
        rows = answer.json()
        assert len(rows) <= 1000
        seen |= {f"{row.get('TARGET')} {row.get('EVENT_ID', next(iter(row.values())))}" for row in rows}
        assert answer.elapsed.total_seconds() < 15
        if "next" not in answer.links:
            break
        answer = huge.get(answer.links["next"]["url"])
    assert len(seen) == count


def test_metrics_and_status_of_thousands(huge: Room) -> None:
    """Counted in the store, not fetched."""
    assert f'msgx_flights{{state="ACTIVE"}} {float(MANY)}' in huge.get("/metrics").text
    assert huge.json("/api/v1/status")["ALERTS"]["OPEN"] == 500
