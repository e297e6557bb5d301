"""Cache keys that a sweep has left come before the next head, and one bad flight keeps no other (D-33)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from embedded import SimulatedCrash, System, closing_system
from msgx_adapters.history_file import FileHistory
from msgx_core.errors import Fenced, Rejected, Transient
from msgx_core.pipeline.pump import TickKind
from msgx_core.ports.cache import CacheEntry
from wire import adft, fdel, flop, fltr, gate, schedule

DAY_S = 86_400
RECORDS = [
    *[fltr(n) for n in range(1, 8)],
    fltr(20, "30MAR270805"),
    fltr(21, MAID="20"),
    fltr(22, "30MAR270805", MAID="20"),
    fltr(23, "30MAR270805"),
]


def prepared(folder: Path) -> System:
    """Eight ended flights in two pages, one of them a child of a flight that stays, one deleted."""
    system = System(None, history=FileHistory(folder))
    system.send([schedule("DNLD", RECORDS), fdel(23)])
    system.drain()
    system.clock.advance(4 * DAY_S)
    return system


def swept(system: System) -> None:
    evolve(system.pipeline.sweep, page=6).run()


def _killing(at: int) -> Callable[[str], None]:
    seen: list[str] = []

    def hook(name: str) -> None:
        seen.append(name)
        if len(seen) == at + 1:
            raise SimulatedCrash(name)

    return hook


def test_the_next_head_waits_for_the_keys(tmp_path: Path) -> None:
    """D-33: while the cache is down no message is processed; then keys come first."""
    system = prepared(tmp_path)
    system.cache.outage = "down"
    with pytest.raises(Transient, match="cache"):
        swept(system)
    assert set(system.store.cache_pending(99)) >= {1, 2, 3, 4, 5, 6}
    system.send([flop(22, "GTDT", gate("B1"))])
    system.pipeline.intake.scan()
    with pytest.raises(Transient, match="cache"):
        system.pipeline.pump.tick()
    assert list(system.fates().values())[-1][0] == "PENDING"
    system.cache.outage = None
    steps: list[str] = []
    system.on_step = steps.append
    assert system.pipeline.pump.tick().kind is TickKind.DONE
    assert steps[:3] == ["keys-written", "keys-settled", "fetched"]
    assert system.cache.get(1) is None
    system.close()


def test_a_key_of_a_flight_that_came_back_is_its_new_state(tmp_path: Path) -> None:
    """D-31, D-37: settled from what the store has, in any order."""
    system = prepared(tmp_path)
    system.on_step = _killing(2)
    with pytest.raises(SimulatedCrash):
        swept(system)
    system.on_step = lambda name: None
    pending = dict(system.store.cache_pending(99))
    system.pipeline.pump.keys.due = False  # type: ignore[union-attr]
    system.send([adft(fltr(1, "30MAR270805"))])
    system.drain()
    assert system.store.cache_pending(99) == pending, "nobody looked"
    system.restart(clean=False)
    system.drain()
    assert system.store.cache_pending(99) == {}
    assert '"STATE_VERSION":3' in (system.cache.get(1) or "")
    system.close()


def test_a_key_that_the_cache_refuses_keeps_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-26: it stays pending until the next start; messages go on."""
    system = prepared(tmp_path)
    real = system.cache.write

    def refusing(entries: list[CacheEntry]) -> None:
        if any(entry.flid == 3 for entry in entries):
            raise Rejected("cache-rejected")
        real(entries)

    monkeypatch.setattr(system.cache, "write", refusing)
    swept(system)
    assert system.store.cache_pending(99) == {3: 2}
    system.send([flop(22, "GTDT", gate("B1"))])
    system.drain()
    assert list(system.fates().values())[-1][0] == "SUCCEEDED"
    monkeypatch.undo()
    system.restart()
    system.drain()
    assert system.store.cache_pending(99) == {}
    system.close()


def test_a_stale_holder_removes_nothing(tmp_path: Path) -> None:
    """D-34: taken over while history was written; what was written is written again by the new holder."""
    system = prepared(tmp_path)

    def taken_over(name: str) -> None:
        if name == "history-written":
            with system.store.connection.write():
                system.store.connection.run("UPDATE PIPELINE_LOCK SET EPOCH = EPOCH + 1")

    system.on_step = taken_over
    with pytest.raises(Fenced):
        swept(system)
    assert len(system.store.flights(limit=99)) == len(RECORDS)
    system.close()


def test_one_that_the_store_refuses_keeps_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-26: the page is refused, so its flights go one by one."""
    with closing_system(None, history=FileHistory(tmp_path)) as system:
        system.send([schedule("DNLD", RECORDS)])
        system.drain()
        system.clock.advance(4 * DAY_S)
        real = system.store.archive_flights

        def refusing(gone: Any, notified: Any, now: Any) -> None:
            if any(one.flid == 2 for one in gone):
                raise Rejected("store-rejected:x")
            real(gone, notified, now)

        monkeypatch.setattr(system.store, "archive_flights", refusing)
        result = system.pipeline.sweep.run()
        assert (result.archived, result.kept, result.notified) == (7, 1, 1)
        assert [s.flid for s in system.store.flights(limit=99)] == [2, 20, 22, 23]
