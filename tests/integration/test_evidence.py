"""Evidence: each text is archived before its effects, an outage costs nothing, texts come back."""

from __future__ import annotations

import gzip
import sqlite3
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from embedded import SimulatedCrash, System, closing_system
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_cli import Msgx, put, ready
from msgx_core.errors import Transient
from msgx_core.pipeline.evidence import Evidence
from msgx_core.ports import Silent
from msgx_core.ports.operations import Audit
from msgx_core.rules.policy_text import parse_grounds, policy_digest, policy_text, raw_grounds
from msgx_core.testing.clock import ManualClock
from wire import flop, fltr, gate, message, schedule

WHO = Audit("test", "cleaned too early")


@define
class Heard(Silent):
    """Telemetry that remembers."""

    counts: Counter[str] = field(factory=Counter)
    events: list[tuple[str, dict[str, Any]]] = field(factory=list)

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        self.counts[name] += n

    def event(self, name: str, /, **fields: object) -> None:
        self.events.append((name, fields))


class Down(FsspecArchive):
    """An archive that may be down; counts how often it was asked."""

    down = False
    asked = 0

    def put(self, *given: Any) -> str:
        self.asked += 1
        if self.down:
            raise Transient("archive", "down")
        return super().put(*given)

    def get(self, key: str) -> Any:
        if self.down:
            raise Transient("archive", "down")
        return super().get(key)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Down]:
    made = Down.in_folder(tmp_path / "archive")
    assert isinstance(made, Down)
    yield made
    made.close()


@pytest.fixture
def system(archive: Down) -> Iterator[System]:
    with closing_system(None, archive=archive) as made:
        yield made


def test_every_text_is_kept_whatever_becomes_of_it(system: System, archive: Down) -> None:
    """R-017, D-36, D-16: applied, skipped, dead, duplicate; as bytes; its key in the snapshot log."""
    twice = flop(1, "GTDT", gate("A1"), seqn=900_001)
    raws = [
        schedule("DNLD", [fltr(1)]),
        twice,
        twice,
        message("NOPE", "NONE", ""),
        b"<MSG>",
        schedule("DNLD", [fltr(2)], recs=5),
    ]
    ids = system.send([*raws, b" "])
    system.drain()
    assert {one.msg_id: one.raw for one in archive.read()} == dict(zip(ids, raws, strict=False))
    keys = {row["MSG_ID"]: row.get("ARCHIVE_KEY") for row in system.store.snapshots()}
    assert keys == {ids[0]: archive.find(ids[0]), ids[5]: archive.find(ids[5])}


def test_a_text_is_kept_before_its_effects(system: System, archive: Down) -> None:
    """D-36: a crash at the step after leaves the text, and no effect."""

    def crash(name: str) -> None:
        if name == "evidence-kept":
            raise SimulatedCrash

    system.on_step = crash
    (msg_id,) = system.send([schedule("DNLD", [fltr(1)])])
    with pytest.raises(SimulatedCrash):
        system.drain()
    assert archive.find(msg_id) is not None
    assert system.store.flight(1) is None
    system.on_step = lambda name: None
    system.restart(clean=False)
    system.drain()
    assert system.fates()[msg_id][0] == "SUCCEEDED"


def test_an_archive_that_is_down_fails_no_message(system: System, archive: Down) -> None:
    """D-36: every message goes its way; the archive is asked now and then, and used again when it is back."""
    archive.down = True
    ids = system.send([schedule("DNLD", [fltr(1)]), *(flop(1, "GTDT", gate(f"A{n}")) for n in range(50))])
    system.drain()
    assert {fate[0] for fate in system.fates().values()} == {"SUCCEEDED"}
    assert archive.asked == 1
    archive.down = False
    system.clock.advance(31)
    (last,) = system.send([flop(1, "GTDT", gate("B1"))])
    system.drain()
    assert [one.msg_id for one in archive.read()] == [last]
    assert len(ids) == 51


def test_what_fails_is_counted_and_told(archive: Down) -> None:
    """D-36: a metric and an event; pauses of 1 s to 30 s; then one word that it answers again."""
    clock, heard = ManualClock(), Heard()
    evidence = Evidence(archive, clock, heard)
    archive.down = True
    for _ in range(120):
        assert evidence.keep(1, clock.now(), b"x") is None
        clock.advance(1)
    assert heard.counts["msgx.archive.failed"] == archive.asked == 8
    assert heard.counts["msgx.archive.skipped"] == 112
    archive.down = False
    clock.advance(30)
    assert evidence.keep(1, clock.now(), b"x") == archive.find(1)
    assert [name for name, _ in heard.events] == ["archive-write-failed"] * 8 + ["archive-answers-again"]


def test_old_days_go(archive: Down) -> None:
    """`msgx.archive.retention`: whole days past the age."""
    clock = ManualClock()
    evidence = Evidence(archive, clock, Heard())
    for _ in range(5):
        evidence.keep(1, clock.now(), b"x")
        clock.advance(timedelta(days=1))
    assert evidence.remove_expired(timedelta(days=3)) == 2
    assert len(list(archive.read())) == 3


def test_the_settings_of_a_decision_are_kept_with_it(system: System) -> None:
    """D-36: each applied message names them, the store has their text once; coverage stays what it was."""
    system.send([schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("A1"))])
    system.drain()
    digest = policy_digest(system.policy)
    assert [parse_grounds(row["COVERAGE"]).policy for row in system.store.applied(0)] == [digest] * 2
    assert system.store.pins()[f"policy.{digest}"] == policy_text(system.policy)


def test_a_text_comes_back_from_the_archive(system: System, archive: Down) -> None:
    """D-36: an operator's replay of a missing one; the trace stays with the message."""
    schedule_id, gate_id = system.send([schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("A1"))])
    key = archive.put(gate_id, system.clock.now(), flop(1, "GTDT", gate("A1")))
    system.start()
    system.pipeline.intake.scan()
    system.inbox.delete(gate_id)
    system.drain()
    assert system.fates()[gate_id] == ("DEAD", "MALFORMED", "raw-missing")
    archive.down = True
    system.store.replay_from_archive({gate_id: raw_grounds(key)}, WHO, system.clock.now())
    system.drain()
    assert system.fates()[gate_id] == ("DEAD", "MALFORMED", "raw-missing"), "an outage holds nothing up"
    archive.down = False
    (result,) = system.store.replay_from_archive({gate_id: raw_grounds(key)}, WHO, system.clock.now())
    assert result.refused is None
    system.drain()
    assert system.fates()[gate_id] == ("SUCCEEDED", None, None)
    assert list(system.document(1)["GTDT"]) == [{"GTNO": "1", "GATE": "A1"}]
    row = system.store.message(gate_id)
    assert row is not None
    assert parse_grounds(row["COVERAGE"]).raw == key
    assert schedule_id < gate_id


@pytest.fixture
def msgx(tmp_path: Path) -> Msgx:
    return ready(tmp_path)


def forget(msgx: Msgx, *ids: int) -> None:
    """The mailbox's owner cleans rows up."""
    mailbox = sqlite3.connect(msgx.folder / "data" / "mailbox.db")
    with mailbox:
        mailbox.executemany("DELETE FROM CMINMSGS WHERE CMINMSGS_ID = ?", [(i,) for i in ids])
    mailbox.close()


def test_a_folder_of_evidence_by_default(msgx: Msgx) -> None:
    """`msgx.archive.url`: the embedded set writes it; `messages show --raw` falls back to it."""
    raw = schedule("DNLD", [fltr(1)])
    (msg_id,) = put(msgx, raw)
    msgx.ok("drain")
    (path,) = (msgx.folder / "data" / "archive").rglob("*.xml.gz")
    assert gzip.decompress(path.read_bytes()) == raw
    assert msgx.ok("messages", "show", msg_id, "--raw").out.encode() == raw
    forget(msgx, msg_id)
    answer = msgx.ok("messages", "show", msg_id, "--raw")
    assert answer.out.encode() == raw
    assert "archive" in answer.err
    assert msgx.ok("messages", "show", msg_id, "--raw", "--json").json["ARCHIVE_KEY"].endswith(path.name)
    path.unlink()
    assert msgx("messages", "show", msg_id, "--raw").code == 1
    for nothing, says in ((b"", "archive-damaged"), (gzip.compress(b" "), "is empty")):
        path.write_bytes(nothing)
        answer = msgx("messages", "show", msg_id, "--raw")
        assert (answer.code, answer.out, says in answer.err) == (1, "", True), answer


def test_replay_from_archive_on_the_command_line(msgx: Msgx) -> None:
    """D-36: dry run, replay, audit; refused where nothing is missing or nothing is there."""
    ids = put(msgx, schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("A1")), flop(1, "GTDT", gate("A2")))
    archive = FsspecArchive.in_folder(msgx.folder / "data" / "archive")
    forget(msgx, ids[1], ids[2])
    store = sqlite3.connect(msgx.folder / "data" / "store.db")
    with store:
        for msg_id in ids[1:]:
            store.execute(
                "INSERT INTO PROC_STATE (MSG_ID, STATE, ENQUEUED_AT, EPOCH, UPDATED_AT) VALUES"
                " (?, 'PENDING', '2027-03-14T06:00:00.000000+00:00', 0, '2027-03-14T06:00:00.000000+00:00')",
                (msg_id,),
            )
    store.close()
    archive.put(ids[1], ManualClock().now() + timedelta(days=2241), flop(1, "GTDT", gate("A1")))
    archive.close()
    msgx.ok("drain")
    assert msgx.ok("messages", "--reason", "raw-missing", "--json").json[0]["MSG_ID"] == ids[1]
    (preview,) = msgx.ok("replay", ids[1], "--from-archive", "--dry-run", "--json").json
    assert preview["STATE"] == "SUCCEEDED"
    answer = msgx("replay", *ids, "--from-archive", "--reason", "cleaned too early", "--json")
    assert answer.code == 1
    assert [row["DONE"] for row in answer.json] == [False, True, False]
    msgx.ok("drain")
    assert msgx.ok("flights", "show", 1, "--json").json["GTDT"] == [{"GTNO": "1", "GATE": "A1"}]
    (audit,) = msgx.ok("messages", "show", ids[1], "--json").json["AUDIT"]
    assert (audit["ACTION"], audit["REASON"]) == ("replay", "cleaned too early")


def test_verify_on_the_command_line(msgx: Msgx) -> None:
    """D-36: 0 when nothing differs, 1 and each difference when something does; a range; no archive."""
    put(msgx, schedule("DNLD", [fltr(1), fltr(2)]), flop(1, "GTDT", gate("A1")))
    msgx.ok("drain")
    report = msgx.ok("verify", "--json").json
    assert (report["MESSAGES"], report["FLIGHTS"], report["DIFFERENCES"]) == (2, 2, 0)
    assert "no difference" in msgx.ok("verify", "--from", "today", "--to", "today").err
    assert msgx.ok("verify", "--from", "2099-01-01", "--json").json["MESSAGES"] == 0
    assert msgx("verify", "--from", "2027-03-15", "--to", "2027-03-14").code == 2
    assert msgx("verify", "--set", "msgx.archive.url=off").code == 1
    store = sqlite3.connect(msgx.folder / "data" / "store.db")
    with store:
        store.execute("UPDATE FLIGHT_SCHD SET CONTENT = json_set(CONTENT, '$.FLNO', 'XX9') WHERE FLID = 2")
    answer = msgx("verify", "--json")
    assert answer.code == 1
    flight = {"KIND": "flight", "TABLE": "FLIGHT_SCHD", "KEY": "2"}
    assert answer.json["FOUND"] == [{**flight, "FIELD": "FLNO", "STORED": "XX9", "COMPUTED": "QX2"}]
    with store:
        store.execute("UPDATE FLIGHT_SCHD SET CONTENT = '{', SODT_AT = CAST(x'ff' AS TEXT) WHERE FLID = 2")
    store.close()
    answer = msgx("verify", "--json")
    assert answer.code == 1
    found = {each["FIELD"]: each["STORED"] for each in answer.json["FOUND"]}
    assert found == {"CONTENT": {"UNREADABLE": "{"}, "SODT_AT": {"UNREADABLE": "\\xff"}}
    answer = msgx("verify")
    assert answer.code == 1
    assert "FLIGHT_SCHD" in answer.out
    assert msgx("flights", "show", 2).code == 1
    assert "msgx verify" in msgx("flights", "show", 2).err
