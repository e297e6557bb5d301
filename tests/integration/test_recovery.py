"""The recovery guide, each of its cases done as it says: docs/recovery.md."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from msgx_cli import Msgx, put, ready
from recovering import WHY, Consumer, done, live, plain, restored, sql, store_file
from services.base import NotHere, unavailable
from services.redis import private_redis
from wire import fdel, flop, fltr, gate, schedule


@pytest.fixture
def msgx(tmp_path: Path) -> Msgx:
    return ready(tmp_path)


def test_a_store_restored_from_backup(msgx: Msgx) -> None:
    """R-456, R-457, D-31: what came in after the backup, then versions above what was seen; all end with
    the store."""
    consumer = Consumer(msgx.folder)
    done(msgx, schedule("DNLD", [fltr(1), fltr(2), fltr(3)]))
    backup = msgx.folder / "backup.db"
    sql(store_file(msgx), f"VACUUM INTO '{backup}'")
    lost = done(
        msgx, *(flop(1, "GTDT", gate(f"A{n}")) for n in range(5)), fdel(2), schedule("DNLD", [fltr(4)])
    )
    consumer.follow()
    before = live(msgx)
    assert consumer.flights == before
    restored(msgx, backup)

    answer = msgx.ok("recover", "--take-in", f"{lost[0]}..{lost[-1]}", *WHY, "--json").json
    assert answer == {"MESSAGES_TAKEN_IN": len(lost), "FROM_ARCHIVE": 0}
    msgx.ok("drain")
    answer = msgx.ok("recover", "--versions-by", 1000, "--republish", *WHY, "--json").json
    assert answer == {"FLIGHTS_RAISED": 4, "FLOORS_RAISED": 0, "FLIGHTS_REPUBLISHED": 4}
    msgx.ok("drain")
    consumer.follow()
    after = live(msgx)
    assert plain(after) == plain(before)
    assert after[1]["STATE_VERSION"] == before[1]["STATE_VERSION"] + 1000
    assert consumer.flights == after
    assert msgx.ok("verify", "--json").json["DIFFERENCES"] == 0


def test_what_came_in_after_the_backup_lies_in_the_archive_alone(msgx: Msgx) -> None:
    """D-36: its texts come from there, in their order among those that the mailbox still has."""
    done(msgx, schedule("DNLD", [fltr(1)]))
    backup = msgx.folder / "backup.db"
    sql(store_file(msgx), f"VACUUM INTO '{backup}'")
    lost = done(msgx, *(flop(1, "GTDT", gate(f"A{n}")) for n in range(5)))
    restored(msgx, backup)
    sql(msgx.folder / "data" / "mailbox.db", f"DELETE FROM CMINMSGS WHERE CMINMSGS_ID < {lost[-1]}")
    answer = msgx.ok("recover", "--take-in", f"{lost[0]}..{lost[-1]}", *WHY, "--json").json
    assert answer == {"MESSAGES_TAKEN_IN": 5, "FROM_ARCHIVE": 4}
    # Their mailbox rows are gone: their marks stay owed, which is no harm.
    assert msgx("drain").code in (0, 1)
    rows = msgx.ok("flights", "show", 1, "--history", "--json").json
    assert [row["MSG_ID"] for row in rows[1:]] == lost
    assert live(msgx)[1]["GTDT"] == [{"GTNO": "1", "GATE": "A4"}]


def test_a_lost_redis(msgx: Msgx) -> None:
    """D-31: nothing is lost with it; it is noticed, told, and filled again."""
    try:
        with private_redis() as redis:
            done_with: dict[str, Any] = {"MSGX_CACHE_URL": redis.url}
            put(msgx, schedule("DNLD", [fltr(1), fltr(2)]))
            msgx.ok("drain", **done_with)
            redis.client().flushall()
            assert msgx.ok("cache", "rebuild", "--json", **done_with).json == {"FLIGHTS": 2}
            assert redis.client().exists("msgx:flight:1", "msgx:store") == 2
            redis.client().flushall()
            put(msgx, flop(1, "GTDT", gate("A1")))
            msgx.ok("drain", **done_with)
            assert redis.client().exists("msgx:flight:1", "msgx:flight:2") == 2
            assert "CACHE_LOST" in [row["CODE"] for row in msgx.ok("alerts", "--json").json]
    except NotHere as why:
        unavailable("Redis", str(why))


def test_a_lost_topic(msgx: Msgx) -> None:
    """D-29, D-31: every flight once more, a deleted one as its tombstone; who has them takes no notice."""
    consumer = Consumer(msgx.folder)
    done(msgx, schedule("DNLD", [fltr(1), fltr(2), fltr(3)]), fdel(2))
    consumer.follow()
    versions = dict(consumer.held)
    shutil.rmtree(msgx.folder / "data" / "bus")
    newcomer = Consumer(msgx.folder)
    assert msgx.ok("recover", "--republish", *WHY, "--json").json == {"FLIGHTS_REPUBLISHED": 3}
    msgx.ok("drain")
    newcomer.follow()
    assert newcomer.flights == live(msgx)
    assert newcomer.held == versions
    assert newcomer.held[2] == 2, "a tombstone keeps the version of what is gone"
    events = [row for row in msgx.ok("outbox", "--json").json if row["TARGET"] == "KAFKA:msg"]
    assert [
        row["PAYLOAD"]["REASON"] for row in events if row["FLID"] == 2 and "REASON" in row["PAYLOAD"]
    ] == [
        "FDEL",
        "FDEL",
    ]


def test_a_mailbox_cleaned_too_early(msgx: Msgx) -> None:
    """D-36, D-38: a text that was tried before is in the archive; the rest must be sent again."""
    done(msgx, schedule("DNLD", [fltr(1)]))
    ids = put(msgx, flop(1, "GTDT", gate("A1")), flop(1, "GTDT", gate("A2")))
    msgx.ok("drain")
    sql(
        store_file(msgx),
        f"UPDATE PROC_STATE SET STATE = 'PENDING', APPLIED_AT = NULL, APPLY_NO = NULL, BACKFILL_AT = NULL,"
        f" IDENTITY_KEY = NULL, FINISHED_AT = NULL WHERE MSG_ID = {ids[1]}",
    )
    sql(msgx.folder / "data" / "mailbox.db", f"DELETE FROM CMINMSGS WHERE CMINMSGS_ID >= {ids[0]}")
    msgx("drain")
    (missing,) = msgx.ok("messages", "--reason", "raw-missing", "--json").json
    assert missing["MSG_ID"] == ids[1]
    assert msgx.ok("replay", ids[1], "--from-archive", "--dry-run", "--json").json[0]["STATE"] == "SUCCEEDED"
    msgx.ok("replay", ids[1], "--from-archive", *WHY)
    msgx("drain")
    assert msgx.ok("messages", "show", ids[1], "--json").json["STATE"] == "SUCCEEDED"
    abandoned = msgx.ok("writeback", "--json").json + msgx.ok("writeback", "--abandoned", "--json").json
    assert [row["MSG_ID"] for row in abandoned] == [ids[1]]


def test_an_identity_algorithm_chosen_wrong(msgx: Msgx) -> None:
    """D-23, D-24: a few by readmit; all by a new store that takes everything in again."""
    consumer = Consumer(msgx.folder)
    again = flop(1, "GTDT", gate("B1"), seqn=700_001)
    ids = done(msgx, schedule("DNLD", [fltr(1), fltr(2)]), flop(1, "GTDT", gate("A1"), seqn=700_001), again)
    consumer.follow()
    skipped = msgx.ok("messages", "show", ids[2], "--json").json
    assert skipped["REASON"] == f"duplicate-of:{ids[1]}"
    msgx.ok("messages", "readmit", ids[2], *WHY)
    msgx.ok("drain")
    consumer.follow()
    other: dict[str, Any] = {"MSGX_IDENTITY_INCLUDE_DAY_BOUNDARY": "true"}
    assert msgx("drain", **other).code == 3, "the choice is kept with the data"
    anew = {**other, "MSGX_STORE_URL": "sqlite:///data/store2.db"}
    msgx.ok("migrate", **anew)
    answer = msgx.ok("recover", "--take-in", f"1..{ids[-1]}", *WHY, "--json", **anew).json
    assert answer["MESSAGES_TAKEN_IN"] == 3
    msgx.ok("drain", **anew)
    msgx.ok("recover", "--versions-by", 100_000, "--republish", *WHY, **anew)
    msgx.ok("drain", **anew)
    consumer.follow()
    assert {flid: held > 100_000 for flid, held in consumer.held.items()} == {1: True, 2: True}
    assert consumer.flights[1]["FLNO"] == "QX1"


def test_what_recover_refuses(msgx: Msgx) -> None:
    """Nothing without a reason, without a task, or with a range that is none."""
    assert msgx("recover", "--versions-by", 5).code == 2
    assert msgx("recover", *WHY).code == 2
    assert msgx("recover", "--versions-by", 0, *WHY).code == 2
    assert msgx("recover", "--take-in", "9..3", *WHY).code == 2
    assert msgx("recover", "--take-in", "x", *WHY).code == 2


def test_recover_beside_a_running_instance(msgx: Msgx) -> None:
    """D-34: it needs the lease, and names who holds it."""
    sql(
        store_file(msgx),
        "UPDATE LEASE SET HOLDER = 'host:1:run', EXPIRES_UNIX = strftime('%s', 'now') + 3600",
    )
    answer = msgx("recover", "--versions-by", 5, *WHY)
    assert answer.code == 1
    assert "host:1:run" in answer.err
