"""`kill -9` of a drain at any moment, then `drain` again: as if nothing had happened (R-447 to R-458, D-02).

Flights, versions, events, fates, rosters, reference data, alerts and mailbox marks are those of an
undisturbed run. The bus may have an event twice, never one flight's events in another order.
"""

from __future__ import annotations

import json
import random
import shutil
import time
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from first_day import FOLDER
from msgx_app.container import Container
from msgx_app.simulator import SimulationPlan, simulate
from msgx_core.model.sis import CATEGORIES
from msgx_core.ports.operations import MessageFilter
from msgx_core.rules.render import flight_document, reference_document
from processes import embedded_folder, msgx, opened, run_msgx

SIMULATED = 150
AT_ONCE = 2
# A killed process leaves its lease; the next one need not wait long for it here.
SETTINGS = '[msgx.lease]\nexpiry = "200ms"\nrenew = "60ms"\n'
PLAN = SimulationPlan(seed=7, day=date(2027, 3, 15), flights=40, first_seqn=500_000)
_FATE = ("STATE", "ERROR_CODE", "REASON", "DETAIL", "IDENTITY_KEY", "APPLY_NO", "COVERAGE")
_NOTICE = (
    "EVENT_ID",
    "FLID",
    "KIND",
    "STATE_VERSION",
    "OPERATION_DAY",
    "DAY_VERSION",
    "MSG_ID",
    "CHANGED",
    "REASON",
)


@frozen
class Prepared:
    """A folder to copy, what an undisturbed drain makes of it, and when in its life it is at work."""

    folder: Path
    expected: dict[str, Any]
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
    undisturbed = shutil.copytree(folder, folder.parent / "undisturbed") / "msgx.toml"
    began = time.monotonic()
    ended = run_msgx(undisturbed, "drain", "--json")
    took_s = time.monotonic() - began
    assert ended.code == 0, ended.err
    assert ended.json["TAKEN_IN"] == len(list(FOLDER.glob("*.xml"))) + SIMULATED
    with opened(undisturbed) as container:
        expected = everything(container)
    assert not ordered(undisturbed.parent)
    return Prepared(folder, expected, took_s - ended.json["DURATION_S"], took_s)


def everything(container: Container) -> dict[str, Any]:
    """All that must not depend on how often the process died; times and attempts may."""
    store, policy = container.store, container.pipeline.config.policy
    flights = {flight.flid: flight_document(flight, policy) for flight in store.flights(limit=10_000)}
    for document in flights.values():
        del document["UPDATED_AT"]
    return {
        "flights": flights,
        "raw": {flid: store.raw_sections(flid) for flid in flights},
        "events": {
            flid: [_picked({**row, **row["PAYLOAD"]}, _NOTICE) for row in store.flight_events(flid)]
            for flid in flights
        },
        "states to send": sorted(
            (row["FLID"], row["STATE_VERSION"], row["EVENT_ID"], row["STATUS"])
            for row in store.events(target="KAFKA:schd", limit=10_000)
        ),
        "unsent": [row["EVENT_ID"] for row in store.events(status="PENDING", limit=10_000)],
        "fates": {row["MSG_ID"]: _picked(row, _FATE) for row in store.messages(MessageFilter(limit=10_000))},
        "rosters": {roster.day: (roster.version, sorted(roster.flids)) for roster in store.rosters()},
        "reference": {
            (record.rtype, record.rkey): {**reference_document(record), "UPDATED_AT": None}
            for rtype in CATEGORIES
            for record in store.references(rtype)
        },
        "alerts": sorted(
            (row["CODE"], row.get("MSG_ID", 0), row.get("FLID", 0), row.get("DETAIL", ""))
            for row in store.alerts(acknowledged=True, limit=10_000)
        ),
        "unmarked": list(container.inbox.scan(0, 10_000)),
        "marks owed": store.counts().writeback_pending,
    }


def _picked(row: Mapping[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: row[key] for key in keys if key in row}


def ordered(folder: Path) -> list[str]:
    """What is wrong with the order of events on the bus: nothing, one hopes."""
    versions: defaultdict[str, list[int]] = defaultdict(list)
    for line in (folder / "data" / "bus" / "KAFKA_MSG.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        versions[record["key"]].append(record["value"]["STATE_VERSION"])
    return [
        f"flight {key}: {seen}"
        for key, seen in versions.items()
        if seen != sorted(seen) or set(seen) != set(range(1, max(seen) + 1))
    ]


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
    with opened(config) as container:
        found = everything(container)
    wrong = [_difference(part, found[part], prepared.expected[part]) for part in found]
    wrong += ordered(folder)
    at_work = killed and again.json["TAKEN_IN"] < len(prepared.expected["fates"])
    shutil.rmtree(folder)
    return at_work, [text for text in wrong if text]


def _difference(part: str, found: Any, expected: Any) -> str:
    if found == expected:
        return ""
    if isinstance(found, dict):
        keys = [key for key in {**found, **expected} if found.get(key) != expected.get(key)][:3]
        pairs = [f"{key}: {found.get(key)} instead of {expected.get(key)}" for key in keys]
        return f"{part}: {'; '.join(pairs)}"
    return f"{part}: {found} instead of {expected}"


def crash_often(prepared: Prepared, tmp_path: Path, times: int, chance: random.Random) -> None:
    """As many crashes as `times`, each at a random moment of a drain's work."""
    # Two at once are slower than the one that was measured: the moments are stretched a little.
    moments = [chance.uniform(prepared.starts_s, prepared.ends_s * 1.15) for _ in range(times)]

    def one(number: int) -> tuple[bool, list[str]]:
        return crash(prepared, tmp_path / f"crash-{number}", moments[number])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = list(pool.map(one, range(times)))
    wrong = {f"{moments[n]:.3f} s": problems for n, (_, problems) in enumerate(results) if problems}
    assert not wrong, f"killed after … : {wrong}"
    at_work = sum(killed for killed, _ in results)
    assert at_work >= times / 4, f"only {at_work} of {times} were killed while messages went through"


@pytest.mark.timeout(600)
def test_killed_at_twenty_moments(prepared: Prepared, tmp_path: Path) -> None:
    crash_often(prepared, tmp_path, 20, random.Random("twenty"))


@pytest.mark.deep
@pytest.mark.timeout(1800)
def test_killed_at_a_hundred_moments(prepared: Prepared, tmp_path: Path) -> None:
    crash_often(prepared, tmp_path, 100, random.Random())
