"""`kill -9` of a drain at any moment, then `drain` again: as if nothing had happened (R-447 to R-458, D-02).

The files of the embedded set under real traffic, killed between any two instructions and not at boundaries
alone. Every table, the mailbox and the bus are those of an undisturbed run.
"""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from crashing.state import Sent, State, bus, difference, tables
from first_day import FOLDER
from msgx_app.simulator import SimulationPlan, simulate
from processes import embedded_folder, msgx, opened, run_msgx

SIMULATED = 150
AT_ONCE = 2
# A killed process leaves its lease; the next one need not wait long for it here.
SETTINGS = '[msgx.lease]\nexpiry = "200ms"\nrenew = "60ms"\n'
PLAN = SimulationPlan(seed=7, day=date(2027, 3, 15), flights=40, first_seqn=500_000)
TOPICS = ("KAFKA_MSG", "KAFKA_SCHD")


@frozen
class Prepared:
    """A folder to copy, what an undisturbed drain makes of it, and when in its life it is at work."""

    folder: Path
    expected: State
    messages: int
    starts_s: float
    ends_s: float


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """The sample day and a stretch of simulated traffic in a mailbox, drained once without disturbance."""
    folder = tmp_path_factory.mktemp("crash") / "prepared"
    config = embedded_folder(folder, SETTINGS)
    with opened(config) as container:
        for path in sorted(FOLDER.glob("*.xml")):
            container.inbox.send(path.read_bytes())
        for message in islice(simulate(PLAN), SIMULATED):
            container.inbox.send(message.raw)
    undisturbed = shutil.copytree(folder, folder.parent / "undisturbed")
    began = time.monotonic()
    ended = run_msgx(undisturbed / "msgx.toml", "drain", "--json")
    took_s = time.monotonic() - began
    assert ended.code == 0, ended.err
    messages = len(list(FOLDER.glob("*.xml"))) + SIMULATED
    assert ended.json["TAKEN_IN"] == messages
    expected = everything(undisturbed)
    assert len(expected["store"]["PROC_STATE"]) == messages
    assert not expected["bus"]["went back"]
    return Prepared(folder, expected, messages, took_s - ended.json["DURATION_S"], took_s)


def everything(folder: Path) -> State:
    """What is left in a folder, read by clients that are not ours."""
    data = folder / "data"
    mailbox = _rows(data / "mailbox.db", "CMINMSGS")
    return {
        "store": tables({name: _rows(data / "store.db", name) for name in _tables(data / "store.db")}),
        "mailbox": {row["CMINMSGS_ID"]: row["CMINMSGS_DATE_PROCESSED"] is not None for row in mailbox},
        "bus": bus(record for topic in TOPICS for record in _sent(data / "bus", topic)),
    }


def _tables(path: Path) -> list[str]:
    names = _select(path, "SELECT NAME FROM sqlite_master WHERE TYPE = 'table'")
    return [row["name"] for row in names if not row["name"].startswith("sqlite_")]


def _rows(path: Path, table: str) -> list[dict[str, Any]]:
    return _select(path, f"SELECT * FROM {table}")


def _select(path: Path, sql: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(sql)]


def _sent(folder: Path, topic: str) -> list[Sent]:
    lines = (folder / f"{topic}.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [Sent(topic, record.get("key"), record["value"]) for record in records]


def crash(prepared: Prepared, folder: Path, after_s: float) -> tuple[bool, list[str]]:
    """Kill a drain after that time and drain again; whether it was killed at work, and what is wrong."""
    config = shutil.copytree(prepared.folder, folder) / "msgx.toml"
    process = msgx(config, "drain", "--json")
    time.sleep(after_s)
    process.kill()
    process.communicate(timeout=30)
    killed = process.returncode != 0
    again = run_msgx(config, "drain", "--json")
    if again.code != 0:
        return killed, [f"the second drain exits with {again.code}: {again.err} {again.out}"]
    wrong = difference(everything(folder), prepared.expected)
    at_work = killed and again.json["TAKEN_IN"] < prepared.messages
    shutil.rmtree(folder)
    return at_work, wrong


def crash_often(
    prepared: Prepared, tmp_path: Path, times: int, chance: random.Random, tell: Callable[[str], None]
) -> None:
    """As many crashes as `times`, each at a random moment of a drain's work."""
    # Two at once are slower than the one that was measured: the moments are stretched a little.
    moments = [chance.uniform(prepared.starts_s, prepared.ends_s * 1.15) for _ in range(times)]

    def one(number: int) -> tuple[bool, list[str]]:
        tell(f"{number} of {times} moments")
        return crash(prepared, tmp_path / f"crash-{number}", moments[number])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(one, range(times)))
    wrong = {f"{moments[n]:.3f} s": problems for n, (_, problems) in enumerate(results) if problems}
    assert not wrong, f"killed after … : {wrong}"
    at_work = sum(killed for killed, _ in results)
    assert at_work >= times / 4, f"only {at_work} of {times} were killed while messages went through"


@pytest.mark.timeout(600)
def test_killed_at_twenty_moments(
    prepared: Prepared, tmp_path: Path, progress: Callable[[str], None]
) -> None:
    crash_often(prepared, tmp_path, 20, random.Random("twenty"), progress)


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_killed_at_a_hundred_moments(
    prepared: Prepared, tmp_path: Path, progress: Callable[[str], None]
) -> None:
    crash_often(prepared, tmp_path, 100, random.Random(), progress)
