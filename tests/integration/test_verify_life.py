"""Verification and explanation after everything that people and age do to a store (D-31 to D-37)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from damage import WHO
from embedded import System
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.proc import AbandonReason
from msgx_core.pipeline.retention import RetentionPolicy, RetentionSweep
from msgx_core.ports import Silent
from msgx_core.ports.bus import BusRecord
from verified import days_system, run, traffic, verified
from wire import fdel, flop, fltr, gate, schedule

LATE = "20MAR270805"
ONE_DAY = timedelta(days=1)


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    with days_system(tmp_path) as made:
        yield made


def aged(system: System, age: timedelta) -> dict[str, int]:
    """Retention of all objects for real."""
    ages = RetentionPolicy(events=age, processed=age, snapshot_log=age, requests=age, ledger=age)
    sweep = RetentionSweep(system.store, system.clock, Silent(), system.policy, ages)
    return dict(sweep.run())


def test_retention_day_by_day(system: System) -> None:
    """IMP §9.3, D-36: messages, events, ledger and log go while others come; never a difference."""
    removed: dict[str, int] = {}
    for day in range(4):
        plan = traffic(1, 12, seed=20 + day, faults=0.05)
        system.clock.advance(ONE_DAY)
        run(system, plan, portion=25)
        run(system, [fdel(900 + day), schedule("DNLD", [fltr(900 + day, LATE)])])
        system.pipeline.sweep.run()
        for name, n in aged(system, timedelta(hours=30)).items():
            removed[name] = removed.get(name, 0) + n
        report, found = verified(system)
        assert found == [], day
        assert report.messages > 0
    assert not report.whole
    assert all(removed[name] for name in ("PROC_STATE", "MSG_EVENT", "SCHD_SNAP_LOG")), removed


def test_events_that_age_leaves_behind(system: System) -> None:
    """D-28, D-36: a dead one waits for a person long after its message has gone; a forged one is told."""

    def refuse(record: BusRecord) -> str | None:
        return "too-large" if record.topic == "KAFKA_MSG" else None

    system.bus.refuse = refuse
    run(system, [schedule("DNLD", [fltr(1, LATE)])])
    system.bus.refuse = None
    system.clock.advance(3 * ONE_DAY)
    assert aged(system, ONE_DAY)["PROC_STATE"] == 1
    run(system, [flop(1, "GTDT", gate("A1")), flop(1, "GTDT", gate("A2"))])
    assert verified(system)[1] == []
    with system.store.connection.write():
        system.store.connection.run(
            "UPDATE MSG_EVENT SET MSG_ID = 777 WHERE STATUS = 'SENT' AND TARGET = 'KAFKA:msg'"
        )
    assert {(each.kind, each.field, each.stored) for each in verified(system)[1]} == {
        ("event", "MSG_ID", 777)
    }


def test_events_by_hand(system: System) -> None:
    """R-373, D-36: due once more, sent then, or discarded."""

    def refuse(record: BusRecord) -> str | None:
        return "too-large" if record.topic == "KAFKA_MSG" else None

    system.bus.refuse = refuse
    run(system, [schedule("DNLD", [fltr(1, LATE), fltr(2, LATE), fltr(3, LATE)])])
    assert verified(system)[1] == []
    system.clock.advance(1)
    assert system.store.requeue_events([1], WHO, system.clock.now())[0].refused is None
    assert system.store.discard_events([2], WHO, system.clock.now())[0].refused is None
    assert verified(system)[1] == []
    system.bus.refuse = None
    system.clock.advance(1)
    system.drain()
    assert verified(system)[1] == []


def test_marks_by_hand(system: System) -> None:
    """D-38, D-36: retried, given up, begun again, written in the end."""
    (msg_id,) = system.send([schedule("DNLD", [fltr(1, LATE)])])
    system.start()
    system.pipeline.intake.scan(lambda: False)
    system.pipeline.pump.tick()
    now = system.clock.now()
    system.store.claim_writebacks(now, now, 10, now + timedelta(seconds=30))
    assert verified(system)[1] == []
    system.store.writeback_retry(msg_id, now + timedelta(seconds=60), None, now)
    assert verified(system)[1] == []
    system.clock.advance(1)
    alert = Alert(AlertCode.MISSING_ROW, msg_id)
    system.store.writeback_abandon(msg_id, AbandonReason.MISSING_ROW, alert, system.clock.now())
    assert verified(system)[1] == []
    system.clock.advance(1)
    assert system.store.resume_writebacks([msg_id], WHO, system.clock.now())[0].refused is None
    assert verified(system)[1] == []
    system.clock.advance(1)
    system.drain()
    assert verified(system)[1] == []


def test_a_replay_that_waits_is_no_difference(system: System) -> None:
    """H-25, D-36: written back and waiting again, since somebody replayed it; not so without the audit."""
    run(system, [schedule("DNLD", [fltr(1, LATE)]), b"<MSG>", flop(1, "GTDT", gate("A1"))])
    dead = next(msg_id for msg_id, fate in system.fates().items() if fate[0] == "DEAD")
    system.clock.advance(1)
    assert system.store.replay([dead], [], WHO, system.clock.now())[0].refused is None
    assert verified(system)[1] == []
    with system.store.connection.write():
        system.store.connection.run("DELETE FROM OPS_AUDIT")
    assert [(each.key, each.field) for each in verified(system)[1]] == [(str(dead), "STATE")]
    with system.store.connection.write():
        system.store.connection.run("UPDATE PROC_STATE SET STATE = 'PENDING' WHERE APPLY_NO = 2")
    assert "STATE" in {each.field for each in verified(system)[1] if each.key == "3"}
