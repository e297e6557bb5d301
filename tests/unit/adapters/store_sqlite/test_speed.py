"""The store keeps up: a whole schedule, and single messages. Bounds are far above what is measured."""

import time

import pytest

from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.model.change import FlightQuery, RosterReplace
from msgx_core.model.flight import FlightState
from msgx_core.testing.builders import DAY, apply, binding, change, enqueue, flight, put

FLIGHTS = 4_000
MESSAGES = 500


@pytest.fixture
def full() -> SqliteStore:
    store = SqliteStore.open(None)
    store.acquire_lease("a", 60.0)
    return store


def _whole(flid: int, version: int) -> FlightState:
    desks = tuple({"CKNO": str(n), "CHKC": f"A{n:02}", "PCOT": "14MAR271000"} for n in range(8))
    main = {"MAID": flid - 1} if flid % 3 == 0 else {}
    return flight(flid, version=version, msg_id=version, fields={"CKDT": desks, "FLNO": f"CA{flid}", **main})


def test_a_schedule_of_4000_flights(full: SqliteStore) -> None:
    flids = frozenset(range(1, FLIGHTS + 1))
    took = []
    for version in (1, 2):
        puts = [put(_whole(flid, version), raw_sections={"SRVT": "<SRVT/>"}) for flid in flids]
        enqueue(full, version)
        start = time.process_time()
        found = full.read(FlightQuery(flids=flids, roster_days=frozenset({DAY})))
        full.apply(change(version, *puts, rosters=(RosterReplace(DAY, version - 1, flids),)))
        full.touched_by(version)
        took.append(time.process_time() - start)
        assert len(found.flights) == (version - 1) * FLIGHTS
    full.close()
    assert max(took) < 2.0


def test_single_messages_among_many_flights(full: SqliteStore) -> None:
    apply(full, 1, *[put(_whole(flid, 1)) for flid in range(1, FLIGHTS + 1)])
    full.finish(1, flight(1).created_at)
    ids = range(2, MESSAGES + 2)
    enqueue(full, *ids)
    start = time.process_time()
    for msg_id in ids:
        full.bind(binding(msg_id, str(msg_id)), flight(1).created_at)
        full.read(FlightQuery(flids=frozenset({msg_id})))
        full.apply(change(msg_id, put(_whole(msg_id, 2))))
        full.touched_by(msg_id)
        full.finish(msg_id, flight(1).created_at)
    assert MESSAGES / (time.process_time() - start) > 100
    full.close()
