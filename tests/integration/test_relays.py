"""Relays: order per flight, refusals, dead letters, sizes (IMP §8, D-26 to D-29)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve

from embedded import System, closing_system
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.ports import BusRecord
from msgx_core.ports.operations import Audit
from msgx_core.rules.retry import MESSAGE_BACKOFF
from wire import fdel, flop, fltr, gate, schedule

AUDIT = Audit("test", "looked at it")


@pytest.fixture
def system() -> Iterator[System]:
    with closing_system(None) as made:
        yield made


def values(system: System, topic: str = "KAFKA_MSG") -> list[dict[str, Any]]:
    return [json.loads(record.value) for record in system.bus.of(topic)]


def test_a_refused_notice_is_never_overtaken_by_a_later_one_of_its_flight(system: System) -> None:
    """At most one in flight per flight; others go on (R-350, D-28, D-26)."""
    system.bus.refuse = lambda record: "refused:moody" if record.key == "1" else None
    system.send(
        [schedule("DNLD", [fltr(1), fltr(2)]), flop(1, "GTDT", gate("B1")), flop(2, "GTDT", gate("B2"))]
    )
    system.drain()
    assert [v["FLID"] for v in values(system)] == [2, 2]
    system.bus.refuse = None
    system.drain()
    assert len(values(system)) == 2, "the first notice of flight 1 still waits for its pause"
    system.clock.advance(1)
    system.drain()
    ids = [v["EVENT_ID"] for v in values(system) if v["FLID"] == 1]
    assert len(ids) == 2
    assert ids == sorted(ids)


def test_used_up_attempts_make_a_dead_letter_and_let_the_next_go(system: System) -> None:
    """R-114, R-354, D-28: kept, alerted, requeued by a person."""
    system.bus.refuse = lambda record: "refused:moody" if record.topic == "KAFKA_MSG" else None
    system.send([flop(1, "GTDT", gate("B1"))])
    system.drain()
    for step in MESSAGE_BACKOFF:
        system.clock.advance(step)
        system.drain()
    (dead,) = system.store.events(status="DEAD")
    assert [a["CODE"] for a in system.store.alerts()] == ["DEAD_EVENT"]
    system.bus.refuse = None
    system.send([flop(1, "GTDT", gate("B2"))])
    system.drain()
    assert [v["STATE_VERSION"] for v in values(system)] == [2]
    system.store.requeue_events([dead["EVENT_ID"]], AUDIT, system.clock.now())
    system.drain()
    assert [v["STATE_VERSION"] for v in values(system)] == [2, 1]


def test_a_flight_too_large_for_the_bus_is_dead_alone() -> None:
    """One large flight among small ones harms none of them (D-29, D-26)."""
    with closing_system(None) as system:
        system.bus.max_bytes = 2_000
        system.send([schedule("DNLD", [fltr(1), fltr(2, REMC="首" * 900), fltr(3)])])
        system.drain()
        sent = [f["FLID"] for v in values(system, "KAFKA_SCHD") for f in v["SCHD"]["FLTR"]]
        assert sorted(sent) == [1, 3]
        (dead,) = system.store.events(status="DEAD")
        assert (dead["FLID"], dead["LAST_CODE"]) == (2, "too-large")
        system.send([schedule("DNLD", [fltr(2)])])
        system.drain()
        assert values(system, "KAFKA_SCHD")[-1]["SCHD"]["FLTR"][0]["STATE_VERSION"] == 2
        assert list(system.store.events(status="DEAD")) == [], "a new version brings the row back (R-374)"


def test_full_states_are_packed_by_count_and_size(system: System) -> None:
    """R-365, R-360: whole batches of SCHD.FLTR, never above the bus's limit; newest version only (R-357)."""
    system.bus.max_bytes = 700
    system.send([schedule("DNLD", [fltr(n) for n in range(1, 21)])])
    system.send([flop(7, "GTDT", gate("B1"))])
    system.drain()
    records = system.bus.of("KAFKA_SCHD")
    assert all(len(record.value) <= 700 for record in records)
    assert all(record.key is None for record in records)
    flights = [f for v in values(system, "KAFKA_SCHD") for f in v["SCHD"]["FLTR"]]
    assert sorted(f["FLID"] for f in flights) == list(range(1, 21))
    assert {f["FLID"]: f["STATE_VERSION"] for f in flights}[7] == 2


def test_a_refused_batch_goes_again_flight_by_flight(system: System) -> None:
    """A refusal of several flights says nothing about each (D-26)."""

    def refuse(record: BusRecord) -> str | None:
        return "refused:poison" if b'"FLID":2,' in record.value and record.topic == "KAFKA_SCHD" else None

    system.bus.refuse = refuse
    system.send([schedule("DNLD", [fltr(1), fltr(2), fltr(3)])])
    system.drain()
    sent = [f["FLID"] for v in values(system, "KAFKA_SCHD") for f in v["SCHD"]["FLTR"]]
    assert sorted(sent) == [1, 3]
    (waiting,) = system.store.events(status="PENDING")
    assert (waiting["FLID"], waiting["ATTEMPTS"]) == (2, 1)


def test_one_keyed_record_per_flight_for_a_compacted_topic() -> None:
    """msgx.schd.records-per-message = 1 (D-29)."""
    config = evolve(PipelineConfig(), schd_records_per_message=1)
    with closing_system(None, config=config) as system:
        system.send([schedule("DNLD", [fltr(1), fltr(2)])])
        system.drain()
        assert [r.key for r in system.bus.of("KAFKA_SCHD")] == ["1", "2"]


def test_a_deleted_flight_goes_through_msg_only(system: System) -> None:
    """Tombstone with version and DELETED, never null; its schd row is removed (R-361, R-367, D-06)."""
    system.start()
    system.send([schedule("DNLD", [fltr(1)]), fdel(1)])
    system.drain()
    last = values(system)[-1]
    assert (last["KIND"], last["DELETED"], last["REASON"], last["STATE_VERSION"]) == (
        "DELETE",
        True,
        "FDEL",
        2,
    )
    assert values(system, "KAFKA_SCHD") == []


def test_deletion_and_rebuild_in_one_batch_stay_in_order(system: System) -> None:
    """Consumers see both, versions rising (R-369, D-07)."""
    system.send([schedule("DNLD", [fltr(1)]), fdel(1), schedule("DNLD", [fltr(1)])])
    system.drain()
    assert [(v["KIND"], v["STATE_VERSION"]) for v in values(system)] == [
        ("UPSERT", 1),
        ("DELETE", 2),
        ("UPSERT", 3),
    ]
    assert system.document(1)["STATE_VERSION"] == 3


def test_event_ids_are_consecutive_per_topic(system: System) -> None:
    """R-353, D-27."""
    system.send([schedule("DNLD", [fltr(n) for n in range(1, 6)])])
    system.send([flop(n, "GTDT", gate("B1")) for n in range(1, 6)])
    system.drain()
    assert sorted(v["EVENT_ID"] for v in values(system)) == list(range(1, 11))


def test_times_can_be_iso(system: System) -> None:
    """msgx.events.time-format = iso8601 (D-30)."""
    policy = evolve(system.policy, time_format=type(system.policy.time_format)("iso8601"))
    with closing_system(None, config=evolve(PipelineConfig(), policy=policy)) as iso:
        iso.send([schedule("DNLD", [fltr(1)])])
        iso.drain()
        flight = values(iso, "KAFKA_SCHD")[0]["SCHD"]["FLTR"][0]
        assert flight["SODT"] == "2027-03-14T08:05:00+08:00"
        assert json.loads(iso.cache.get(1) or "") == flight
