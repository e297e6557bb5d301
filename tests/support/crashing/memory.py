"""The world in memory: all but the pipeline outlives a process; it is copied for each run."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from attrs import define

from crashing.bench import BEGIN, Bench, Kind, Parts
from crashing.state import Sent, State, bus, tables, timeless, undated
from embedded import SHANGHAI
from msgx_adapters.bus_memory import MemoryBus
from msgx_adapters.cache_memory import MemoryCache
from msgx_adapters.history_file import FileHistory
from msgx_adapters.inbox_memory import MemoryInbox
from msgx_adapters.outbound_memory import MemoryOutbound
from msgx_adapters.store_sqlite import SqliteStore
from msgx_adapters.store_sqlite.connection import Connection
from msgx_core.ports.archive import ArchivedRaw, DepartureStep
from msgx_core.ports.cache import CacheGone, CachePut
from msgx_core.ports.codec import RawText
from msgx_core.testing.clock import ManualClock


class KeptCache(MemoryCache):
    """A cache server: it outlives the process."""

    volatile = False


class MemoryArchive:
    """Implements `Archive` without keys to speak of."""

    def __init__(self) -> None:
        self.texts: dict[str, tuple[int, RawText]] = {}
        self.departures: list[DepartureStep] = []

    def put(self, msg_id: int, at: datetime, raw: RawText) -> str:
        """Keep a text."""
        key = f"{at:%Y/%m/%d}/{msg_id}"
        self.texts[key] = (msg_id, raw)
        return key

    def get(self, key: str) -> RawText | None:
        """The text under a key."""
        found = self.texts.get(key)
        return None if found is None else found[1]

    def find(self, msg_id: int, at: datetime | None = None) -> str | None:
        """The key of a message."""
        return next((key for key, (owner, _) in self.texts.items() if owner == msg_id), None)

    def read(self, first: date | None = None, last: date | None = None) -> Iterator[ArchivedRaw]:
        """All texts."""
        for key, (msg_id, raw) in sorted(self.texts.items()):
            yield ArchivedRaw(key, msg_id, raw)

    def put_step(self, step: DepartureStep) -> str:
        """Keep a step of the sweep."""
        self.departures.append(step)
        return f"step-{len(self.departures)}"

    def steps(self) -> Iterator[DepartureStep]:
        """All steps."""
        yield from self.departures

    def remove_before(self, cutoff: date) -> int:
        """Remove whole days."""
        old = [key for key in self.texts if key < f"{cutoff:%Y/%m/%d}"]
        for key in old:
            del self.texts[key]
        return len(old)

    def count_before(self, cutoff: date) -> int:
        """Texts of whole days."""
        return sum(key < f"{cutoff:%Y/%m/%d}" for key in self.texts)

    def ping(self) -> None:
        """It answers."""

    def close(self) -> None:
        """Nothing to give back."""


@define
class MemoryOwner:
    """What the owners of the mailbox do to it."""

    inbox: MemoryInbox

    def insert(self, msg_id: int, raw: bytes | None) -> None:
        """A row with an id of their choice."""
        self.inbox.insert(msg_id, raw)

    def delete(self, msg_id: int) -> None:
        """A row goes."""
        self.inbox.delete(msg_id)

    def mark(self, msg_id: int) -> None:
        """A row is marked by somebody else."""
        (row,) = (row for row in self.inbox.rows() if row.msg_id == msg_id)
        self.inbox.delete(msg_id)
        self.inbox.insert(msg_id, row.raw, received=row.received, processed="2027-03-14 00:00:00")


class MemoryWorld:
    """All that outlives a process of one kind."""

    def __init__(self, kind: Kind, clock: ManualClock | None = None) -> None:
        self.kind = kind
        self.clock = ManualClock(BEGIN) if clock is None else clock
        self.folder = tempfile.mkdtemp(prefix="msgx-crash-") if kind.history else None
        self.inbox = MemoryInbox(zone=SHANGHAI, clock=self.clock)
        self.outbound = MemoryOutbound(zone=SHANGHAI, clock=self.clock)
        self.bus = MemoryBus()
        self.cache: MemoryCache = KeptCache()
        self.archive = MemoryArchive()
        self.connection: Connection | None = None

    def bench(self) -> Bench:
        """A process on this world."""
        return Bench(self.kind, self._parts(), lambda bench, clean: self._parts(), self.clock)

    def copy(self, connected: Callable[[sqlite3.Connection], Connection] = Connection) -> MemoryWorld:
        """A world of its own in the same state; `connected` makes the connection to its store."""
        made = MemoryWorld(self.kind, ManualClock(self.clock.now()))
        assert self.connection is not None
        raw = sqlite3.connect(":memory:", isolation_level=None, cached_statements=256)
        raw.execute("PRAGMA foreign_keys = ON")
        self.connection._raw.backup(raw)
        made.connection = connected(raw)
        for row in self.inbox.rows():
            made.inbox.insert(row.msg_id, row.raw, received=row.received, processed=row.processed)
        for sent in self.outbound.rows():
            made.outbound.put(sent.text, sent.inserted, sent.routing_id)
        made.bus.records = list(self.bus.records)
        made.archive.texts, made.archive.departures = dict(self.archive.texts), list(self.archive.departures)
        made.cache.rebuild(self.cache.store_id() or "", [])
        made.cache.write(list(self.cache.entries().values()))
        if self.folder and made.folder:
            shutil.copytree(self.folder, made.folder, dirs_exist_ok=True)
        return made

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of the store."""
        assert self.connection is not None
        with self.connection.read():
            return self.connection.rows(sql)

    def store_id(self) -> str:
        """The id of the store."""
        (row,) = self.rows("SELECT VALUE FROM STORE_INFO WHERE NAME = 'id'")
        return str(row["VALUE"])

    def lose_cache(self) -> None:
        """From now on the cache is gone with each process."""
        self.cache = MemoryCache()

    def close(self) -> None:
        """Give everything back."""
        if self.connection is not None:
            self.connection.close()
        if self.folder:
            shutil.rmtree(self.folder)

    def state(self) -> State:
        """What is left."""
        sent = [Sent(r.topic, r.key, json.loads(r.value)) for r in self.bus.records]
        return {
            "store": tables(self._tables()),
            "cache": self._cached(),
            "bus": bus(sent),
            "mailbox": {row.msg_id: row.processed is not None for row in self.inbox.rows()},
            "outbound": [(undated(row.text), row.routing_id) for row in self.outbound.rows()],
            "archive": {key: raw for key, (_, raw) in self.archive.texts.items()},
            "departures": [dict(step.floors) for step in self.archive.departures],
            "history": self._history(),
        }

    def _parts(self) -> Parts:
        if self.connection is None:
            store = SqliteStore.open(None)
            self.connection = store.connection
        else:
            with self.connection.write():
                self.connection.run("UPDATE LEASE SET EXPIRES_UNIX = 0")
            store = SqliteStore(self.connection)
        if self.cache.volatile:
            self.cache = MemoryCache()
        history = FileHistory(Path(self.folder)) if self.folder else None
        owner = MemoryOwner(self.inbox)
        return Parts(self.inbox, self.outbound, store, self.cache, self.bus, self.archive, owner, history)

    def _tables(self) -> Mapping[str, list[dict[str, Any]]]:
        names = [row["name"] for row in self.rows("SELECT NAME FROM sqlite_master WHERE TYPE = 'table'")]
        return {
            name.upper(): self.rows(f"SELECT * FROM {name}")
            for name in names
            if not name.startswith("sqlite_")
        }

    def _cached(self) -> State:
        entries = self.cache.entries()
        live = {flid: e for flid, e in entries.items() if isinstance(e, CachePut)}
        gone = {flid: e.version for flid, e in entries.items() if isinstance(e, CacheGone)}
        return {
            "live": {flid: timeless(json.loads(entry.document)) for flid, entry in live.items()},
            "gone": {} if self.cache.volatile else gone,
            "days": {flid: str(entry.day) for flid, entry in live.items()},
            "of": self.cache.store_id(),
        }

    def _history(self) -> State:
        if not self.folder:
            return {}
        kept = FileHistory(Path(self.folder)).read()
        return {f"{r.flid}/{r.version}": timeless(json.loads(r.document)) for r in kept}
