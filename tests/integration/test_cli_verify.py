"""`msgx verify` and `msgx explain` as people see them: values that can be told apart, causes, nothing raw."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from msgx_cli import Msgx, put, ready
from wire import flop, fltr, gate, reference, schedule

WHY = ("--reason", "so that it is done")


@pytest.fixture
def msgx(tmp_path: Path) -> Msgx:
    return ready(tmp_path)


def done(msgx: Msgx, *raws: bytes) -> list[int]:
    ids = put(msgx, *raws)
    msgx.ok("drain")
    return ids


def store_file(msgx: Msgx) -> Path:
    return msgx.folder / "data" / "store.db"


def by_hand(msgx: Msgx, *statements: str) -> None:
    """Statements of a DBA, in a store without triggers."""
    db = sqlite3.connect(store_file(msgx), isolation_level=None)
    for statement in statements:
        assert db.execute(statement).rowcount == 1, statement
    db.close()


def lines(msgx: Msgx) -> list[list[str]]:
    """The differences that are printed, by column."""
    answer = msgx("verify")
    assert answer.code == 1
    return [line.split("\t") for line in answer.out.splitlines()[1:]]


def test_values_that_look_alike_are_told_apart(msgx: Msgx) -> None:
    """D-36: text in quotes, instants to the microsecond; others as people read them."""
    done(msgx, schedule("DNLD", [fltr(1, STND="248"), fltr(2, MAID="1")]))
    by_hand(
        msgx,
        "UPDATE FLIGHT_SCHD SET CONTENT = json_set(CONTENT, '$.STND', 248) WHERE FLID = 1",
        "UPDATE FLIGHT_SCHD SET UPDATED_AT = substr(UPDATED_AT, 1, 20)"
        " || CASE substr(UPDATED_AT, 21, 6) WHEN '000001' THEN '000002' ELSE '000001' END || '+00:00'"
        " WHERE FLID = 2",
    )
    found = {(row[2], row[3]): row[4:] for row in lines(msgx)}
    assert found["1", "STND"] == ["248", '"248"']
    stored, computed = found["2", "UPDATED_AT"]
    assert stored.rpartition(".")[0] == computed.rpartition(".")[0]
    assert stored != computed
    assert (stored[0], stored[-2:]) == ('"', 'Z"')


def test_settings_that_are_not_there_are_a_difference(msgx: Msgx) -> None:
    """D-36: told once, whoever names them, ahead of what follows; so is the text of another archive key."""
    done(msgx, schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("A1")), flop(1, "GTDT", gate("A2")))
    by_hand(msgx, 'UPDATE PROC_STATE SET COVERAGE = \'{"policy":"000000000000"}\' WHERE APPLY_NO = 3')
    assert [row[:4] for row in lines(msgx)] == [["settings", "STORE_INFO", "pin.policy.000000000000", "NAME"]]
    by_hand(msgx, "DELETE FROM STORE_INFO WHERE NAME LIKE 'pin.policy.%'")
    assert [row[0] for row in lines(msgx)] == ["settings", "settings"]


def test_a_forged_archive_key_is_a_difference(msgx: Msgx) -> None:
    """D-36: a text is put back by people, who are in the audit; `verify` reads no other one for it."""
    ids = done(msgx, flop(1, "GTDT", gate("A1")), flop(1, "GTDT", gate("A1")))
    (key,) = (
        path.relative_to(msgx.folder / "data" / "archive").as_posix()
        for path in (msgx.folder / "data" / "archive").rglob(f"*{ids[0]:011d}*")
    )
    for forged in (key, "2027/03/14/nothing"):
        named = f"json_set(COVERAGE, '$.raw', '{forged}')"
        by_hand(msgx, f"UPDATE PROC_STATE SET COVERAGE = {named} WHERE MSG_ID = {ids[1]}")
        assert [str(ids[1]), "COVERAGE"] in [row[2:4] for row in lines(msgx)], forged


def test_keys_that_come_twice_or_in_another_order(msgx: Msgx) -> None:
    """D-30, D-36: nothing that `json.loads` swallows; the order in which the keys of an element were put."""
    done(msgx, schedule("DNLD", [fltr(1, STND="7")]), flop(1, "GTDT", gate("A1")))
    before = "UPDATE FLIGHT_SCHD SET CONTENT = "
    for change, field in (
        ('replace(CONTENT, \'"STND":"7"\', \'"STND":"8","STND":"7"\')', "STND"),
        ('replace(CONTENT, \'"GATE":"A1"\', \'"GATE":"A2","GATE":"A1"\')', "GTDT"),
        ('replace(CONTENT, \'"GTNO":"1","GATE":"A1"\', \'"GATE":"A1","GTNO":"1"\')', "GTDT"),
        ("replace(CONTENT, ',', ', ')", "CONTENT"),
        ("replace(CONTENT, '\"7\"', '\"\\u0037\"')", "CONTENT"),
    ):
        copy = msgx.folder / "kept.db"
        db = sqlite3.connect(store_file(msgx), isolation_level=None)
        db.execute("VACUUM INTO ?", (str(copy),))
        db.close()
        by_hand(msgx, before + change)
        assert ["1", field] in [row[2:4] for row in lines(msgx)], change
        for path in (msgx.folder / "data").glob("store.db*"):
            path.unlink()
        shutil.move(copy, store_file(msgx))
    assert msgx("verify").code == 0


def test_one_line_for_a_number_that_is_wrong(msgx: Msgx) -> None:
    """D-27, D-36: the cause, not all that follows from it."""
    done(msgx, schedule("DNLD", [fltr(1)]), *(flop(1, "GTDT", gate(f"A{n}")) for n in range(4)))
    by_hand(msgx, "UPDATE PROC_STATE SET APPLY_NO = 9999 WHERE APPLY_NO = 2")
    assert [row[2:] for row in lines(msgx)] == [["2", "APPLY_NO", "9999", "5 or less"]]


def test_the_time_of_a_message_by_its_events(msgx: Msgx) -> None:
    """D-28, D-36: one line where only that was changed; two messages that changed places are named first."""
    done(msgx, schedule("DNLD", [fltr(1)]))
    done(msgx, flop(1, "GTDT", gate("A1")))
    done(msgx, flop(1, "GTDT", gate("A2")))
    later = "strftime('%Y-%m-%dT%H:%M:%f000+00:00', APPLIED_AT, '+1 second')"
    by_hand(msgx, f"UPDATE PROC_STATE SET APPLIED_AT = {later} WHERE APPLY_NO = 2")
    assert [row[:4] for row in lines(msgx)] == [["message", "PROC_STATE", "2", "APPLIED_AT"]]
    told = "(SELECT CREATED_AT FROM MSG_EVENT WHERE MSG_ID = 2)"
    by_hand(
        msgx,
        f"UPDATE PROC_STATE SET APPLIED_AT = {told} WHERE MSG_ID = 2",
        "UPDATE PROC_STATE SET APPLY_NO = -1 WHERE MSG_ID = 2",
        "UPDATE PROC_STATE SET APPLY_NO = 2 WHERE MSG_ID = 3",
        "UPDATE PROC_STATE SET APPLY_NO = 3 WHERE MSG_ID = 2",
    )
    assert ["message", "PROC_STATE", "2", "APPLY_NO"] in [row[:4] for row in lines(msgx)]


def test_an_empty_range_compares_nothing(msgx: Msgx) -> None:
    """D-36: and says so."""
    done(msgx, schedule("DNLD", [fltr(1), fltr(2, "15MAR270805")]))
    said = msgx.ok("verify", "--from", "2099-01-01").err
    assert "compared: 0 flights, 0 rosters, 0 reference records" in said


def test_messages_taken_in_again(msgx: Msgx) -> None:
    """D-31, D-36: from mailbox and archive into a restored store; verified, and each explained."""
    done(msgx, schedule("DNLD", [fltr(1)]), reference("GLST", "DNLD", ["<GCOD>A1</GCOD>"]))
    backup = msgx.folder / "backup.db"
    db = sqlite3.connect(store_file(msgx), isolation_level=None)
    db.execute("VACUUM INTO ?", (str(backup),))
    db.close()
    lost = done(msgx, *(flop(1, "GTDT", gate(f"A{n}")) for n in range(4)), b"<MSG>")
    for path in (msgx.folder / "data").glob("store.db*"):
        path.unlink()
    shutil.copy(backup, store_file(msgx))
    mailbox = sqlite3.connect(msgx.folder / "data" / "mailbox.db", isolation_level=None)
    mailbox.execute("DELETE FROM CMINMSGS WHERE CMINMSGS_ID IN (?, ?)", (lost[1], lost[2]))
    mailbox.close()
    msgx.ok("recover", "--take-in", f"{lost[0]}..{lost[-1]}", *WHY)
    assert msgx.ok("verify", "--json").json["DIFFERENCES"] == 0
    msgx("drain")
    found = msgx.ok("verify", "--json").json
    assert (found["DIFFERENCES"], found["MESSAGES"], found["OTHERS"]) == (0, 6, 1)
    for msg_id in lost:
        told = msgx.ok("explain", msg_id, "--json").json
        assert "NOTE" not in told
    msgx.ok("replay", lost[-1], *WHY, "--force")
    assert msgx.ok("explain", lost[-1], "--json").json["STATE"] == "PENDING"
    assert msgx.ok("verify", "--json").json["DIFFERENCES"] == 0
    msgx("drain")
    assert "NOTE" not in msgx.ok("explain", lost[-1], "--json").json
    assert msgx.ok("verify", "--json").json["DIFFERENCES"] == 0


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:20])


def replaced(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("damage", [emptied, cut, replaced])
def test_a_damaged_object_of_the_archive(msgx: Msgx, damage: Callable[[Path], None]) -> None:
    """D-36: named with its key and fault; the mailbox has the text, and all the rest is compared."""
    ids = done(msgx, schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("A1")))
    archive = msgx.folder / "data" / "archive"
    (path,) = archive.rglob(f"*{ids[1]:011d}*")
    damage(path)
    (line,) = lines(msgx)
    assert line[:5] == ["archive", "-", path.relative_to(archive).as_posix(), "text", "damaged"]
    assert path.name in line[5]
    answer = msgx("verify", "--json").json
    assert (answer["FROM_MAILBOX"], answer["MESSAGES"], answer["LEFT_OUT"]) == (1, 2, 0)


def test_nothing_was_compared(msgx: Msgx) -> None:
    """D-36: said plainly where a range holds nothing; nothing is counted."""
    done(msgx, schedule("DNLD", [fltr(1, SRVT="<A/>"), fltr(2)]))
    answer = msgx.ok("verify", "--from", "2099-01-01")
    assert ("nothing was compared" in answer.err, " 0 flights" in answer.err) == (True, True)
    answer = msgx.ok("verify", "--from", "2099-01-01", "--json").json
    assert (answer["COMPARED"], answer["FLIGHTS"], answer["LEFT_OUT"] >= 2) == (False, 0, True)
    assert msgx.ok("verify", "--json").json["COMPARED"] is True


def test_an_archive_that_is_not_there(msgx: Msgx) -> None:
    """D-36: named, and not made: `verify` and whatever else reads only."""
    ids = done(msgx, schedule("DNLD", [fltr(1)]))
    gone = msgx.folder / "gone"
    elsewhere = ("--set", f"msgx.archive.url=file:{gone}")
    answer = msgx("verify", *elsewhere)
    assert (answer.code, str(gone) in answer.err, "no archive" in answer.err) == (1, True, True)
    for command in (("explain", ids[0]), ("messages", "show", ids[0], "--raw")):
        msgx.ok(*command, *elsewhere)
    assert not gone.exists()


def test_a_message_that_a_hand_has_taken(msgx: Msgx) -> None:
    """D-02, D-36: younger than `proc-retention`, so age has not taken it."""
    done(msgx, schedule("DNLD", [fltr(1)]), *(flop(1, "GTDT", gate(f"A{n}")) for n in range(4)))
    by_hand(msgx, "DELETE FROM PROC_STATE WHERE APPLY_NO = 3")
    assert ["message", "PROC_STATE", "APPLY_NO 3", "MSG_ID"] in [row[:4] for row in lines(msgx)]
