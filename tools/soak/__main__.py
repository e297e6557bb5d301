"""`make soak MINUTES=10`: a stream of messages, two daemons, random faults, and what must hold in the end.

Exit status: 0 when everything holds, 1 when something does not, 2 when a server cannot be had.
"""

from __future__ import annotations

import argparse
import random
import secrets
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from attrs import define, field
from mysql.connector import Error as MysqlError
from mysql.connector.connection import MySQLConnection

from services import mysql
from services.base import NotHere
from soak import checks
from soak.bench import SCHEMA, Bench, bench
from soak.crew import Crew
from soak.faults import FAULTS, Place, Trouble
from soak.traffic import Outcome, messages, outcome, undisturbed

PER_SECOND = 8.0
_INSERT = """
    INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (%s, %s, NOW())
"""
SETTLE_S = 180.0
FAULTS_PER_MINUTE = 5


@define
class Feeder:
    """Upstream: one row after the other, in the order of their ids, waiting while the mailbox is away."""

    url: str
    raws: Sequence[bytes]
    per_second: float
    sent: int = 0
    hurry: threading.Event = field(factory=threading.Event)
    _owner: MySQLConnection | None = None

    def run(self) -> None:
        """All of them; a row whose fate is not known is looked for before it is sent again."""
        for raw in self.raws:
            while not self._send(raw):
                time.sleep(0.2)
            self.sent += 1
            self.hurry.wait(1.0 / self.per_second)

    def _send(self, raw: bytes) -> bool:
        msg_id = self.sent + 1
        try:
            self._owner = mysql.connect(self.url) if self._owner is None else self._owner
            with closing(self._owner.cursor()) as cursor:
                cursor.execute("SELECT COUNT(*) FROM CMINMSGS WHERE CMINMSGS_ID = %s", (msg_id,))
                if cursor.fetchall() == [(0,)]:
                    cursor.execute(_INSERT, (msg_id, raw.decode("utf-8")))
        except (MysqlError, OSError, AttributeError):
            self._owner = None
            return False
        return True


def soak(
    place: Bench, raws: Sequence[bytes], seconds: float, chance: random.Random, names: tuple[str, ...]
) -> tuple[Trouble, dict[str, list[str]]]:
    """Run the traffic and the trouble, heal, and wait until nothing is left to do; what did not come."""
    crew = Crew.of(place)
    try:
        return _run(place, crew, raws, seconds, chance, names)
    finally:
        crew.kill()


def _run(
    place: Bench,
    crew: Crew,
    raws: Sequence[bytes],
    seconds: float,
    chance: random.Random,
    names: tuple[str, ...],
) -> tuple[Trouble, dict[str, list[str]]]:
    crew.start()
    feeder = Feeder(place.mailbox.url, raws, len(raws) / max(1.0, seconds * 0.9))
    upstream = threading.Thread(target=feeder.run, name="upstream", daemon=True)
    trouble = Trouble(Place(place, crew, chance), names, (1.0, 6.0))
    stopping = threading.Event()
    troubled = threading.Thread(target=trouble.run, args=(stopping,), name="trouble", daemon=True)
    upstream.start()
    troubled.start()
    told_at = began = time.monotonic()
    while time.monotonic() - began < seconds:
        time.sleep(0.5)
        if time.monotonic() - told_at > 30:
            told_at = time.monotonic()
            print(
                f"  {told_at - began:5.0f} s: {feeder.sent} sent, {len(trouble.injected)} faults", flush=True
            )
    stopping.set()
    feeder.hurry.set()
    troubled.join(120)
    crew.start()
    upstream.join(120)
    done = _within(SETTLE_S, lambda: feeder.sent == len(raws) and place.idle())
    place.bus.settle()
    return trouble, {
        "nothing is left to do": [] if done else [f"after {SETTLE_S:.0f} s there still was"],
        "the daemons end in order": crew.end(),
    }


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


def verdict(place: Bench, expected: Outcome) -> dict[str, list[str]]:
    """Every check by its name, with what is wrong."""
    from msgx_adapters.store_postgres import PostgresStore

    store = PostgresStore.open(place.postgres.url, schema=SCHEMA)
    try:
        found = outcome(store)
    finally:
        store.close()
    events = place.rows("SELECT TARGET, EVENT_ID, STATUS, STATE_VERSION FROM MSG_EVENT")
    notices = {e["EVENT_ID"]: e["STATE_VERSION"] for e in events if e["TARGET"] == "KAFKA:msg"}
    return {
        "every message has ended": checks.all_terminal(found),
        "all is as in an undisturbed run": checks.as_undisturbed(found, expected),
        "first in, first out, each once": checks.first_in_first_out(found),
        "event ids are consecutive": checks.consecutive(list(notices)),
        "every event is sent": checks.all_sent(events),
        "bus order per flight, nothing lost": checks.bus_order(place.bus.records["KAFKA_MSG"], notices),
        "consumers end with the store": checks.consumers_agree(
            place.bus.records["KAFKA_SCHD"], found.documents
        ),
        "the cache equals the store": checks.cache_equals_store(place.cached(), found.documents),
        "every row is marked": checks.all_marked(place.marks()),
        "every outage has its end": checks.outages_ended(place.rows("SELECT * FROM OPS_ALERT")),
    }


def enough(trouble: Trouble, minutes: float) -> list[str]:
    """A soak in which little happened shows little."""
    happened = sum(fault.problem is None for fault in trouble.injected)
    wanted = int(minutes * FAULTS_PER_MINUTE)
    return [] if happened >= wanted else [f"{happened} faults in {minutes:g} minutes; at least {wanted}"]


def report(place: Bench, trouble: Trouble, wrong: dict[str, list[str]]) -> None:
    """What was done and what came of it."""
    counted = Counter(fault.name for fault in trouble.injected)
    print(f"\nfaults: {len(trouble.injected)}")
    for name in sorted(counted):
        lasted = sum(fault.lasted_s for fault in trouble.injected if fault.name == name)
        print(f"  {counted[name]:3} {name:26} {lasted:6.1f} s")
    for fault in trouble.injected:
        if fault.problem:
            print(f"  {fault.name} at {fault.at_s:.0f} s: {fault.problem[:200]}")
    epochs = place.rows("SELECT EPOCH FROM PIPELINE_LOCK")[0]["EPOCH"]
    attempts = place.rows("SELECT COUNT(*) AS N FROM PROC_STATE WHERE ATTEMPTS > 0")[0]["N"]
    alerts = Counter(row["CODE"] for row in place.rows("SELECT CODE FROM OPS_ALERT"))
    sent = {topic: len(records) for topic, records in place.bus.records.items()}
    print(f"holders: {epochs}, messages with a counted attempt: {attempts}")
    print(f"alerts: {', '.join(f'{code} {n}' for code, n in sorted(alerts.items()))}")
    print(f"records on the bus: {', '.join(f'{topic} {n}' for topic, n in sent.items())}\n")
    for name, problems in wrong.items():
        print(f"{'FAILED' if problems else 'holds':7} {name}")
        for problem in problems:
            print(f"        {problem}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a soak."""
    parser = argparse.ArgumentParser(prog="soak", description=__doc__.partition("\n")[0])
    parser.add_argument("minutes", type=float, nargs="?", default=1.0)
    parser.add_argument(
        "--seed", type=int, default=None, help="the same messages and the same order of faults"
    )
    parser.add_argument("--only", nargs="*", default=(), metavar="FAULT", help=f"of {' '.join(FAULTS)}")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the daemons' logs")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.only if name not in FAULTS]
    if unknown:
        parser.error(f"no such fault: {' '.join(unknown)}")
    seed = secrets.randbelow(10**6) if chosen.seed is None else chosen.seed
    seconds = chosen.minutes * 60
    print(f"seed {seed}: again with --seed {seed}", flush=True)
    raws = messages(seed, max(40, int(seconds * PER_SECOND)))
    expected = undisturbed(raws)
    print(f"{len(raws)} messages, {len(expected.documents)} flights, {chosen.minutes:g} minutes", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="msgx-soak-"))
    try:
        with bench(folder) as place:
            chance = random.Random(seed)
            trouble, left = soak(place, raws, seconds, chance, tuple(chosen.only) or tuple(FAULTS))
            wrong = {
                "enough went wrong": enough(trouble, chosen.minutes),
                **left,
                **verdict(place, expected),
            }
            report(place, trouble, wrong)
    except (NotHere, pytest.skip.Exception) as why:
        print(f"a server is missing: {why}", file=sys.stderr)
        return 2
    failed = any(wrong.values())
    if failed or chosen.keep:
        print(f"logs: {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    print("clean" if not failed else f"not clean; seed {seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
