"""`msgx sweep`, `msgx retention` and the daemon's jobs, from outside (D-33, D-34, IMP §9.3)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from first_day import FOLDER
from msgx_app.container import open_container
from msgx_app.daemon.serving import serve
from msgx_app.settings import load_settings
from msgx_cli import Msgx, put, ready
from msgx_core.ports import Store
from msgx_core.testing.clock import ManualClock
from services.base import wait_until
from wire import fltr, schedule

OLD = "01JAN210805"


@pytest.fixture
def msgx(tmp_path: Path) -> Msgx:
    """An embedded installation with a history folder."""
    made = ready(tmp_path)
    config = tmp_path / "msgx.toml"
    config.write_text(config.read_text() + '\n[msgx.history]\nurl = "file:data/history"\n')
    return made


def history(msgx: Msgx) -> dict[int, dict[str, object]]:
    files = sorted((msgx.folder / "data" / "history").glob("*.jsonl"))
    lines = [json.loads(line) for path in files for line in path.read_text().splitlines()]
    return {line["FLID"]: line for line in lines}


@contextmanager
def store_of(msgx: Msgx) -> Iterator[Store]:
    settings = load_settings(msgx.folder / "msgx.toml", {}, {}).settings
    with open_container(settings) as container:
        yield container.store


def test_a_sweep_moves_ended_flights(msgx: Msgx) -> None:
    """R-389: they are in history, and gone here; `msgx outbox` has the tombstone."""
    put(msgx, schedule("DNLD", [fltr(1, OLD), fltr(2, OLD), fltr(3, "01JAN990805")]))
    msgx.ok("drain")
    answer = msgx.ok("sweep", "--json").json
    assert (answer["SEEN"], answer["ENDED"], answer["ARCHIVED"]) == (3, 2, 2)
    assert history(msgx).keys() == {1, 2}
    assert [row["FLID"] for row in msgx.ok("flights", "--json").json] == [3]
    assert msgx("flights", "show", 1).code == 1
    pending = msgx.ok("outbox", "--json").json
    assert [row["FLID"] for row in pending if row["STATUS"] == "PENDING"] == [1, 2]
    assert "archived" in msgx.ok("sweep").out


def test_a_sweep_needs_a_history_store(tmp_path: Path) -> None:
    """R-391: refused, and says why."""
    answer = ready(tmp_path)("sweep")
    assert answer.code == 1
    assert "msgx.history.url is not set" in answer.err


def test_a_sweep_beside_a_holder_names_it(msgx: Msgx) -> None:
    """D-34: exit 1; nothing is removed."""
    put(msgx, schedule("DNLD", [fltr(1, OLD)]))
    msgx.ok("drain")
    with store_of(msgx) as store:
        assert store.acquire_lease("the-daemon", 60.0).granted
        answer = msgx("sweep", MSGX_LEASE_EXPIRY="200ms", MSGX_LEASE_RENEW="100ms")
    assert answer.code == 1
    assert "the-daemon" in answer.err
    assert not history(msgx)


def test_history_that_does_not_answer_is_an_outage(msgx: Msgx) -> None:
    """R-395: exit 4; `config check` says it too, and that the setting has an effect."""
    put(msgx, schedule("DNLD", [fltr(1, OLD)]))
    msgx.ok("drain")
    assert "without effect" not in msgx.ok("config", "check").out
    down: dict[str, Any] = {
        "MSGX_HISTORY_URL": "elasticsearch://127.0.0.1:9/flights",
        "MSGX_TIMEOUTS_HISTORY": "300ms",
    }
    answer = msgx("sweep", **down)
    assert (answer.code, "history" in answer.err) == (4, True)
    assert len(msgx.ok("flights", "--json").json) == 1
    assert msgx("config", "check", **down).code == 4


def test_retention_says_first_and_removes_then(msgx: Msgx) -> None:
    """R-401 to R-407: dry run, by object and reason; nothing went until then."""
    msgx.ok("send", *sorted(FOLDER.glob("*.xml")))
    msgx.ok("drain")
    before = len(msgx.ok("messages", "--json").json)
    short = {f"MSGX_PIPELINE_{name}_RETENTION": "1ms" for name in ("EVENT", "PROC", "SNAP_LOG", "REQUEST")}
    found = msgx.ok("retention", "--dry-run", "--json", **short).json
    assert found["PROC_STATE"] == {"go": before}
    assert found["MSG_EVENT"]["go"] > 0
    text = msgx.ok("retention", "--dry-run", **short).out
    assert f"{before} would go" in text
    assert "msgx.pipeline.ledger-retention is off" in text
    assert len(msgx.ok("messages", "--json").json) == before
    removed = msgx.ok("retention", "--json", **short).json
    assert (removed["PROC_STATE"], removed["MSG_EVENT"]) == (before, found["MSG_EVENT"]["go"])
    assert msgx.ok("messages", "--json").json == []
    assert len(msgx.ok("flights", "--json").json) > 0
    assert msgx.ok("retention", "--json").json["PROC_STATE"] == 0


def test_a_dry_run_tells_of_every_object(msgx: Msgx) -> None:
    """R-399, R-403: history store and archive too; what is kept, and why; and it is what goes."""
    put(msgx, schedule("DNLD", [fltr(1, OLD), fltr(2, OLD)]))
    msgx.ok("request", "ref", "GLST", "--reason", "x")
    msgx.ok("request", "ref", "GLST", "--reason", "replaced")
    msgx.ok("drain")
    msgx.ok("sweep")
    short = {"MSGX_HISTORY_RETENTION": "1d", "MSGX_PIPELINE_REQUEST_RETENTION": "1ms"}
    old = msgx.folder / "data" / "archive" / "2020" / "01" / "02"
    old.mkdir(parents=True)
    (old / "00000000009.xml.gz").write_bytes(b"old")
    found = msgx.ok("retention", "--dry-run", "--json", **short).json
    assert (found["HISTORY"], found["ARCHIVE"]) == ({"go": 2}, {"go": 1})
    assert found["REQ_TRACK"] == {"go": 0, "open": 1, "late": 1}
    assert found["SCHD_GEN"] == {"kept": "msgx.pipeline.ledger-retention is off"}
    text = msgx.ok("retention", "--dry-run", **short).out
    assert "1 stay: an answer may still come within msgx.requests.late-window" in text
    assert "HISTORY\t2 would go" in text
    assert (len(history(msgx)), old.exists()) == (2, True)
    removed = msgx.ok("retention", "--json", **short).json
    assert (removed["HISTORY"], removed["ARCHIVE"], removed["REQ_TRACK"]) == (2, 1, 0)
    off = msgx.ok("retention", "--dry-run", "--json", MSGX_ARCHIVE_URL="off").json
    assert off["ARCHIVE"] == {"kept": "msgx.archive.url is off"}
    assert off["HISTORY"] == {"kept": "msgx.history.retention is off"}


def test_a_dry_run_says_what_it_cannot_count(msgx: Msgx) -> None:
    """R-395: the history store does not answer: exit 4, and the rest is told."""
    down: dict[str, Any] = {
        "MSGX_HISTORY_URL": "elasticsearch://127.0.0.1:9/flights",
        "MSGX_HISTORY_RETENTION": "1d",
        "MSGX_TIMEOUTS_HISTORY": "300ms",
    }
    answer = msgx("retention", "--dry-run", "--json", **down)
    assert answer.code == 4
    assert answer.json["HISTORY"]["unknown"].startswith("history does not answer: ")
    assert answer.json["MSG_EVENT"] == {"go": 0}


def test_retention_of_what_is_owed(msgx: Msgx) -> None:
    """R-406: what is not written back stays, and the dry run says so."""
    put(msgx, schedule("DNLD", [fltr(1)]))
    msgx.ok("drain", MSGX_MAILBOX_WRITE_ENABLED="false")
    text = msgx.ok("retention", "--dry-run", MSGX_PIPELINE_PROC_RETENTION="1ms").out
    assert "1 stay: not written back to the mailbox" in text


def test_the_daemon_does_both(msgx: Msgx) -> None:
    """R-394: its own loops; the pump goes on."""
    put(msgx, schedule("DNLD", [fltr(1, OLD)]))
    msgx.ok("drain")
    settings = load_settings(msgx.folder / "msgx.toml", {}, {}).settings
    settings = evolve(settings, pipeline=evolve(settings.pipeline, proc_retention=timedelta(days=1)))
    stop = threading.Event()
    clock = ManualClock()
    with open_container(settings) as real:
        clock.set(real.clock.now() + timedelta(days=2))
    with open_container(settings, clock=clock) as container:
        thread = threading.Thread(target=serve, args=(container, stop), kwargs={"holder": "test"})
        thread.start()
        try:
            wait_until(lambda: not container.store.flights(), "the flight has not left", 10)
            wait_until(lambda: not container.store.counts().messages, "the message has not left", 10)
        finally:
            stop.set()
            thread.join(20)
    assert history(msgx).keys() == {1}


def test_the_daemon_goes_on_while_history_is_down(msgx: Msgx) -> None:
    """R-394, D-04: one alert names the service; messages are processed, nothing is removed."""
    put(msgx, schedule("DNLD", [fltr(1, OLD)]))
    msgx.ok("drain")
    down = {"MSGX_HISTORY_URL": "elasticsearch://127.0.0.1:9/flights"}
    settings = load_settings(msgx.folder / "msgx.toml", down, {}).settings
    stop = threading.Event()
    later = ManualClock()
    with open_container(settings) as real:
        later.set(real.clock.now() + timedelta(days=2))
    with open_container(settings, clock=later) as container:
        thread = threading.Thread(target=serve, args=(container, stop), kwargs={"holder": "test"})
        thread.start()
        try:
            wait_until(lambda: bool(container.store.alerts()), "no alert", 10)
            container.inbox.send(schedule("DNLD", [fltr(2, OLD)]))
            wait_until(lambda: container.store.flight(2) is not None, "the message waits", 10)
        finally:
            stop.set()
            thread.join(20)
        (alert,) = container.store.alerts()
        assert (alert["CODE"], "history" in alert["DETAIL"]) == ("OUTAGE", True)
        assert [state.flid for state in container.store.flights()] == [1, 2]
