"""One guarded SQLite connection that comes back by itself after a failure."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from msgx_core.errors import Transient

from .errors import translated


class GuardedConnection:
    """One thread at a time; everything it raises is `Transient` or `Rejected`.

    A connection that failed, or whose file was replaced, is dropped; the next call opens a new one.
    Waiting for the thread before and for the lock of another process is bounded by `timeout_s` each.
    """

    def __init__(self, path: Path, timeout_s: float) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._guard = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._closed = False

    @contextmanager
    def use(self) -> Iterator[sqlite3.Connection]:
        """The connection in autocommit mode, for one short piece of work."""
        with self._alone():
            try:
                yield self._ready()
            except sqlite3.Error as error:
                problem = translated(error)
                if isinstance(problem, Transient):
                    self._drop()
                raise problem from error

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The same inside a write transaction, committed at the end, else rolled back."""
        with self.use() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close for good, after the work that is going on. Idempotent."""
        with self._guard:
            self._closed = True
            self._drop()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._guard.acquire(timeout=self._timeout_s):
            raise Transient("mailbox", f"another thread has used it for more than {self._timeout_s} s")
        try:
            yield
        finally:
            self._guard.release()

    def _ready(self) -> sqlite3.Connection:
        if self._closed:
            raise Transient("mailbox", "closed")
        try:
            status = os.stat(self._path)
        except OSError as error:
            self._drop()
            raise Transient("mailbox", f"{self._path}: {error.strerror}") from error
        # An open connection would go on reading a file that nobody else can see any more.
        if self._connection is None or self._file != (status.st_dev, status.st_ino):
            self._drop()
            self._connection = self._connect()
            self._file = (status.st_dev, status.st_ino)
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self._path.as_uri()}?mode=rw",
            uri=True,
            timeout=self._timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )
        connection.text_factory = _text_or_bytes
        try:
            connection.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _text_or_bytes(stored: bytes) -> str | bytes:
    """Text that is no UTF-8 is handed out as it is: the codec says what is wrong with it (D-44)."""
    try:
        return stored.decode()
    except UnicodeDecodeError:
        return stored
