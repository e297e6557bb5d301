"""The demonstration, as `make demo` runs it, and its board at any size."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import httpx
import pytest

import msgx_app
from msgx_app.demo.feed import Feeder
from msgx_app.demo.look import Look, Watcher
from msgx_app.demo.view import Board
from msgx_app.simulator import SimulationPlan, simulate
from processes import Served, memory_settings, opened, run_msgx, served, wait_for

PLAN = SimulationPlan(seed=3, day=date(2027, 3, 14), flights=40)


def demo(folder: Path, *args: str) -> subprocess.Popen[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(msgx_app.__file__).parents[1])}
    return subprocess.Popen(
        [sys.executable, "-m", "msgx_app.demo", "--dir", str(folder), "--flights", "40", *args],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )


def test_once_drains_a_day_and_says_what_it_did(tmp_path: Path) -> None:
    for run in ("run-1", "run-2"):
        process = demo(tmp_path / "demo", "--once", "--day", "2027-03-14")
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert f"{run}/msgx.toml" in out
        for word in (
            "SUCCEEDED",
            "DEAD",
            "not-well-formed",
            "code shares",
            "categories",
            "KAFKA:msg",
            "alerts",
        ):
            assert word in out
    config = tmp_path / "demo" / "run-1" / "msgx.toml"
    with opened(config) as container:
        assert container.inbox.scan(0, 10) == []
        assert container.store.counts().writeback_pending == 0
        assert container.store.lease().holder is None
    assert run_msgx(config, "drain").code == 0


def test_live_stays_with_its_console_when_the_day_is_over(tmp_path: Path) -> None:
    """Whoever looks at the day in a browser is not shut out; the last line says how it ends."""
    process = demo(tmp_path, "--speed", "100000", "--day", "2027-03-14", "--http", "127.0.0.1:0")
    try:
        assert process.stdout is not None
        last = next(line for line in process.stdout if line.startswith("the day is over"))
        assert last.endswith("until Ctrl-C\n")
        found = re.search(r"http://[\d.:]+/console", last)
        assert found is not None
        time.sleep(1.0)
        assert process.poll() is None
        assert httpx.get(found[0], trust_env=False, timeout=20.0).status_code == 200
    finally:
        process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert "Look around:" in out


def test_live_shows_lines_without_a_terminal_and_without_a_console_ends_with_the_day(tmp_path: Path) -> None:
    process = demo(tmp_path, "--speed", "100000", "--day", "2027-03-14", "--http", "off")
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "at the airport: sent" in out
    assert "Look around:" in out


def test_interrupted_it_leaves_everything_on_disk(tmp_path: Path) -> None:
    process = demo(tmp_path, "--speed", "100", "--day", "2027-03-14")
    store = tmp_path / "run-1" / "data" / "store.db"
    wait_for("a store", store.exists)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=15)
    assert process.returncode == 0, err
    assert "Look around:" in out
    assert run_msgx(tmp_path / "run-1" / "msgx.toml", "drain").code == 0


def looked(daemon: Served, upto: int) -> Look:
    """The look after so many messages of the day."""
    container = daemon.container
    feeder = Feeder(list(simulate(PLAN))[:upto], container.inbox, 0.0)
    watcher = Watcher(container, PLAN, feeder, daemon.monitor)
    daemon.start()
    feeder.start()
    wait_for("the messages", lambda: feeder.over.is_set() and watcher.look().all_done, within_s=30)
    feeder.stop()
    return watcher.look()


@pytest.mark.parametrize("upto", [0, 30, 200, 1000])
def test_board_fits_any_terminal(upto: int) -> None:
    from rich.console import Console

    with served(memory_settings(**{"msgx.flop.whitelist": "extended"})) as daemon:
        look = looked(daemon, upto)
    for width, height in ((100, 30), (80, 24), (200, 60), (60, 15), (40, 10)):
        console = Console(
            file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None
        )
        with console.capture() as captured:
            console.print(Board(look, title="msgx demo"))
        lines = captured.get().splitlines()
        assert len(lines) <= height
        assert "Flights" in captured.get()
    assert look.finished == look.total
