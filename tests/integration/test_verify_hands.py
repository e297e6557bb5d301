"""Verification where something was taken, forged or broken by hand, and where that only looks so (D-36)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from damage import DAYS
from embedded import System, closing_system
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_core.pipeline.differences import Difference
from msgx_core.pipeline.retention import RetentionPolicy, RetentionSweep
from msgx_core.pipeline.verify import Window
from msgx_core.ports import Silent
from msgx_core.ports.operations import Audit
from verified import Keeps, run, traffic, verified
from wire import adft, fdel, flop, fltr, gate, schedule

LATE = "20MAR270805"
ONE_DAY = timedelta(days=1)
AGE = 90 * ONE_DAY
WHO = Audit("test", "to see it found")


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    """Each DNLD covers the day of its records."""
    archive = FsspecArchive.in_folder(tmp_path / "archive")
    path = tmp_path / "store.db"
    with closing_system(path, config=DAYS, archive=archive, history=Keeps()) as made:
        yield made
    archive.close()


def sql(system: System, text: str) -> None:
    with system.store.connection.write():
        system.store.connection.run(text)


def told(found: list[Difference]) -> set[tuple[str, str, str]]:
    return {(each.kind, each.key, each.field) for each in found}


def aged(system: System, age: timedelta, events: timedelta | None = None) -> dict[str, int]:
    """Retention of messages and events for real."""
    ages = RetentionPolicy(events=events, processed=age)
    return dict(RetentionSweep(system.store, system.clock, Silent(), system.policy, ages).run())


def missing(system: System, age: timedelta = AGE) -> list[str]:
    """Missing messages that are told, with that retention; nothing else may be told where none is."""
    found = verified(system, kept_since=system.clock.now() - age)[1]
    keys = [each.key for each in found if (each.kind, each.field) == ("message", "MSG_ID")]
    assert keys or found == []
    return keys


@pytest.mark.parametrize("by", ["range", "age"])
def test_a_flight_that_left_and_came_back(system: System, by: str) -> None:
    """D-33, D-37: its life before that began before the range: events of then say nothing, those of now do."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2, LATE)])])
    system.clock.advance(ONE_DAY)
    start = system.clock.now()
    run(system, [flop(1, "GTDT", gate("A1"))])
    if by == "age":
        sql(system, "UPDATE PROC_STATE SET BACKFILL_AT = NULL WHERE APPLY_NO > 1")
        assert aged(system, timedelta(hours=1))["PROC_STATE"] == 1
        system.drain()
    system.clock.advance(2 * ONE_DAY)
    assert system.pipeline.sweep.run().archived == 1
    run(system, [adft(fltr(1, LATE)), flop(1, "GTDT", gate("A2"))], portion=1)
    window = Window(start) if by == "range" else Window()
    report, found = verified(system, window)
    assert (found, report.whole) == ([], False)
    sql(
        system,
        "UPDATE MSG_EVENT SET STATE_VERSION = 99 WHERE TARGET = 'KAFKA:msg' AND EVENT_ID ="
        " (SELECT MAX(EVENT_ID) FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg')",
    )
    assert {each.field for each in verified(system, window)[1]} == {"STATE_VERSION"}


def test_messages_taken_by_a_hand_inside_one_drain(system: System) -> None:
    """D-02, D-27: all are younger than what retention takes, and were settled after all were applied."""
    run(system, traffic(1, 4), portion=9999)
    last = max(row["APPLY_NO"] for row in system.store.stored_applied(0, 2000))
    assert missing(system) == []
    for where, wanted in (
        ("= 20", "APPLY_NO 20"),
        ("BETWEEN 18 AND 25", "APPLY_NO 18-25"),
        (f"= {last}", f"APPLY_NO {last}"),
        ("<= 30", "APPLY_NO 1-30"),
        ("> 0", f"APPLY_NO 1-{last}"),
    ):
        sql(system, f"DELETE FROM PROC_STATE WHERE APPLY_NO {where}")
        assert wanted in missing(system), where


@pytest.mark.parametrize("events", [None, timedelta(days=1)])
def test_messages_taken_by_age(system: System, events: timedelta | None) -> None:
    """IMP §9.3: whatever the age of events; also one that was written back late, and after sweep and recovery."""
    gone = 0
    for day in range(4):
        run(system, traffic(1, 2, seed=40 + day), portion=1)
        run(system, [fdel(900 + day), schedule("DNLD", [fltr(900 + day, LATE)])])
        if day == 1:
            owed = "BACKFILL_AT = NULL, BACKFILL_NEXT_AT = UPDATED_AT"
            sql(system, f"UPDATE PROC_STATE SET {owed} WHERE APPLY_NO % 7 = 0")
        system.clock.advance(ONE_DAY)
        system.pipeline.sweep.run()
        gone += aged(system, 2 * ONE_DAY, events)["PROC_STATE"]
        assert missing(system, 2 * ONE_DAY) == [], day
    system.clock.advance(1)
    system.store.raise_versions(1000, WHO, system.clock.now())
    assert gone > 20
    system.clock.advance(1)
    assert missing(system, 2 * ONE_DAY) == []
    sql(
        system,
        "DELETE FROM PROC_STATE WHERE APPLY_NO = (SELECT MAX(APPLY_NO) - 1 FROM PROC_STATE)",
    )
    assert len(missing(system, 2 * ONE_DAY)) == 1
