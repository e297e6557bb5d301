"""One guarded SQLite connection: a lock, explicit transactions, bounded waits, translated errors."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from msgx_adapters.store_sql.rows import unreadable
from msgx_adapters.store_sqlite.errors import translate
from msgx_adapters.store_sqlite.texts import conversions
from msgx_core.errors import Transient

Params = Mapping[str, Any]
Row = dict[str, Any]

NO_PARAMS: Params = {}
TRANSACTION_LIMIT_S = 60.0
"""The longest that a transaction may run, or wait for another one in this process."""

_STEPS_PER_CHECK = 100_000


class Connection:
    """A connection that threads share. Statements run inside `write()` or `read()` only.

    `Connection.open(None)` keeps everything in memory, and it is gone with the connection.
    """

    def __init__(self, raw: sqlite3.Connection) -> None:
        self._raw = raw
        self._lock = threading.RLock()
        self._deadline = 0.0
        raw.set_progress_handler(self._is_overdue, _STEPS_PER_CHECK)

    @classmethod
    def open(
        cls, path: Path | None, *, timeout_s: float = 5.0, create: bool = True, read_only: bool = False
    ) -> Connection:
        """Open a file or (None) an empty database in memory.

        A file is in WAL mode with full synchronisation; a missing one is made only with `create`.
        """
        mode = "rwc" if create else "rw"
        name = ":memory:" if path is None else f"{path.absolute().as_uri()}?mode={mode}"
        raw: sqlite3.Connection | None = None
        try:
            raw = sqlite3.connect(
                name,
                timeout=timeout_s,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
                uri=path is not None,
            )
            raw.execute("PRAGMA foreign_keys = ON")
            raw.execute("PRAGMA cache_size = -8000")
            if path is not None:
                raw.execute("PRAGMA journal_mode = WAL")
                raw.execute("PRAGMA synchronous = FULL")
            if read_only:
                raw.execute("PRAGMA query_only = ON")
        except sqlite3.Error as error:
            if raw is not None:
                raw.close()
            raise translate(error) from error
        return cls(raw)

    def write(self) -> AbstractContextManager[None]:
        """A transaction that holds the write lock of the database from its start."""
        return self._transaction("BEGIN IMMEDIATE")

    def read(self) -> AbstractContextManager[None]:
        """A transaction that sees one consistent state."""
        return self._transaction("BEGIN")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        if not self._lock.acquire(timeout=TRANSACTION_LIMIT_S):
            raise Transient("store", "another thread holds the connection")
        try:
            self._deadline = time.monotonic() + TRANSACTION_LIMIT_S
            self._raw.execute(begin)
            try:
                yield
                self._raw.execute("COMMIT")
            except BaseException:
                if self._raw.in_transaction:
                    self._raw.execute("ROLLBACK")
                raise
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            raise translate(error) from error
        finally:
            self._lock.release()

    def rows(self, sql: str, params: Params = NO_PARAMS) -> list[Row]:
        """All rows of a query by column name, with instants and days decoded."""
        cursor = self._raw.execute(sql, params)
        fetched = cursor.fetchall()
        if not fetched:
            return []
        names = tuple(column[0] for column in cursor.description)
        convert = conversions(names)
        rows = [dict(zip(names, values, strict=True)) for values in fetched]
        for row in rows:
            for name, read in convert:
                if row[name] is not None:
                    try:
                        row[name] = read(row[name])
                    except (ValueError, TypeError) as error:
                        raise unreadable(name, row[name]) from error
        return rows

    def stored(self, sql: str, params: Params = NO_PARAMS) -> list[Row]:
        """All rows of a query by column name, nothing decoded: texts as bytes, whatever they hold."""
        self._raw.text_factory = bytes
        try:
            cursor = self._raw.execute(sql, params)
            names = tuple(column[0] for column in cursor.description)
            return [dict(zip(names, values, strict=True)) for values in cursor.fetchall()]
        finally:
            self._raw.text_factory = str

    def row(self, sql: str, params: Params = NO_PARAMS) -> Row | None:
        """The only row of a query, or None."""
        rows = self.rows(sql, params)
        return rows[0] if rows else None

    def value(self, sql: str, params: Params = NO_PARAMS) -> Any:
        """The first column of the only row of a query, or None."""
        row = self._raw.execute(sql, params).fetchone()
        return None if row is None else row[0]

    def run(self, sql: str, params: Params = NO_PARAMS) -> int:
        """Run a statement; how many rows it changed."""
        return self._raw.execute(sql, params).rowcount

    def run_many(self, sql: str, params: Iterable[Params]) -> int:
        """Run a statement for each; how many rows were changed by all of them."""
        return max(self._raw.executemany(sql, params).rowcount, 0)

    def last_id(self, sql: str, params: Params) -> int:
        """Run an insert; the id that it was given."""
        return int(self._raw.execute(sql, params).lastrowid or 0)

    def close(self) -> None:
        """Close. Idempotent; what comes after it raises `Transient`."""
        with self._lock:
            self._raw.close()

    def _is_overdue(self) -> bool:
        return time.monotonic() > self._deadline
