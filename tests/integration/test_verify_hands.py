"""Verification where something was taken, forged or broken by hand, and where that only looks so (D-36)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from embedded import System
from msgx_core.model.request import RequestSlot
from msgx_core.pipeline.recovery import RecoveryService
from msgx_core.pipeline.retention import RetentionPolicy, RetentionSweep
from msgx_core.pipeline.verify import Window
from msgx_core.ports import Silent
from msgx_core.ports.operations import Audit
from msgx_core.testing.builders import request
from verified import days_system, run, sql, told, traffic, verified
from wire import adft, fdel, flop, fltr, gate, schedule

LATE = "20MAR270805"
ONE_DAY = timedelta(days=1)
AGE = 90 * ONE_DAY
WHO = Audit("test", "to see it found")


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    with days_system(tmp_path) as made:
        yield made


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
    """D-33, D-37: events of its life before the range say nothing, those of now do."""
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
    """IMP §9.3: with events or without, written back late, after sweep and recovery: no difference."""
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


def recovered(system: System, by: int) -> None:
    """Versions raised, and everything published once more."""
    service = RecoveryService(
        system.store,
        system.inbox,
        system.archive,
        system.pipeline.cache_keeper,
        system.clock,
        system.policy,
    )
    system.clock.advance(1)
    if by:
        system.store.raise_versions(by, WHO, system.clock.now())
    system.clock.advance(1)
    service.republish(WHO)
    system.clock.advance(1)


EDITS = {
    "payload": "PAYLOAD = json_set(PAYLOAD, '$.STATE_VERSION', 77)",
    "payload and time": "PAYLOAD = json_set(PAYLOAD, '$.STATE_VERSION', 77), CREATED_AT = '{later}',"
    " UPDATED_AT = '{later}', STATUS = 'PENDING', SENT_AT = NULL",
    "time": "CREATED_AT = '{later}', UPDATED_AT = '{later}', STATUS = 'PENDING', SENT_AT = NULL",
}


@pytest.mark.parametrize("by", [0, 1000])
def test_events_behind_a_republish(system: System, by: int) -> None:
    """D-31, D-36: only what it wrote is another's: events of messages before it are compared as ever."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2, LATE), fltr(3, LATE)])])
    run(system, [flop(2, "GTDT", gate("A1")), flop(2, "GTDT", gate("A2"))], portion=1)
    system.clock.advance(3 * ONE_DAY)
    assert system.pipeline.sweep.run().archived == 1
    run(system, [fdel(3)])
    recovered(system, by)
    run(system, [flop(2, "GTDT", gate("A3"))])
    assert verified(system)[1] == []
    sql(system, "CREATE TABLE KEPT AS SELECT * FROM MSG_EVENT")
    later = (system.clock.now() - timedelta(seconds=90)).isoformat(timespec="microseconds")
    first = "(SELECT EVENT_ID FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' AND FLID = 2 AND MSG_ID = 2)"
    for name, edit in EDITS.items():
        change = edit.format(later=later)
        sql(system, f"UPDATE MSG_EVENT SET {change} WHERE TARGET = 'KAFKA:msg' AND EVENT_ID = {first}")
        assert {each.kind for each in verified(system)[1]} == {"event"}, name
        sql(system, "DELETE FROM MSG_EVENT")
        sql(system, "INSERT INTO MSG_EVENT SELECT * FROM KEPT")
    assert verified(system)[1] == []
    for target in ("msg", "schd"):
        sql(
            system,
            "UPDATE MSG_EVENT SET PAYLOAD = json_set(PAYLOAD, '$.LAST_MSG_ID', 77, '$.MSG_ID', 77) WHERE"
            f" TARGET = 'KAFKA:{target}' AND EVENT_ID = (SELECT MAX(EVENT_ID) FROM MSG_EVENT"
            f" WHERE TARGET = 'KAFKA:{target}' AND FLID <> 2)",
        )
        assert "event" in {each.kind for each in verified(system)[1]}, target


UNSUPPORTED = "STATE = 'SKIPPED', ERROR_CODE = NULL, REASON = 'unsupported'"


@pytest.mark.parametrize(
    ("msg_id", "edit"),
    [
        (2, "STATE = 'DEAD', ERROR_CODE = 'MALFORMED', REASON = 'not-well-formed'"),
        (2, "STATE = 'DEAD', ERROR_CODE = 'PROTOCOL', REASON = 'recs-missing'"),
        (2, "REASON = 'flight-deleted'"),
        (2, "DETAIL = 'FLOP/XXXX'"),
        (3, UNSUPPORTED),
        (3, "STATE = 'SKIPPED', ERROR_CODE = NULL, REASON = 'flight-deleted'"),
        (3, "REASON = 'bad-number:7'"),
        (4, UNSUPPORTED),
        (4, "REASON = 'wrong-root'"),
        (6, UNSUPPORTED + ", DETAIL = 'FLOP/GTDT is not in msgx.flop.whitelist'"),
        (6, "STATE = 'DEAD', ERROR_CODE = 'MALFORMED', REASON = 'bad-encoding'"),
    ],
)
def test_how_a_message_ended_by_its_text(system: System, msg_id: int, edit: str) -> None:
    """D-25, D-36: undecodable, unsupported, dead by its values, or neither: the text says it."""
    run(
        system,
        [
            schedule("DNLD", [fltr(1, LATE), fltr(7, LATE)]),
            flop(1, "ZZZZ", "<ZZZZ/>"),
            flop(1, "GTDT", ""),
            b"<MSG>",
            fdel(7),
            flop(7, "GTDT", gate("A1")),
        ],
    )
    fates = system.fates()
    assert [fates[n][0] for n in (2, 3, 4, 6)] == ["SKIPPED", "DEAD", "DEAD", "SKIPPED"], fates
    assert verified(system)[1] == []
    sql(system, f"UPDATE PROC_STATE SET {edit} WHERE MSG_ID = {msg_id}")
    assert ("message", str(msg_id), "STATE") in told(verified(system)[1])


def test_counters_are_not_below_what_was_given_out(system: System) -> None:
    """D-27, D-32, D-36: each of them, whatever range is looked at."""
    run(system, [schedule("DNLD", [fltr(1, LATE)]), flop(1, "GTDT", gate("A1"))])
    asked = system.store.ask(request(RequestSlot.RQRD, rtype="GLST"), WHO, system.clock.now())
    assert asked is not None
    assert system.store.begin_send(asked.request_id, system.clock.now()) is not None
    later = Window(system.clock.now() + ONE_DAY)
    assert verified(system, later)[1] == verified(system)[1] == []
    for name in ("outbound_seqn", "event_msg", "event_schd"):
        sql(system, f"UPDATE COUNTERS SET VALUE = 0 WHERE NAME = '{name}'")
        for window in (None, later):
            assert ("counter", name, "VALUE") in told(verified(system, window)[1])


def test_a_folder_in_place_of_a_step(system: System, tmp_path: Path) -> None:
    """D-33, D-36: what a sweep left is damaged; the floors stand for it, and the run goes on."""
    run(system, [schedule("DNLD", [fltr(1)]), schedule("DNLD", [fltr(2, LATE)])])
    system.clock.advance(3 * ONE_DAY)
    assert system.pipeline.sweep.run().archived == 1
    (step,) = (tmp_path / "archive").rglob("step-*")
    step.unlink()
    step.mkdir()
    assert {(each.kind, each.stored) for each in verified(system)[1]} == {("step", "damaged")}


def test_all_is_left_out(system: System) -> None:
    """D-36: messages may be computed, and yet nothing of the store is compared."""
    run(system, [schedule("DNLD", [fltr(1, LATE)])])
    system.clock.advance(ONE_DAY)
    window = Window(system.clock.now())
    run(system, [flop(1, "GTDT", gate("A1"))])
    report, found = verified(system, window)
    assert (found, report.messages, report.flights, report.compared) == ([], 1, 0, False)
    assert verified(system)[0].compared
