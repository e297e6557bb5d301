"""`msgx run` and `msgx drain` as processes: signals, standby, takeover, what is said and the exit codes."""

from __future__ import annotations

import json
import re
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from msgx_core.ports.operations import MessageFilter
from processes import embedded_folder, msgx, opened, run_msgx, wait_for
from wire import fltr, schedule


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return embedded_folder(tmp_path / "airport")


@pytest.fixture
def start(config: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts daemons; whatever still runs at the end is killed."""
    running: list[subprocess.Popen[str]] = []

    def begin() -> subprocess.Popen[str]:
        log = config.parent / "new.log"
        with log.open("w", encoding="utf-8") as file:
            running.append(msgx(config, "run", log=file))
        log.rename(log_of(config, running[-1]))
        return running[-1]

    yield begin
    for process in running:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)


def send(config: Path, *raws: bytes) -> None:
    with opened(config) as container:
        for raw in raws:
            container.inbox.send(raw)


def lease_holder(config: Path) -> str | None:
    with opened(config) as container:
        return container.store.lease().holder


def fates(config: Path) -> list[str]:
    with opened(config) as container:
        return [str(row["STATE"]) for row in container.store.messages(MessageFilter(limit=1000))]


def log_of(config: Path, process: subprocess.Popen[str]) -> Path:
    return config.parent / f"{process.pid}.log"


def events_of(config: Path, process: subprocess.Popen[str]) -> list[str]:
    """The log lines of a daemon so far."""
    lines = log_of(config, process).read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line)["event"] for line in lines if line.endswith("\n")]


def wait_for_standby(config: Path, process: subprocess.Popen[str]) -> None:
    wait_for("the standby", lambda: "standby" in events_of(config, process))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_ends_it_clean_in_time(
    config: Path, start: Callable[[], subprocess.Popen[str]], number: signal.Signals
) -> None:
    process = start()
    send(config, schedule("DNLD", [fltr(1)]))
    wait_for("the message", lambda: fates(config) == ["SUCCEEDED"])
    process.send_signal(number)
    started = time.monotonic()
    assert process.wait(timeout=10) == 0
    assert time.monotonic() - started < 5
    assert lease_holder(config) is None
    events = events_of(config, process)
    assert events[0] == "lease-taken"
    assert events[-2:] == ["lease-released", "stopped"]


def test_standby_takes_over_after_kill_and_nothing_is_lost(
    config: Path, start: Callable[[], subprocess.Popen[str]]
) -> None:
    first = start()
    wait_for("the first one's lease", lambda: str(first.pid) in (lease_holder(config) or ""))
    second = start()
    wait_for_standby(config, second)
    time.sleep(1.0)
    assert str(first.pid) in (lease_holder(config) or "")
    first.kill()
    killed = time.monotonic()
    send(config, schedule("DNLD", [fltr(1)]))
    wait_for("the message", lambda: fates(config) == ["SUCCEEDED"], within_s=6)
    assert time.monotonic() - killed < 5.5
    assert str(second.pid) in (lease_holder(config) or "")
    second.terminate()
    assert second.wait(timeout=10) == 0
    assert events_of(config, second)[:2] == ["standby", "lease-taken"]


def test_stop_in_standby(config: Path, start: Callable[[], subprocess.Popen[str]]) -> None:
    first = start()
    wait_for("the lease", lambda: lease_holder(config))
    second = start()
    wait_for_standby(config, second)
    second.terminate()
    assert second.wait(timeout=10) == 0
    assert str(first.pid) in (lease_holder(config) or "")


def test_drain_beside_a_daemon_names_the_holder(
    config: Path, start: Callable[[], subprocess.Popen[str]]
) -> None:
    daemon = start()
    wait_for("the lease", lambda: lease_holder(config))
    ended = run_msgx(config, "drain", "--set", "msgx.lease.expiry=2s")
    assert ended.code == 1
    assert re.search(rf":{daemon.pid}:run:\w+ holds the lease", ended.err)


def test_drain_says_what_it_did(config: Path) -> None:
    send(config, schedule("DNLD", [fltr(1), fltr(2)]), b"<no/>", b"")
    ended = run_msgx(config, "drain", "--json")
    assert ended.code == 0, ended.err
    said = ended.json
    assert said.pop("DURATION_S") > 0
    assert said == {
        "TAKEN_IN": 3,
        "FINISHED": {"DEAD": 2, "SUCCEEDED": 1},
        "WRITTEN_BACK": 3,
        "EVENTS_SENT": 4,
        "STOPPED": False,
        "WRITEBACKS_LEFT": 0,
        "EVENTS_LEFT": 0,
    }
    again = run_msgx(config, "drain")
    assert again.code == 0
    assert "taken in\t0" in again.out


def test_drain_of_a_shadow_does_not_wait_for_write_back(config: Path) -> None:
    send(config, schedule("DNLD", [fltr(1)]))
    ended = run_msgx(config, "drain", "--json", "--set", "msgx.mailbox.write-enabled=false")
    assert (ended.code, ended.json["WRITTEN_BACK"], ended.json["FINISHED"]) == (0, 0, {"SUCCEEDED": 1})
    assert run_msgx(config, "drain", "--json").json["WRITTEN_BACK"] == 1


def test_drain_names_the_head_that_waits(config: Path) -> None:
    send(config, schedule("DNLD", [fltr(1)]))
    with opened(config) as container:
        container.pipeline.start("test")
        container.pipeline.intake.scan()
        at = container.clock.now()
        until = at.replace(year=at.year + 1)
        container.store.fail(1, "INFRA", "cache-rejected", "OOM", until, at)
        container.store.release_lease()
    ended = run_msgx(config, "drain", "--json")
    assert ended.code == 1
    waiting = ended.json["WAITING"]
    assert (waiting["MSG_ID"], waiting["ERROR_CODE"], waiting["REASON"]) == (1, "INFRA", "cache-rejected")
    assert waiting["NEXT_ATTEMPT_AT"].startswith(str(until.year))
    said = run_msgx(config, "drain")
    assert said.code == 1
    assert f"message 1 waits until {until.year}" in said.err
    assert "INFRA cache-rejected (OOM)" in said.err


def test_drain_names_the_service_that_does_not_answer(config: Path) -> None:
    """Another process keeps the mailbox locked for longer than we wait."""
    send(config, schedule("DNLD", [fltr(1)]))
    owner = sqlite3.connect(config.parent / "data" / "mailbox.db", isolation_level=None)
    try:
        owner.execute("BEGIN IMMEDIATE")
        ended = run_msgx(config, "drain", "--set", "msgx.timeouts.mailbox=200ms")
    finally:
        owner.close()
    assert ended.code == 4
    assert "the mailbox cannot be used" in ended.err
    assert run_msgx(config, "drain").code == 0


def test_drain_stops_between_steps_when_asked(config: Path) -> None:
    send(config, *(schedule("DNLD", [fltr(n) for n in range(1, 50)]) for _ in range(80)))
    process = msgx(config, "drain", "--json")
    wait_for("the first messages", lambda: len(fates(config)) > 0)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 130, err
    assert json.loads(out)["STOPPED"] is True
    assert lease_holder(config) is None
    assert run_msgx(config, "drain").code == 0
    assert fates(config) == ["SUCCEEDED"] * 80


def test_missing_store_is_a_matter_of_configuration(tmp_path: Path) -> None:
    config = tmp_path / "msgx.toml"
    config.write_text('[msgx.airport]\ncode = "KMG"\n')
    for command in ("run", "drain"):
        ended = run_msgx(config, command)
        assert ended.code == 3, ended.err
        assert "msgx init" in ended.err
