"""The recovery guide, each of its cases done as it says: docs/recovery.md."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from msgx_cli import Msgx, put, ready
from msgx_core.rules.render import is_newer
from services.base import NotHere, unavailable
from services.redis import private_redis
from wire import adft, fdel, flop, fltr, gate, schedule

WHY = ("--reason", "the guide says so")


@pytest.fixture
def msgx(tmp_path: Path) -> Msgx:
    return ready(tmp_path)


def done(msgx: Msgx, *raws: bytes) -> list[int]:
    ids = put(msgx, *raws)
    msgx.ok("drain")
    return ids


def store_file(msgx: Msgx) -> Path:
    return msgx.folder / "data" / "store.db"


def sql(path: Path, *statements: str) -> None:
    """Statements of a DBA, each committed."""
    db = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        db.execute(statement)
    db.close()


class Consumer:
    """Keeps flights as a consumer does: a notice or a full state counts when its version is newer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held: dict[int, int] = {}
        self.flights: dict[int, dict[str, Any]] = {}
        self._read = {"KAFKA_MSG": 0, "KAFKA_SCHD": 0}

    def follow(self) -> None:
        """Read what is new on both topics."""
        for value in self._new("KAFKA_SCHD"):
            for state in value["SCHD"]["FLTR"]:
                if is_newer(self.held.get(state["FLID"]), state["STATE_VERSION"]):
                    self.held[state["FLID"]] = state["STATE_VERSION"]
                    self.flights[state["FLID"]] = state
        for value in self._new("KAFKA_MSG"):
            if value["KIND"] == "DELETE" and is_newer(self.held.get(value["FLID"]), value["STATE_VERSION"]):
                self.held[value["FLID"]] = value["STATE_VERSION"]
                self.flights.pop(value["FLID"], None)

    def _new(self, topic: str) -> list[Any]:
        path = self.folder / "data" / "bus" / f"{topic}.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = [json.loads(line)["value"] for line in lines[self._read[topic] :]]
        self._read[topic] = len(lines)
        return found


def live(msgx: Msgx) -> dict[int, dict[str, Any]]:
    """Live flights as the store has them."""
    rows = msgx.ok("flights", "--state", "ACTIVE", "--json").json
    return {row["FLID"]: {k: v for k, v in row.items() if k != "CREATED_AT"} for row in rows}


def plain(flights: dict[int, dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Without what a second life counts anew."""
    left_out = ("STATE_VERSION", "UPDATED_AT", "LAST_MSG_ID")
    return {flid: {k: v for k, v in f.items() if k not in left_out} for flid, f in flights.items()}


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
    for path in (msgx.folder / "data").glob("store.db*"):
        path.unlink()
    shutil.copy(backup, store_file(msgx))

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


def restored(msgx: Msgx, backup: Path) -> None:
    """The store as it was backed up."""
    for path in (msgx.folder / "data").glob("store.db*"):
        path.unlink()
    shutil.copy(backup, store_file(msgx))


def with_history(msgx: Msgx) -> None:
    config = msgx.folder / "msgx.toml"
    config.write_text(config.read_text() + '\n[msgx.history]\nurl = "file:data/history"\n')


def test_a_flight_that_left_and_came_back_after_the_backup(msgx: Msgx) -> None:
    """D-10, D-33, D-37: the sweep comes before the taking in, so what brought it back finds it gone."""
    with_history(msgx)
    consumer = Consumer(msgx.folder)
    done(msgx, schedule("DNLD", [fltr(1, "01JAN210805"), fltr(2, "01JAN990805")]))
    backup = msgx.folder / "backup.db"
    sql(store_file(msgx), f"VACUUM INTO '{backup}'")
    lost = done(msgx, flop(1, "GTDT", gate("A1")))
    assert msgx.ok("sweep", "--json").json["ARCHIVED"] == 1
    lost += done(msgx, adft(fltr(1, "01JAN990805")), flop(1, "GTDT", gate("B2")))
    consumer.follow()
    before = live(msgx)
    assert before[1]["GTDT"] == [{"GTNO": "1", "GATE": "B2"}]
    restored(msgx, backup)

    assert msgx.ok("sweep", "--json").json["ARCHIVED"] == 1
    answer = msgx.ok("recover", "--take-in", f"{lost[0]}..{lost[-1]}", *WHY, "--json")
    assert answer.json == {"MESSAGES_TAKEN_IN": len(lost), "FROM_ARCHIVE": 0}
    assert f"msgx messages --state DEAD --after {lost[0] - 1}" in answer.err
    msgx.ok("drain")
    assert msgx.ok("messages", "--state", "DEAD", "--after", lost[0] - 1, "--json").json == []
    msgx.ok("recover", "--versions-by", 1000, "--republish", *WHY)
    msgx.ok("drain")
    consumer.follow()
    assert plain(live(msgx)) == plain(before)
    assert consumer.flights == live(msgx)
    assert msgx.ok("sweep", "--json").json["ARCHIVED"] == 0
    assert msgx.ok("verify", "--json").json["DIFFERENCES"] == 0


def test_a_flight_that_came_back_is_dead(msgx: Msgx) -> None:
    """D-10, D-33: without that sweep taking in tells of it; sweep, replay and a request mend it."""
    with_history(msgx)
    done(msgx, schedule("DNLD", [fltr(1, "01JAN210805")]))
    backup = msgx.folder / "backup.db"
    sql(store_file(msgx), f"VACUUM INTO '{backup}'")
    msgx.ok("sweep")
    lost = done(msgx, adft(fltr(1, "01JAN990805")))
    restored(msgx, backup)

    answer = msgx.ok("recover", "--take-in", f"{lost[0]}..{lost[0]}", *WHY, "--json")
    assert answer.json == {"MESSAGES_TAKEN_IN": 1, "FROM_ARCHIVE": 0, "FLIGHTS_LEFT_BEFORE": 1}
    assert "`msgx sweep` first" in answer.err
    msgx.ok("drain")
    (dead,) = msgx.ok("messages", "--state", "DEAD", "--after", lost[0] - 1, "--json").json
    assert (dead["MSG_ID"], dead["REASON"]) == (lost[0], "SAME_FLID_ACROSS_OPERATION_DAYS")
    assert msgx.ok("sweep", "--json").json["ARCHIVED"] == 1
    msgx.ok("replay", lost[0], *WHY)
    msgx.ok("drain")
    msgx.ok("request", "schedule", "2099-01-01", *WHY)
    assert live(msgx)[1]["OPERATION_DAY"] == "2099-01-01"
    assert msgx.ok("verify", "--json").json["DIFFERENCES"] == 0
    # A second portion: who came back since is no stranger.
    answer = msgx.ok("recover", "--take-in", f"{lost[0]}..{lost[0]}", *WHY, "--json")
    assert "FLIGHTS_LEFT_BEFORE" not in answer.json


def test_what_came_in_after_the_backup_lies_in_the_archive_alone(msgx: Msgx) -> None:
    """D-36: its texts come from there, in their order among those that the mailbox still has."""
    done(msgx, schedule("DNLD", [fltr(1)]))
    backup = msgx.folder / "backup.db"
    sql(store_file(msgx), f"VACUUM INTO '{backup}'")
    lost = done(msgx, *(flop(1, "GTDT", gate(f"A{n}")) for n in range(5)))
    for path in (msgx.folder / "data").glob("store.db*"):
        path.unlink()
    shutil.copy(backup, store_file(msgx))
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
