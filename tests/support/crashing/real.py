"""The real set as a world: reset for each run, played by processes of their own, read by foreign clients."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import redis
from attrs import asdict, define, field, frozen

from crashing.runner import Order
from crashing.state import Sent, State, bus, tables, timeless, undated
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_adapters.history_file import FileHistory
from msgx_cli import environment
from real_set import RealSet
from services.kafka import create_topics, read

SUPPORT = Path(__file__).resolve().parents[1]


@define
class Runner:
    """A parent of processes; each order is a process of its own."""

    process: subprocess.Popen[str]
    log: Path

    def __call__(self, order: Order) -> int:
        """Run it to its end; its exit code, negative for a signal."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asdict(order)) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        assert answer, self.log.read_text(encoding="utf-8")[-3000:]
        return int(answer)


@contextmanager
def runner(folder: Path) -> Iterator[Runner]:
    """A runner with its log in the folder."""
    log = folder / "runner.log"
    env = environment()
    env["PYTHONPATH"] = f"{SUPPORT}:{env['PYTHONPATH']}"
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [sys.executable, "-W", "error", "-m", "crashing.runner"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=folder,
            env=env,
        )
    try:
        yield Runner(process, log)
    finally:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.wait(20)
        process.stdout.close()


@frozen
class Prepared:
    """What was there before a kind: a database to copy, rows of the mailbox, keys of the cache, a folder."""

    database: str
    rows: Sequence[tuple[Any, ...]]
    keys: Mapping[bytes, bytes]
    folder: Path


@define
class RealWorld:
    """One set of servers, used again and again; each run has its own database, topics and folder."""

    real: RealSet
    run: Runner
    folder: Path
    _number: int = field(default=0, init=False)
    _prepared: dict[str, Prepared] = field(factory=dict, init=False)

    @property
    def database(self) -> str:
        """The database of this run."""
        return f"crash_{self._number}"

    @property
    def topics(self) -> tuple[str, str]:
        """The topics of this run."""
        return f"crash-msg-{self._number}", f"crash-schd-{self._number}"

    @property
    def env(self) -> dict[str, str]:
        """The settings of this run."""
        msg, schd = self.topics
        url = urlsplit(self.real.postgres.url)._replace(path=f"/{self.database}").geturl()
        return {
            **self.real.env,
            "MSGX_STORE_URL": f"{url}?schema=msgx",
            "MSGX_KAFKA_TOPIC_MSG": msg,
            "MSGX_KAFKA_TOPIC_SCHD": schd,
            "MSGX_ARCHIVE_URL": f"file://{self.folder}/archive",
            "MSGX_HISTORY_URL": f"file://{self.folder}/history",
        }

    def begin(self, kind: str) -> None:
        """As it is before this kind."""
        if kind not in self._prepared:
            self._fresh(urlsplit(self.real.postgres.url).path.strip("/"))
            self._ran(self._order(kind, prepare=True), 0)
            self._prepared[kind] = self._kept()
        before = self._prepared[kind]
        self._fresh(before.database)
        for row in before.rows:
            self.real.mailbox.run("INSERT INTO CMINMSGS VALUES (%s, %s, %s, %s, %s)", *row)
        with redis.Redis.from_url(self.real.redis.url) as client:
            for key, value in before.keys.items():
                client.restore(key, 0, value)
        shutil.copytree(before.folder, self.folder, dirs_exist_ok=True)

    def undisturbed(self, kind: str) -> tuple[State, list[str]]:
        """What comes of a kind, and the boundaries that it passes."""
        self.begin(kind)
        self._ran(self._order(kind), 0)
        return self.state(), json.loads(self._notes.read_text(encoding="utf-8"))

    def killed(self, kind: str, number: int) -> State:
        """What is left when a process is killed at that boundary and another one goes on."""
        self.begin(kind)
        self._ran(self._order(kind, crash_at=number), -9)
        phase = int(self._notes.read_text(encoding="utf-8"))
        self._ran(self._order(kind, first=phase), 0)
        return self.state()

    def _fresh(self, template: str) -> None:
        """A database, topics and a folder of this run; mailbox and cache are empty."""
        if self.database not in {kept.database for kept in self._prepared.values()}:
            self._sql(f"DROP DATABASE IF EXISTS {self.database} WITH (FORCE)")
        self._number += 1
        self._sql(f"CREATE DATABASE {self.database} TEMPLATE {template}")
        for table in ("CMINMSGS", "COUTMSGS"):
            self.real.mailbox.run(f"TRUNCATE TABLE {table}")
        self.real.redis.client().flushall()
        create_topics(self.real.kafka.servers, self.topics, 1)
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()

    def _kept(self) -> Prepared:
        """What is there now, to begin with again."""
        folder = self.folder.with_name(f"{self.folder.name}-{self._number}")
        shutil.copytree(self.folder, folder)
        rows = self.real.mailbox.run("SELECT * FROM CMINMSGS")
        with redis.Redis.from_url(self.real.redis.url) as client:
            keys = {key: client.dump(key) for key in client.scan_iter(b"*")}
        return Prepared(self.database, rows, keys, folder)

    def state(self) -> State:
        """What is left, seen by clients that are not ours."""
        msg, schd = self.topics
        sent = [Sent(topic, key, value) for topic in (msg, schd) for key, value in self._read(topic)]
        archive = FsspecArchive.in_folder(self.folder / "archive")
        outbound = self.real.mailbox.run(
            "SELECT COUTMSGS_CLOB_MSG, ROUTINGID FROM COUTMSGS ORDER BY COUTMSGS_ID"
        )
        return {
            "store": tables(self._tables()),
            "cache": self._cached(),
            "bus": bus(sent),
            "mailbox": {msg_id: mark is not None for msg_id, mark in self.real.marks().items()},
            "outbound": [(undated(text.decode()), routing.decode()) for text, routing in outbound],
            "archive": {one.key: one.raw for one in archive.read()},
            "departures": [dict(step.floors) for step in archive.steps()],
            "history": self._history(),
        }

    @property
    def _notes(self) -> Path:
        return self.folder / "notes"

    def _order(self, kind: str, **what: Any) -> Order:
        return Order(kind, self.env, str(self._notes), **what)

    def _ran(self, order: Order, code: int) -> None:
        found = self.run(order)
        assert found == code, f"exit {found} of {order}: {self.run.log.read_text(encoding='utf-8')[-3000:]}"

    def _sql(self, statement: str) -> None:
        with psycopg.connect(self._maintenance, autocommit=True) as connection:
            connection.execute(statement)

    @property
    def _maintenance(self) -> str:
        return urlsplit(self.real.postgres.url)._replace(path="/template1").geturl()

    def _read(self, topic: str) -> list[tuple[str | None, Any]]:
        return read(self.real.kafka.servers, topic)

    def _tables(self) -> dict[str, list[dict[str, Any]]]:
        url = urlsplit(self.real.postgres.url)._replace(path=f"/{self.database}").geturl()
        found = {}
        with psycopg.connect(url) as connection:
            names = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'msgx'").fetchall()
            for (name,) in names:
                cursor = connection.execute(f'SELECT * FROM msgx."{name}"')
                columns = [column.name.upper() for column in cursor.description or ()]
                found[name.upper()] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
        return found

    def _cached(self) -> State:
        client = self.real.redis.client()
        found: State = {}
        for key in client.scan_iter("*"):
            if client.type(key) == "set":
                found[key] = sorted(client.smembers(key))
            elif client.type(key) == "hash":
                found[key] = {n: _parsed(v) for n, v in client.hgetall(key).items()}
            else:
                found[key] = _parsed(client.get(key))
        return found

    def _history(self) -> State:
        folder = self.folder / "history"
        if not folder.exists():
            return {}
        return {f"{r.flid}/{r.version}": timeless(json.loads(r.document)) for r in FileHistory(folder).read()}


def _parsed(text: Any) -> Any:
    try:
        return timeless(json.loads(text))
    except (TypeError, ValueError):
        return text


__all__ = ["RealWorld", "Runner", "runner"]
