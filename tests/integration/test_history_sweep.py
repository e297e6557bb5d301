"""Ended flights leave for the history store, and what consumers see of it (IMP §9.3, D-33, D-37)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from embedded import SimulatedCrash, System, closing_system
from msgx_adapters.history_elasticsearch import ElasticHistory
from msgx_adapters.history_file import FileHistory
from msgx_core.errors import Transient
from msgx_core.model.change import FlightQuery
from msgx_core.model.flight import FlightState
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports import HistoryRecord
from msgx_core.rules.ended import EndedWindows
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import flight_document, is_newer
from services.elastic import elastic
from wire import adft, fdel, flop, fltr, gate, schedule

DAY_S = 86_400
TEN = range(1, 11)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    with closing_system(None, history=FileHistory(tmp_path / "history")) as made:
        yield made


def filled(system: System, *records: str) -> System:
    """The flights are there, their events sent, and four days have gone by."""
    system.send([schedule("DNLD", records or [fltr(n) for n in TEN])])
    system.drain()
    system.clock.advance(4 * DAY_S)
    return system


def flids(system: System) -> list[int]:
    return [state.flid for state in system.store.flights(limit=1000)]


def notices(system: System, flid: int) -> list[dict[str, Any]]:
    system.drain()
    return [v for r in system.bus.of("KAFKA_MSG") if (v := json.loads(r.value))["FLID"] == flid]


def kept(system: System) -> dict[int, HistoryRecord]:
    assert isinstance(system.history, FileHistory)
    return {record.flid: record for record in system.history.read()}


def test_three_that_are_not_confirmed_stay_and_the_next_sweep_takes_them() -> None:
    """R-389, R-390, D-26: rejected, answered unclearly, timed out; each alone, the seven others leave."""
    with elastic() as server:
        history = ElasticHistory.open(server.url, timeout_s=0.4, max_bulk_bytes=1)
        with closing_system(None, history=history) as system:
            filled(system)
            server.items = {3: 400, 5: "missing"}
            server.hangs = {8}
            result = system.pipeline.sweep.run()
            assert (result.ended, result.archived, result.unconfirmed) == (10, 7, 3)
            assert flids(system) == [3, 5, 8]
            assert [v["KIND"] for v in notices(system, 3)] == ["UPSERT"]
            server.items, server.hangs = {}, set()
            assert system.pipeline.sweep.run().archived == 3
            assert flids(system) == []
            assert server.records().keys() == {(n, 1) for n in TEN}
            assert [v["KIND"] for v in notices(system, 8)] == ["UPSERT", "DELETE"]
        history.close()


def test_what_leaves_and_what_stays_of_it(system: System) -> None:
    """R-293, R-398, D-33, D-37: full state in history, tombstone, floor, roster rows, `schd` row, cache
    key."""
    filled(system, fltr(1, REMC="取消"), fltr(2, "18MAR270805"))
    assert system.pipeline.sweep.run().archived == 1
    assert flids(system) == [2]
    record = kept(system)[1]
    assert (record.version, str(record.operation_day)) == (1, "2027-03-14")
    document = json.loads(record.document)
    assert (document["REMC"], document["STATE"], document["ENDED_BY"]) == ("取消", "ACTIVE", "sodt")
    tombstone = notices(system, 1)[-1]
    assert (tombstone["KIND"], tombstone["REASON"], tombstone["STATE_VERSION"]) == ("DELETE", "ARCHIVED", 2)
    assert tombstone["DELETED"] is True
    assert system.store.read(FlightQuery(flids=frozenset({1}))).floors == {1: 2}
    assert [set(roster.flids) for roster in system.store.rosters() if roster.flids] == [{2}]
    assert [row["FLID"] for row in system.store.events(target="KAFKA:schd")] == [2]
    assert (system.cache.get(1), system.cache.get(2) is None) == (None, False)
    assert system.store.cache_pending(10) == {}


def test_without_a_history_store_nothing_is_removed() -> None:
    """R-391: not configured, and no flight leaves however old it is."""
    with closing_system(None) as system:
        filled(system)
        system.clock.advance(900 * DAY_S)
        assert system.pipeline.sweep.run().ended == 0
        assert flids(system) == list(TEN)


def test_an_outage_of_history_removes_nothing(system: System) -> None:
    """R-390, R-395: nothing is known about any record."""
    filled(system)
    assert system.history is not None
    system.history.close()
    with pytest.raises(Transient, match="history"):
        system.pipeline.sweep.run()
    assert flids(system) == list(TEN)


def test_an_archived_flight_that_comes_back_starts_above(system: System) -> None:
    """R-290, D-37, Must hold 3: consumers that hold the old version, or the tombstone's, accept the new
    one."""
    filled(system, fltr(1))
    system.pipeline.sweep.run()
    held = notices(system, 1)[-1]["STATE_VERSION"]
    system.send([flop(1, "GTDT", gate("B1")), adft(fltr(1, "18MAR270805"))])
    system.drain()
    assert list(system.fates().values())[-2:] == [
        ("SKIPPED", None, "flight-archived"),
        ("SUCCEEDED", None, None),
    ]
    back = system.store.flight(1)
    assert back is not None
    assert (back.version, str(back.operation_day)) == (3, "2027-03-18")
    assert is_newer(held, back.version)
    assert notices(system, 1)[-1]["STATE_VERSION"] == 3
    assert '"STATE_VERSION":3' in (system.cache.get(1) or "")
    system.clock.advance(9 * DAY_S)
    system.pipeline.sweep.run()
    assert notices(system, 1)[-1]["STATE_VERSION"] == 4
    assert sorted(r.version for r in FileHistory(_folder(system)).read()) == [1, 3]


def _folder(system: System) -> Path:
    assert isinstance(system.history, FileHistory)
    return system.history._directory


def test_the_main_flight_is_told(system: System) -> None:
    """D-21, D-33, H-62: list, version, both events, cache; its message stays; no cascade either way."""
    main, child, other = fltr(9, "18MAR270805"), fltr(1, MAID="9"), fltr(2, "18MAR270805", MAID="9")
    filled(system, main, child, other)
    before = system.store.flight(9)
    assert before is not None
    result = system.pipeline.sweep.run()
    assert (result.archived, result.notified) == (1, 1)
    after = system.store.flight(9)
    assert after is not None
    assert (after.version, after.last_msg_id) == (before.version + 1, before.last_msg_id)
    assert [c.flid for c in after.mafl] == [2]
    assert notices(system, 9)[-1]["CHANGED"] == ["MAFL"]
    assert json.loads(system.cache.get(9) or "")["MAFL"] == [{"FLID": 2, "FLNO": "QX2"}]
    sent = [
        s for r in system.bus.of("KAFKA_SCHD") for s in json.loads(r.value)["SCHD"]["FLTR"] if s["FLID"] == 9
    ]
    assert sent[-1]["STATE_VERSION"] == after.version


def test_a_deleted_flight_leaves_quietly(system: System) -> None:
    """D-33: two days after its deletion, whatever its plan says; consumers have its tombstone."""
    system.send([schedule("DNLD", [fltr(1, "30MAR270805"), fltr(2, "30MAR270805")]), fdel(1)])
    system.drain()
    system.clock.advance(2 * DAY_S)
    assert system.pipeline.sweep.run().archived == 0
    system.clock.advance(DAY_S)
    assert system.pipeline.sweep.run().archived == 1
    assert [v["KIND"] for v in notices(system, 1)] == ["UPSERT", "DELETE"]
    assert system.store.read(FlightQuery(flids=frozenset({1}))).floors == {1: 3}


def test_flights_of_an_unfinished_message_are_left_alone(system: System) -> None:
    """R-393, D-33: between ① and ③; the message ends, and the next sweep takes its flight."""
    filled(system, fltr(1), fltr(2))
    system.send([flop(1, "GTDT", gate("B1"))])
    with crashing(system, "applied"):
        system.drain()
    system.restart(clean=False)
    system.start()
    assert (system.pipeline.sweep.run().busy, flids(system)) == (1, [1])
    system.drain()
    assert system.pipeline.sweep.run().archived == 1
    assert json.loads(kept(system)[1].document)["GTDT"][0]["GATE"] == "B1"


def test_a_flight_that_changes_while_history_is_written_stays(system: System) -> None:
    """R-398, R-392: the version has moved; what was confirmed is not what is here."""
    filled(system, fltr(1), fltr(2))
    system.on_step = lambda name: _changes(system) if name == "history-written" else None
    result = system.pipeline.sweep.run()
    assert (result.archived, result.kept, flids(system)) == (1, 1, [1])
    system.on_step = lambda name: None
    assert system.pipeline.sweep.run().archived == 1
    assert kept(system)[1].version == 2


def _changes(system: System) -> None:
    system.on_step = lambda name: None
    system.send([flop(1, "GTDT", gate("B2"))])
    system.drain()


def test_a_flight_that_cannot_be_written_down_keeps_no_other(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D-26: a fault of one is counted, and the rest go on."""

    def faulty(state: FlightState, policy: Any) -> dict[str, Any]:
        if state.flid == 4:
            raise KeyError("a fault of ours")
        return flight_document(state, policy)

    filled(system)
    monkeypatch.setattr("msgx_core.pipeline.sweep.flight_document", faulty)
    assert (system.pipeline.sweep.run().unconfirmed, flids(system)) == (1, [4])


def test_pages_and_switches(tmp_path: Path) -> None:
    """R-383: a window that is off; more flights than a page has."""
    windows = EndedWindows(sodt=None)
    config = PipelineConfig(ended=windows)
    with closing_system(None, config=config, history=FileHistory(tmp_path / "h")) as system:
        filled(system, *[fltr(n, **({"NAAT": "14MAR271200"} if n % 2 else {})) for n in range(1, 31)])
        small = evolve(system.pipeline.sweep, page=4)
        assert small.run().archived == 15
        assert flids(system) == list(range(2, 31, 2))


@contextmanager
def crashing(system: System, step: str, nth: int = 1) -> Iterator[None]:
    """The process is gone at that step boundary."""
    system.on_step = crash_at(step, nth)
    with pytest.raises(SimulatedCrash):
        yield
    system.on_step = lambda name: None


def crash_at(step: str, nth: int = 1) -> Callable[[str], None]:
    seen: list[str] = []

    def hook(name: str) -> None:
        seen.append(name)
        if name == step and seen.count(name) == nth:
            raise SimulatedCrash(step)

    return hook


def test_a_flight_touched_without_change_stays_until_its_message_has_ended(tmp_path: Path) -> None:
    """D-33: looked at again under the lock. The version is the same, but a message that named the flight
    meanwhile has not found its end."""
    config = PipelineConfig(policy=Policy(suppress_unchanged=True))
    with closing_system(None, history=FileHistory(tmp_path / "history"), config=config) as system:
        system.send([schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("B1"))])
        system.drain()
        system.clock.advance(4 * DAY_S)

        def stop_after_apply(name: str) -> None:
            if name == Step.APPLIED:
                raise SimulatedCrash(name)

        def meanwhile(name: str) -> None:
            if name == Step.HISTORY_WRITTEN:
                system.on_step = no_step
                system.send([flop(1, "GTDT", gate("B1"))])
                system.pipeline.intake.scan()
                system.on_step = stop_after_apply
                with suppress(SimulatedCrash):
                    system.pipeline.pump.tick()
                system.on_step = no_step

        system.on_step = meanwhile
        result = system.pipeline.sweep.run()
        assert [(s.flid, s.version) for s in system.store.flights(limit=9)] == [(1, 2)]
        assert (result.archived, result.kept) == (0, 1)
        system.drain()
        assert system.pipeline.sweep.run().archived == 1
