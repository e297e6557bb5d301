"""The pipeline on SQLite beside the same statements in a bare loop on the same files."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from attrs import frozen

from bench.frame.context import Context
from bench.frame.product import in_process
from bench.frame.rounds import in_turn, ratios
from bench.frame.targets import Condition, Row, Target
from msgx_app.container import Container

TARGET = Target(0.6)
_FILES = ("mailbox.db", "store.db")


@frozen
class Statement:
    """One statement as the adapter gave it to SQLite: which file, its text, its values (or many of them)."""

    file: str
    sql: str
    values: Any
    many: bool = False


def measure(context: Context) -> list[Row]:
    """Intake and processing of a mailbox; the loop runs what they ran, commits and reads too."""
    messages = context.stock.flops(context.sizes.embedded_messages)
    start = context.folder / "embedded"
    start.mkdir()
    _begin(context, start, messages)
    with _copy(context, start) as folder, _recording() as statements, _opened(folder) as container:
        statements.clear()
        _process(container)
        recorded = list(statements)
    states: list[dict[str, int]] = []

    def ours(_: int) -> float:
        with _copy(context, start) as folder, _opened(folder) as container:
            began = time.perf_counter()
            _process(container)
            seconds = time.perf_counter() - began
            states.append(_states(folder / "store.db"))
        return len(messages) / seconds

    def bare(_: int) -> float:
        with _copy(context, start) as folder:
            seconds = _loop(folder, recorded)
            states.append(_states(folder / "store.db"))
        return len(messages) / seconds

    pairs = in_turn(context.sizes.rounds, ours, bare)
    same = Condition("both leave the same states", all(found == states[0] for found in states))
    done = Condition("every message succeeded", states[0].get("SUCCEEDED", 0) >= len(messages))
    details = {
        "ours_per_s": [round(pair.ours) for pair in pairs],
        "bare_per_s": [round(pair.reference) for pair in pairs],
        "statements_per_message": round(len(recorded) / len(messages), 1),
    }
    what = "messages a second on SQLite, by its statements alone"
    return [Row("embedded", what, ratios(pairs), TARGET, conditions=(same, done), details=details)]


def _settings(folder: Path) -> dict[str, str]:
    return {
        "MSGX_MAILBOX_URL": f"sqlite:///{folder}/mailbox.db",
        "MSGX_STORE_URL": f"sqlite:///{folder}/store.db",
        "MSGX_CACHE_URL": "memory:",
        "MSGX_BUS_URL": "memory:",
    }


@contextmanager
def _opened(folder: Path) -> Iterator[Container]:
    with in_process(_settings(folder)) as container:
        yield container


def _begin(context: Context, folder: Path, messages: list[bytes]) -> None:
    """All flights in the store, the messages in the mailbox."""
    with in_process(_settings(folder), create=True) as container:
        container.inbox.send_many(list(context.stock.setup))
        container.pipeline.drain()
        container.inbox.send_many(messages)


def _process(container: Container) -> None:
    container.pipeline.intake.scan()
    while container.pipeline.pump.burst().again:
        pass


@contextmanager
def _copy(context: Context, source: Path) -> Iterator[Path]:
    """The files of their own; closed databases have no log beside them."""
    folder = context.folder / "embedded-copy"
    shutil.copytree(source, folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def _recording() -> Iterator[list[Statement]]:
    """What is given to SQLite meanwhile, in order."""
    statements: list[Statement] = []

    class Recorder(sqlite3.Connection):
        """A connection that writes down what it is given."""

        file = ""

        def execute(self, sql: str, values: Any = (), /) -> sqlite3.Cursor:
            """Write down and run."""
            statements.append(Statement(self.file, sql, values))
            return super().execute(sql, values)

        def executemany(self, sql: str, values: Iterable[Any], /) -> sqlite3.Cursor:
            """Write down and run."""
            given = list(values)
            statements.append(Statement(self.file, sql, given, many=True))
            return super().executemany(sql, given)

    real = sqlite3.connect

    def connect(database: str, **options: Any) -> sqlite3.Connection:
        made = real(database, factory=Recorder, **options)
        made.file = next(name for name in _FILES if name in database)
        return made

    with mock.patch("sqlite3.connect", connect):
        yield statements


def _loop(folder: Path, statements: list[Statement]) -> float:
    """The statements alone; how many seconds they take."""
    with ExitStack() as keep:
        open_files = {}
        for name in _FILES:
            made = sqlite3.connect(folder / name, isolation_level=None, cached_statements=256)
            keep.callback(made.close)
            made.execute("PRAGMA synchronous = FULL")
            made.execute("PRAGMA cache_size = -8000")
            open_files[name] = made
        began = time.perf_counter()
        for each in statements:
            connection = open_files[each.file]
            if each.many:
                connection.executemany(each.sql, each.values)
            else:
                connection.execute(each.sql, each.values).fetchall()
        return time.perf_counter() - began


def _states(path: Path) -> dict[str, int]:
    connection = sqlite3.connect(path)
    try:
        return dict(connection.execute("SELECT STATE, COUNT(*) FROM PROC_STATE GROUP BY 1").fetchall())
    finally:
        connection.close()
