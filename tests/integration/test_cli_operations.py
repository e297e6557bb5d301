"""Looking and acting on the command line: status, replay, alerts, events, cache, simulate, terminals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import wire
from msgx_cli import Msgx, MsgxInside, environment, put


def test_replay_dry_run_shows_the_effect_and_changes_nothing(msgx: Msgx) -> None:
    first = wire.schedule("DNLD", [wire.fltr(7, STND="215")])
    wrong = wire.schedule("DNLD", [wire.fltr(7, STND="216"), wire.fltr(8)], recs=3)
    put(msgx, first, wrong)
    msgx.ok("drain")
    [flight] = msgx.ok("flights", "--json").json
    dry = msgx("replay", 1, 2, 9, "--dry-run", "--json")
    assert dry.code == 1
    assert [("REFUSED" in row, row.get("STATE")) for row in dry.json] == [
        (True, "SUCCEEDED"),
        (False, "DEAD"),
        (True, None),
    ]
    assert dry.json[1]["REASON"] == "recs-mismatch:3!=2"
    assert msgx.ok("flights", "--json").json == [flight]


def test_replay_dry_run_tells_each_field(msgx: Msgx) -> None:
    put(msgx, wire.schedule("DNLD", [wire.fltr(7, STND="215")]), wire.flop(7, "GTDT", wire.gate("B1")))
    msgx.ok("drain")
    (late,) = put(msgx, wire.flop(7, "GTDT", wire.gate("B2")))
    msgx.ok("drain", "--set", "msgx.flop.whitelist=ABTM")
    assert msgx.ok("messages", "--state", "SKIPPED", "--json").json[0]["MSG_ID"] == late
    [found] = msgx("replay", late, "--dry-run", "--json").json
    [flight] = found["FLIGHTS"]
    assert (flight["FLID"], flight["FROM_VERSION"], flight["STATE_VERSION"]) == (7, 2, 3)
    assert flight["CHANGES"] == [
        {
            "TAG": "GTDT",
            "BEFORE": [{"GTNO": "1", "GATE": "B1"}],
            "AFTER": [{"GTNO": "1", "GATE": "B2"}],
        }
    ]


def test_replay_whitelist_force_and_audit(msgx: Msgx) -> None:
    put(msgx, wire.schedule("DNLD", [wire.fltr(7)], recs=9), b"<x/>")
    msgx.ok("drain")
    answer = msgx("replay", 1, 2, "--reason", "try", "--actor", "li", "--json")
    assert answer.code == 1
    assert [row["DONE"] for row in answer.json] == [True, False]
    assert msgx.ok("replay", 2, "--reason", "sure", "--force").out == "2\tpending again\n"
    head = msgx.ok("status", "--json").json["HEAD"]
    assert (head["MSG_ID"], head["STATE"]) == (1, "PENDING")
    msgx.ok("drain")
    [audit] = msgx.ok("messages", "show", 1, "--json").json["AUDIT"]
    assert (audit["ACTION"], audit["ACTOR"], audit["REASON"]) == ("replay", "li", "try")


def test_readmit_lets_a_duplicate_in(msgx: Msgx) -> None:
    gates = [wire.flop(7, "GTDT", wire.gate(name), seqn=5) for name in ("B1", "B2")]
    put(msgx, *gates)
    msgx.ok("drain")
    assert msgx("messages", "readmit", 1, "--reason", "x", "--json").code == 1
    assert msgx.ok("messages", "readmit", 2, "--reason", "both are real", "--json").json["DONE"] is True
    msgx.ok("drain")
    assert msgx.ok("flights", "show", 7, "--json").json["GTDT"][0]["GATE"] == "B2"


def test_alerts_are_acknowledged_once(msgx: Msgx) -> None:
    put(msgx, *(wire.flop(7, "GTDT", wire.gate(name), seqn=5) for name in ("B1", "B2")))
    msgx.ok("drain")
    [alert] = msgx.ok("alerts", "--json").json
    assert alert["CODE"] == "DUPLICATE_DIFFERENT_CONTENT"
    msgx.ok("alerts", "ack", alert["ALERT_ID"], "--reason", "seen")
    assert msgx.ok("alerts", "--json").json == []
    assert "ACKED_AT" in msgx.ok("alerts", "--all", "--json").json[0]
    assert msgx("alerts", "ack", alert["ALERT_ID"], "--reason", "seen").code == 1


def test_dead_events_are_requeued_or_discarded(msgx: Msgx) -> None:
    put(msgx, wire.schedule("DNLD", [wire.fltr(7)]))
    small = ["--set", "msgx.kafka.max-message-bytes=40"]
    msgx("drain", *small)
    dead = msgx.ok("outbox", "--dead", "--json").json
    assert {row["TARGET"] for row in dead} == {"KAFKA:msg", "KAFKA:schd"}
    assert msgx.ok("outbox", "discard", 1, "--target", "schd", "--reason", "too large").code == 0
    assert [row["TARGET"] for row in msgx.ok("outbox", "--dead", "--json").json] == ["KAFKA:msg"]
    assert msgx.ok("outbox", "requeue", 1, "--reason", "larger now", "--json").json[0]["DONE"] is True
    msgx.ok("drain")
    assert msgx.ok("outbox", "--target", "msg", "--json").json[0]["STATUS"] == "SENT"
    assert msgx("outbox", "requeue", 1, "--reason", "again").code == 1
    assert msgx.ok("writeback", "resume", "--all", "--reason", "none there").err.strip()


def test_status_names_the_culprit_and_tells_the_rest(msgx: Msgx) -> None:
    msgx.ok("simulate", "--flights", "3", "--hours", "1")
    msgx.ok("drain")
    bus = msgx.folder / "data" / "bus"
    for path in bus.iterdir():
        path.unlink()
    bus.rmdir()
    bus.write_text("in the way")
    answer = msgx("status", "--json")
    assert answer.code in (3, 4)
    found = answer.json
    assert {row["SERVICE"]: row["OK"] for row in found["SERVICES"]} == {
        "store": True,
        "mailbox": True,
        "cache": True,
        "bus": False,
        "archive": True,
    }
    assert found["MESSAGES"]
    assert "the bus" in msgx("status").err
    (msgx.folder / "data" / "store.db").write_bytes(b"this is no database" * 200)
    answer = msgx("status", "--json")
    assert answer.code == 4
    assert "MESSAGES" not in answer.json
    assert [row["OK"] for row in answer.json["SERVICES"]] == [False, True, True, False, True]
    assert "store" in msgx("messages").err
    assert msgx("config", "check").code == 4


def test_config_check(msgx: Msgx) -> None:
    good = msgx.ok("config", "check", "--json").json
    assert good["PROBLEMS"] == []
    assert all(row["OK"] for row in good["SERVICES"])
    bad = msgx("config", "check", "--json", "--set", "msgx.x=1", "--set", "msgx.lease.renew=1h")
    assert bad.code == 3
    assert {row["KEY"] for row in bad.json["PROBLEMS"]} == {"msgx.x", "msgx.lease.renew"}


def test_passwords_are_not_shown(msgx: Msgx) -> None:
    secret = ["--set", "msgx.store.url=postgresql://u:swordfish@h/db"]
    for words in (["config", "show"], ["config", "show", "--json"], ["config", "check"], ["status"]):
        answer = msgx(*words, *secret)
        assert "swordfish" not in answer.out + answer.err
        assert "***" in answer.out


def test_migrate(msgx: Msgx) -> None:
    sql = msgx.ok("migrate", "--sql").out
    assert "CREATE TABLE PROC_STATE" in sql
    assert msgx.ok("migrate", "--sql", "--json").json["SQL"] == sql
    (msgx.folder / "data" / "store.db").unlink()
    answer = msgx("messages")
    assert answer.code == 3
    assert "msgx migrate" in answer.err
    msgx.ok("migrate")
    assert msgx.ok("messages", "--json").json == []


def test_cache_rebuild_and_the_lease(msgx: Msgx) -> None:
    put(msgx, wire.schedule("DNLD", [wire.fltr(7), wire.fltr(8)]))
    msgx.ok("drain")
    assert msgx.ok("cache", "rebuild", "--json").json == {"FLIGHTS": 2}
    from msgx_adapters.store_sqlite import SqliteStore

    store = SqliteStore.open(msgx.folder / "data" / "store.db")
    try:
        assert store.acquire_lease("the-other-one", 60).granted
        lease = msgx.ok("status", "--json").json["LEASE"]
        assert (lease["HOLDER"], lease["HELD"]) == ("the-other-one", True)
        answer = msgx(
            "cache", "rebuild", "--set", "msgx.lease.expiry=300ms", "--set", "msgx.lease.renew=100ms"
        )
    finally:
        store.close()
    assert answer.code == 1
    assert "the-other-one" in answer.err


def test_simulate_into_a_folder_needs_nothing_and_gives_the_same_bytes(tmp_path: Path) -> None:
    msgx = MsgxInside(tmp_path)
    for name in ("one", "two"):
        told = msgx.ok("simulate", "--flights", "8", "--seed", "3", "--into", name, "--json").json
        assert told["MESSAGES"] == len(list((tmp_path / name).iterdir()))
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert one == two
    assert msgx("simulate", "--flights", "8", "--into", "one").code == 2
    assert msgx("simulate", "--flights", "8").code == 3


def test_simulate_into_the_mailbox(msgx: Msgx) -> None:
    told = msgx.ok("simulate", "--flights", "20", "--json").json
    assert (told["FIRST_MSG_ID"], told["LAST_MSG_ID"]) == (1, told["MESSAGES"])
    assert msgx.ok("status", "--json").json["MAILBOX"]["NOT_TAKEN_IN"] == told["MESSAGES"]
    msgx.ok("drain")
    assert len(msgx.ok("messages", "--json").json) == told["MESSAGES"]


def test_ctrl_c_is_quiet_and_leaves_what_was_sent(msgx: Msgx) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "msgx_app", "simulate", "--flights", "40", "--speed", "30"],
        cwd=msgx.folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 30
    while not msgx.ok("status", "--json").json["MAILBOX"]["NOT_TAKEN_IN"] and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    told = int(err.split()[1])
    assert told == msgx.ok("status", "--json").json["MAILBOX"]["NOT_TAKEN_IN"]


@pytest.mark.parametrize("words", ["messages", "messages --json", "config show", "--help"])
def test_a_reader_that_goes_away_is_no_noise(msgx: Msgx, words: str) -> None:
    put(msgx, *(b"<x/>" for _ in range(3)))
    msgx.ok("drain")
    # The reader is gone before anything is written.
    run = subprocess.run(
        ["sh", "-c", f"(sleep 1; exec {sys.executable} -m msgx_app {words}) | true"],
        cwd=msgx.folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stderr == ""


def test_a_terminal_gets_tables_and_no_colour_means_none(msgx: Msgx) -> None:
    import pty

    put(msgx, *(b"<x/>" for _ in range(3)))
    msgx.ok("drain")
    shown = {}
    for name, extra in (("colour", {}), ("plain", {"NO_COLOR": "1"})):
        ours, theirs = pty.openpty()
        run = subprocess.Popen(
            [sys.executable, "-m", "msgx_app", "messages", "--limit", "2"],
            cwd=msgx.folder,
            env=environment(COLUMNS="150", TERM="xterm-256color", **extra),
            stdout=theirs,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.close(theirs)
        chunks = []
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:
                break
            if not chunk:
                break
            chunks.append(chunk)
        os.close(ours)
        assert run.stderr is not None
        with run.stderr as errors:
            assert "--after 2" in errors.read()
        assert run.wait(30) == 0
        shown[name] = b"".join(chunks).decode()
    assert "─" in shown["colour"]
    assert "\x1b[1;31m" in shown["colour"]
    assert "\x1b[1;31m" not in shown["plain"]


def test_json_is_json_on_every_list(msgx: Msgx) -> None:
    msgx.ok("simulate", "--flights", "10")
    msgx.ok("drain")
    lists = ["messages", "flights", "ref ARPT", "resources", "snapshots", "alerts", "outbox", "writeback"]
    for words in [*lists, "config show"]:
        rows = msgx.ok(*words.split(), "--json").json
        assert isinstance(rows, list)
        assert all(isinstance(row, dict) and None not in row.values() for row in rows)
        assert all(key == key.upper() for row in rows for key in row)
    assert json.loads(msgx.ok("status", "--json").out)["AT"].endswith("Z")
