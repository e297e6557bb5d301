"""Verification of what is beside flights, and of messages whose text is lost or that had no effect (D-36)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest

from embedded import System
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.pipeline.differences import Difference
from msgx_core.ports.operations import Audit
from verified import days_system, run, sql, told, verified
from wire import adft, error_answer, fdel, flop, fltr, gate, message, reference, schedule

DAY = date(2027, 3, 14)
LATE = "20MAR270805"
ONE_DAY = timedelta(days=1)
WHO = Audit("test", "so that it can be refused")


@pytest.fixture
def system(tmp_path: Path) -> Iterator[System]:
    with days_system(tmp_path) as made:
        yield made


def test_floors_are_compared_both_ways(system: System) -> None:
    """D-37: one too many, one too few, another version; a step that is lost is none of these."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2), fltr(3)]), schedule("DNLD", [fltr(4, LATE)])])
    system.clock.advance(3 * ONE_DAY)
    assert system.pipeline.sweep.run().archived == 3
    run(system, [adft(fltr(1, LATE))])
    assert system.archive is not None
    for with_steps in (True, False):
        if not with_steps:
            system.archive.remove_before(system.clock.now().date() + ONE_DAY)
            restore_texts(system)
        assert verified(system)[1] == []
        for change, wanted in (
            ("INSERT INTO FLIGHT_VERSION_FLOOR VALUES (9, 3, {now})", ("floor", "9", "FLID")),
            ("INSERT INTO FLIGHT_VERSION_FLOOR VALUES (4, 3, {now})", ("floor", "4", "FLID")),
            ("DELETE FROM FLIGHT_VERSION_FLOOR WHERE FLID = 2", ("floor", "2", "STATE_VERSION")),
            ("UPDATE FLIGHT_VERSION_FLOOR SET STATE_VERSION = 1", ("floor", "3", "STATE_VERSION")),
            ("UPDATE FLIGHT_VERSION_FLOOR SET STATE_VERSION = 8", ("floor", "3", "STATE_VERSION")),
        ):
            now = "(SELECT MAX(UPDATED_AT) FROM FLIGHT_SCHD)"
            found = changed(system, change.format(now=now))
            if with_steps or not change.startswith("DELETE"):
                assert wanted in told(found), (change, found)
            assert found, change


def restore_texts(system: System) -> None:
    """The texts come back into the archive, the steps do not."""
    assert system.archive is not None
    for row in system.store.applied(0):
        raw = system.inbox.fetch(row["MSG_ID"])
        assert raw is not None
        system.archive.put(row["MSG_ID"], row["RECEIVED_AT"], raw)


def changed(system: System, text: str) -> list[Difference]:
    """What is found after a change, which is taken back."""
    assert system.store_path is not None
    copy = system.store_path.with_name("changed.db")
    copy.unlink(missing_ok=True)
    system.store.connection.run("VACUUM INTO :copy", {"copy": str(copy)})
    store = SqliteStore.open(copy)
    try:
        with store.connection.write():
            store.connection.run(text)
        return verified(system, store=store)[1]
    finally:
        store.close()


def test_lost_texts_of_every_kind(system: System) -> None:
    """D-36: what such a message did is left out: flights, days, lists; with no trace of it, all before it."""
    raws = [
        schedule("DNLD", [fltr(1), fltr(2)]),
        reference("GLST", "DNLD", ["<GCOD>A1</GCOD>"]),
        schedule("DNLD", [fltr(3, LATE)]),
        schedule("DNLD", [fltr(3, LATE), fltr(4, LATE)]),
        flop(1, "GTDT", gate("A1")),
        fdel(2),
        fdel(2),
    ]
    ids = []
    for raw in raws:
        system.clock.advance(1)
        ids += system.send([raw])
        system.drain()
    for lost in ids:
        archive = FsspecArchive.in_memory()
        for msg_id, raw in zip(ids, raws, strict=True):
            if msg_id != lost:
                archive.put(msg_id, system.clock.now(), raw)
        system.archive, kept = archive, system.archive
        assert told(verified(system)[1]) == {("message", str(lost), "RAW")}
        without_events = changed(system, "DELETE FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg'")
        assert told(without_events) == {("message", str(lost), "RAW")}
        system.archive = kept
        archive.close()


def test_settings_and_steps_that_were_changed(system: System, tmp_path: Path) -> None:
    """D-23, D-36: the text of settings is not the one that messages name; a step is damaged."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2)])])
    system.clock.advance(3 * ONE_DAY)
    assert system.pipeline.sweep.run().archived == 2
    (step,) = (tmp_path / "archive").rglob("step-*")
    step.write_bytes(b"no step")
    assert [each.kind for each in verified(system)[1]] == ["step"]
    step.unlink()
    sql(system, "UPDATE STORE_INFO SET VALUE = replace(VALUE, 'single-day', 'window') WHERE VALUE LIKE '{%'")
    report, found = verified(system)
    assert ("settings", "VALUE") in {(each.kind, each.field) for each in found}
    assert report.policies_assumed == 1


def test_messages_without_effects(system: System) -> None:
    """D-25, D-36: how they ended fits to itself and to what the text alone says."""
    twice = flop(1, "GTDT", gate("A1"), seqn=900_001)
    raws = [
        schedule("DNLD", [fltr(1)]),
        twice,
        twice,
        b"<MSG>",
        message("NOPE", "X", ""),
        flop(1, "ESTT", ""),
    ]
    ids = system.send(raws)
    system.drain()
    report, found = verified(system)
    assert (found, report.others) == ([], 4)
    for msg_id, change, field in (
        (ids[2], "STATE = 'SUCCEEDED'", "APPLY_NO"),
        (ids[2], "ERROR_CODE = 'PROTOCOL'", "ERROR_CODE"),
        (ids[2], "REASON = NULL", "REASON"),
        (ids[3], "ERROR_CODE = NULL", "ERROR_CODE"),
        (ids[3], "STATE = 'SKIPPED', ERROR_CODE = NULL", "STATE"),
        (ids[3], "REASON = 'wrong-root'", "STATE"),
        (ids[4], "TYPE = 'SCHD'", "TYPE"),
        (ids[4], "RAW_DIGEST = 'x'", "RAW_DIGEST"),
        (ids[0], "STATE = 'SKIPPED'", "STATE"),
        (ids[0], "STATE = 'DEAD', ERROR_CODE = 'PROTOCOL'", "STATE"),
        (ids[0], "APPLY_NO = 1000", "APPLY_NO"),
        (ids[1], "APPLY_NO = NULL", "APPLY_NO"),
    ):
        found = changed(system, f"UPDATE PROC_STATE SET {change} WHERE MSG_ID = {msg_id}")
        assert field in {each.field for each in found}, (change, found)


def test_an_exhausted_message_with_effects_is_right(system: System) -> None:
    """D-02, D-05: it is the exception among the dead ones."""
    (msg_id,) = system.send([schedule("DNLD", [fltr(1)])])
    system.drain()
    ended = "STATE = 'DEAD', ERROR_CODE = 'EXHAUSTED', REASON = 'cache-rejected'"
    sql(system, f"UPDATE PROC_STATE SET {ended} WHERE MSG_ID = {msg_id}")
    assert verified(system)[1] == []


def test_an_error_answer_marks_its_sender(system: System) -> None:
    """D-16, D-32: it changes nothing else that is compared."""
    run(system, [schedule("DNLD", [fltr(1)])])
    request = Request(0, RequestSlot.RQFD, RequestState.PENDING, system.clock.now())
    system.store.create_request(request, WHO, system.clock.now())
    run(system, [error_answer(INTP="RQFD", CODE="7")])
    assert [fate[0] for fate in system.fates().values()] == ["SUCCEEDED", "SUCCEEDED"]
    assert verified(system)[1] == []
    sql(system, "UPDATE SENDER_MARK SET SEQN = SEQN + 1")
    assert told(verified(system)[1]) == {("sender", "AODB", "SEQN")}


def test_an_answer_a_replay_and_a_readmitted_message(system: System) -> None:
    """D-02, D-11, D-24, D-32: coverage that came from a request, work done twice, an identity of its own."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2), fltr(3)])])
    asked = Request(
        0, RequestSlot.RQFD, RequestState.PENDING, system.clock.now(), first_day=DAY, last_day=DAY
    )
    system.store.create_request(asked, WHO, system.clock.now())
    twice = flop(1, "GTDT", gate("A1"), seqn=900_001)
    run(system, [schedule("RESP", [fltr(1), fltr(3)]), twice, twice.replace(b"A1", b"A2")])
    assert [flight.is_live for flight in system.store.flights()] == [True, False, True]
    ids = [msg_id for msg_id, fate in system.fates().items() if fate[0] == "SKIPPED"]
    assert system.store.readmit(ids[0], WHO, system.clock.now()).refused is None
    system.drain()
    sql(system, "UPDATE PROC_STATE SET STATE = 'DEAD', ERROR_CODE = 'EXHAUSTED' WHERE APPLY_NO = 2")
    system.store.replay([2], [("EXHAUSTED", None)], WHO, system.clock.now())
    system.drain()
    report, found = verified(system)
    assert (found, report.messages, report.left_out) == ([], 4, 0)
    coverage = (
        "UPDATE PROC_STATE SET COVERAGE = replace(COVERAGE, '2027-03-14', '2027-03-15') WHERE MSG_ID = 2"
    )
    assert changed(system, coverage) != []


def test_a_number_that_was_never_given_out_is_one_difference(system: System) -> None:
    """D-27, D-36: the cause alone is told; the message is computed where its number is missing."""
    run(system, [schedule("DNLD", [fltr(1), fltr(2)]), flop(1, "GTDT", gate("A1")), fdel(2)], portion=1)
    for number in (1, 2, 3):
        found = changed(system, f"UPDATE PROC_STATE SET APPLY_NO = 9999 WHERE APPLY_NO = {number}")
        assert [(each.field, each.stored, each.computed) for each in found] == [
            ("APPLY_NO", 9999, "3 or less")
        ]
    found = changed(system, "UPDATE PROC_STATE SET APPLY_NO = 9990 + APPLY_NO WHERE APPLY_NO < 3")
    assert {(each.kind, each.field) for each in found} == {("message", "APPLY_NO")}
    with system.store.connection.write():
        system.store.connection.run("UPDATE FLIGHT_SCHD SET STATE_VERSION = 9 WHERE FLID = 1")
    found = changed(system, "UPDATE PROC_STATE SET APPLY_NO = 9999 WHERE APPLY_NO = 2")
    assert told(found) == {("message", "2", "APPLY_NO"), ("flight", "1", "STATE_VERSION")}
    system.store.connection.run("DROP TRIGGER FLIGHT_SCHD_VERSION_RISES")
    sql(system, "UPDATE FLIGHT_SCHD SET STATE_VERSION = 2 WHERE FLID = 1")
    (found_at,) = changed(system, "UPDATE COUNTERS SET VALUE = 1 WHERE NAME = 'apply_no'")
    assert (found_at.kind, found_at.stored, found_at.computed) == ("counter", 1, 3)
