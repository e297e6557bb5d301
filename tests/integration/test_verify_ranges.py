"""Verification of less than everything: ranges, rows that age has taken, texts that are lost (D-36)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve

from embedded import System
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.pipeline.differences import Difference
from msgx_core.pipeline.recompute import Policies
from msgx_core.pipeline.verify import Report, Verifier, Window
from msgx_core.ports.inspection import GENERATIONS, MEMBERS, Table
from msgx_core.ports.operations import Audit
from msgx_core.ports.store_later import RetentionCutoffs
from verified import archived, days_system, run, sql, told, verified
from wire import adft, fdel, flop, fltr, gate, reference, schedule

LATE = "20MAR270805"
ONE_DAY = timedelta(days=1)
WHO = Audit("test", "to see it found")


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    with days_system(tmp_path) as made:
        yield made


def test_a_range_in_which_nothing_was_applied(system: System) -> None:
    """D-36: a roster with a generation began before it: left out and counted, no difference."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2)]), reference("GLST", "DNLD", ["<GCOD>A1</GCOD>"])])
    later = system.clock.now() + ONE_DAY
    for window in (Window(later), Window(later, later + ONE_DAY), Window(None, later - 9 * ONE_DAY)):
        report, found = verified(system, window)
        assert (found, report.messages, report.flights, report.whole) == ([], 0, 0, False)
        assert (report.rosters, report.references) == (0, 0)
        assert report.left_out == 3


def test_a_store_whose_messages_age_has_taken(system: System) -> None:
    """IMP §9.3, D-36: all of `PROC_STATE`, or all but the last: nothing is known of what was before."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2)]), fdel(2)], portion=1)
    forget(system)
    report, found = verified(system)
    assert (found, report.messages, report.left_out, report.whole) == ([], 0, 2, False)
    run(system, [flop(1, "GTDT", gate("A1")), schedule("DNLD", [fltr(1), fltr(3)]), fdel(1)], portion=1)
    report, found = verified(system)
    assert (found, report.messages, report.flights) == ([], 3, 1)
    sql(system, "UPDATE FLIGHT_SCHD SET STATE_VERSION = 9 WHERE FLID = 3")
    assert told(verified(system)[1]) == {("flight", "3", "STATE_VERSION")}


def forget(system: System) -> None:
    """Age takes all messages that are written back."""
    system.clock.advance(ONE_DAY)
    cutoffs = RetentionCutoffs(processed=system.clock.now())
    assert system.store.remove_expired(cutoffs, 1000)["PROC_STATE"] > 0


def test_messages_that_age_has_taken_from_the_middle(system: System) -> None:
    """IMP §9.3: one that was never written back stays; what it did is not the beginning of everything."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2)])])
    sql(system, "UPDATE PROC_STATE SET BACKFILL_AT = NULL")
    run(system, [schedule("DNLD", [fltr(1), fltr(2), fltr(3)]), flop(2, "GTDT", gate("A1"))])
    # The pump would write it back in the meantime.
    sql(system, "UPDATE PROC_STATE SET BACKFILL_AT = NULL WHERE APPLY_NO = 1")
    forget(system)
    run(system, [flop(1, "GTDT", gate("A2")), adft(fltr(4)), flop(4, "GTDT", gate("A2"))], portion=1)
    report, found = verified(system)
    assert (found, report.whole, report.flights) == ([], False, 1)


def test_a_message_that_a_hand_has_taken(system: System) -> None:
    """D-02: nothing goes by age before what was settled earlier; its number is told."""
    run(system, [schedule("DNLD", [fltr(n)]) for n in (1, 2, 3, 4)], portion=1)
    sql(system, "DELETE FROM PROC_STATE WHERE APPLY_NO IN (3)")
    assert told(verified(system)[1]) == {("message", "APPLY_NO 3", "MSG_ID")}
    sql(system, "DELETE FROM PROC_STATE WHERE APPLY_NO = 4")
    assert told(verified(system)[1]) == {("message", "APPLY_NO 3-4", "MSG_ID")}


def test_what_went_on_after_the_range(system: System) -> None:
    """D-36: rosters covered again, records removed, flights archived, floors, senders: left out."""
    refs = reference("GLST", "DNLD", ["<GCOD>A1</GCOD>", "<GCOD>A2</GCOD>"])
    run(
        system, [schedule("DNLD", [fltr(1), fltr(2)]), schedule("DNLD", [fltr(3, LATE), fltr(4, LATE)]), refs]
    )
    system.clock.advance(ONE_DAY)
    end = system.clock.now()
    run(
        system,
        [
            schedule("DNLD", [fltr(3, LATE)]),
            schedule("DNLD", [fltr(1), fltr(2), fltr(5)]),
            reference("GLST", "DEL", ["<GCOD>A1</GCOD>"]),
            reference("GLST", "ADD", ["<GCOD>A3</GCOD>"]),
        ],
    )
    system.clock.advance(3 * ONE_DAY)
    assert system.pipeline.sweep.run().archived >= 3
    report, found = verified(system, Window(None, end))
    assert (found, report.messages) == ([], 3)
    assert verified(system)[1] == []
    assert verified(system, Window(end))[1] == []


class Moving:
    """A store in which something happens just before a table is read."""

    def __init__(self, store: SqliteStore, table: Table, happens: Callable[[], object]) -> None:
        self._store, self._table, self._happens = store, table, happens

    def stored(self, table: Table) -> Any:
        if table is self._table:
            self._happens()
        return self._store.stored(table)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def moved(system: System, table: Table, happens: Callable[[], object]) -> tuple[Report, list[Difference]]:
    return verified(system, store=Moving(system.store, table, happens))


@pytest.mark.parametrize("table", [GENERATIONS, MEMBERS])
def test_beside_a_pump_and_a_sweep(system: System, table: Table) -> None:
    """D-33, D-36: what is applied, and what leaves, while it runs is left out."""
    refs = [f"<GCOD>A{n}</GCOD>" for n in range(3)]
    first = [fltr(1), fltr(2, MAID="1"), fltr(3)]
    run(system, [schedule("DNLD", first), schedule("DNLD", [fltr(6, LATE)]), reference("GLST", "DNLD", refs)])

    def goes_on() -> None:
        run(system, [schedule("DNLD", [fltr(6, LATE), fltr(7, LATE)]), reference("GLST", "DEL", refs[:1])])
        system.clock.advance(3 * ONE_DAY)
        assert system.pipeline.sweep.run().archived >= 2

    report, found = moved(system, table, goes_on)
    assert found == []
    assert report.messages == 3
    assert verified(system)[1] == []


def test_a_sweep_that_takes_flights_before_they_are_read(system: System) -> None:
    """D-33: they are in no store any more, and their main flight has stepped."""
    sodt = {1: LATE, 2: "14MAR270805", 3: "14MAR270805"}
    run(system, [adft(fltr(1, sodt[1])), adft(fltr(2, sodt[2], MAID="1")), adft(fltr(3, sodt[3]))])
    found: list[Difference] = []

    def leave(done: int) -> None:
        system.clock.advance(3 * ONE_DAY)
        assert system.pipeline.sweep.run().archived == 2

    assert system.archive is not None
    policies = Policies.kept_in(system.store, system.policy, ZoneInfo)
    steps = tuple(system.archive.steps())
    verifier = Verifier(
        system.store, archived(system), system.codec, policies, found.append, leave, lambda: steps
    )
    report = verifier.run()
    assert (found, report.flights, report.left_out) == ([], 0, 3)


def test_a_store_restored_from_a_backup(system: System, tmp_path: Path) -> None:
    """D-31, D-36: sweeps after the backup are in the archive, and have not happened in this store."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2)]), schedule("DNLD", [fltr(3, LATE)])])
    copy = tmp_path / "backup.db"
    system.store.connection.run("VACUUM INTO :copy", {"copy": str(copy)})
    system.clock.advance(3 * ONE_DAY)
    assert system.pipeline.sweep.run().archived == 2
    run(system, [adft(fltr(1)), flop(3, "GTDT", gate("A1"))])
    system.store.close()
    assert system.store_path is not None
    for name in ("store.db-wal", "store.db-shm"):
        (tmp_path / name).unlink(missing_ok=True)
    shutil.copy(copy, system.store_path)
    system.store = SqliteStore.open(system.store_path)
    system.restart(clean=False)
    assert verified(system)[1] == []
    run(system, [flop(1, "GTDT", gate("B1"))])
    system.store.raise_versions(1000, WHO, system.clock.now())
    assert verified(system)[1] == []
    system.clock.advance(3 * ONE_DAY)
    assert system.pipeline.sweep.run().archived == 2
    assert verified(system)[1] == []


def test_settings_of_another_time(system: System, tmp_path: Path) -> None:
    """D-36: a range that begins after a change of settings knows those before too."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2)])])
    system.config = evolve(system.config, policy=evolve(system.policy, suppress_unchanged=True))
    system.restart()
    begin: datetime = system.clock.now()
    run(system, [schedule("DNLD", [fltr(1)]), schedule("DNLD", [fltr(1)])])
    for window in (Window(), Window(begin)):
        report, found = verified(system, window)
        assert (found, report.policies_assumed) == ([], 0)
