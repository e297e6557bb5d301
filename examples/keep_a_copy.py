"""Keeps a correct copy of the flights from the two topics, however often and in whatever order events come.

Run it on the bus of an embedded installation, again and again; it goes on where it ended:

    python examples/keep_a_copy.py msgx-demo/run-1/data/bus copy.db

On Kafka only `read` differs: a consumer of both topics that commits its offsets after `Copy.take`.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from msgx_core import Held, flights_in, take_flight, take_notice

TABLES = """
CREATE TABLE IF NOT EXISTS FLIGHT (FLID INTEGER PRIMARY KEY, VERSION INTEGER NOT NULL, STATE TEXT);
CREATE TABLE IF NOT EXISTS PLACE (TOPIC TEXT PRIMARY KEY, OFFSET INTEGER NOT NULL);
"""


class Copy:
    """Flights by FLID in SQLite. A deleted one stays as its version alone: a tombstone for late events."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.executescript(TABLES)

    def take(self, topic: str, value: Mapping[str, Any]) -> None:
        """One value of a topic; the same one any number of times, in any order."""
        if topic == "msg":
            self._keep(value["FLID"], partial(take_notice, notice=value))
        else:
            for flight in flights_in(value):
                self._keep(flight["FLID"], partial(take_flight, flight=flight))

    def flights(self) -> dict[int, dict[str, Any]]:
        """Every live flight."""
        rows = self._database.execute("SELECT FLID, STATE FROM FLIGHT WHERE STATE IS NOT NULL")
        return {flid: json.loads(state) for flid, state in rows}

    def _keep(self, flid: int, take: Callable[[Held | None], Held | None]) -> None:
        row = self._database.execute("SELECT VERSION, STATE FROM FLIGHT WHERE FLID = ?", (flid,)).fetchone()
        held = None if row is None else Held(row[0], None if row[1] is None else json.loads(row[1]))
        new = take(held)
        if new is None or new == held:
            return
        state = None if new.flight is None else json.dumps(new.flight, ensure_ascii=False)
        self._database.execute("INSERT OR REPLACE INTO FLIGHT VALUES (?, ?, ?)", (flid, new.version, state))


def read(bus: Path, topic: str, offset: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Values behind an offset of a topic's file, each with the offset to go on from; whole lines only."""
    path = bus / f"{topic}.jsonl"
    if not path.exists():
        return
    with path.open("rb") as lines:
        lines.seek(offset)
        for line in lines:
            if not line.endswith(b"\n"):
                return
            offset += len(line)
            yield offset, json.loads(line)["value"]


def follow(bus: Path, database: sqlite3.Connection, topics: Iterable[tuple[str, str]]) -> int:
    """Take what is new, values and place in one transaction; how many values there were."""
    copy, taken = Copy(database), 0
    for name, topic in topics:
        row = database.execute("SELECT OFFSET FROM PLACE WHERE TOPIC = ?", (topic,)).fetchone()
        with database:
            for offset, value in read(bus, topic, 0 if row is None else row[0]):
                copy.take(name, value)
                database.execute("INSERT OR REPLACE INTO PLACE VALUES (?, ?)", (topic, offset))
                taken += 1
    return taken


def main(bus: str, database: str) -> None:
    """Bring the copy up to now, and say how it is."""
    with sqlite3.connect(database) as connection:
        taken = follow(Path(bus), connection, (("msg", "KAFKA_MSG"), ("schd", "KAFKA_SCHD")))
        print(f"{taken} values taken; {len(Copy(connection).flights())} flights")


if __name__ == "__main__":
    main(*sys.argv[1:3])
