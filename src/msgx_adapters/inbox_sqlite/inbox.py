"""The mailbox as a SQLite file: the embedded set, demos, and tests of the whole (IMP §4.1, D-35, D-43)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from msgx_core.errors import ConfigError, Late, Rejected, Transient
from msgx_core.model.localtime import to_instant, to_local
from msgx_core.ports.clock import Clock
from msgx_core.ports.codec import RawText
from msgx_core.ports.inbox import MarkResult
from msgx_core.ports.permit import Permit

from .connection import GuardedConnection
from .errors import primary_code
from .statements import Columns, Statements

_TRIES = 3
_REMEDY = "make it with `msgx init`"
_WRITABLE = "give this account the right to write it and its folder"


class SqliteInbox:
    """Implements `Inbox`. Safe to call from several threads and beside other processes.

    Marks and new messages go through a connection of their own, so that a writer that waits for the file
    does not hold up the reading of the mailbox.
    """

    def __init__(
        self, path: Path, statements: Statements, *, zone: ZoneInfo, clock: Clock, timeout_s: float
    ) -> None:
        self._path = path
        self._sql = statements
        self._zone = zone
        self._clock = clock
        self._reader = GuardedConnection(path, timeout_s)
        self._writer = GuardedConnection(path, timeout_s)

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        zone: ZoneInfo,
        clock: Clock,
        create: bool = False,
        timeout_s: float = 5.0,
        table: str = "CMINMSGS",
        columns: Columns | None = None,
    ) -> SqliteInbox:
        """Open the file; with `create`, make it and its tables where they are missing.

        Raises `ConfigError` when the file, the table or a column is missing, `Transient` when it does not
        answer. A file that other people made is not changed by opening it.
        """
        file = Path(path).absolute()
        inbox = cls(
            file,
            Statements.load(table, columns or Columns()),
            zone=zone,
            clock=clock,
            timeout_s=timeout_s,
        )
        try:
            if create:
                inbox._create(file)
            elif not file.is_file():
                raise ConfigError([f"the mailbox file {file} does not exist: {_REMEDY}"])
            inbox._check(file)
        except BaseException:
            inbox.close()
            raise
        return inbox

    def scan(self, after: int, limit: int) -> Sequence[int]:
        """Unprocessed ids above `after`, ascending."""
        with self._reader.use() as connection:
            rows = connection.execute(self._sql.scan, {"after": after, "limit": max(limit, 0)})
            return [row[0] for row in rows.fetchall()]

    def received_at(self, ids: Sequence[int]) -> Mapping[int, datetime | None]:
        """Receive times as instants (UTC); None where the owner wrote none that can be read."""
        with self._reader.use() as connection:
            rows = connection.execute(self._sql.received, {"ids": json.dumps(list(ids))}).fetchall()
        return {msg_id: to_instant(text, self._zone) for msg_id, text in rows}

    def fetch(self, msg_id: int) -> RawText | None:
        """The text of a row as it is stored: bytes or str."""
        try:
            with self._reader.use() as connection:
                row = connection.execute(self._sql.fetch, {"id": msg_id}).fetchone()
        except Rejected as error:
            raise Rejected("raw-unreadable", error.detail) from error
        except Transient as error:
            self._blame_the_row(error)
            raise
        if row is None or isinstance(row[0], str | bytes | None):
            return None if row is None else row[0]
        return str(row[0])

    def fetch_small(self, ids: Sequence[int], most_bytes: int) -> Mapping[int, RawText]:
        """The texts that are there and not too long; none when one of these rows cannot be read."""
        values = {"ids": json.dumps(list(ids)), "most_bytes": most_bytes}
        try:
            with self._reader.use() as connection:
                rows = connection.execute(self._sql.fetch_small, values).fetchall()
        except (Rejected, Transient):
            # Whose fault it is, is told row by row.
            return {}
        return {msg_id: raw for msg_id, raw in rows if isinstance(raw, str | bytes)}

    def mark(
        self, marks: Sequence[tuple[int, datetime]], permit: Permit | None = None
    ) -> Mapping[int, MarkResult | Exception]:
        """Write processing times in one transaction, or one by one when a row refuses.

        The mailbox's clock is ours; it is looked at last before the commit, as no server can do that.
        """
        first = _first_of_each(marks)
        for _ in range(_TRIES):
            until = None if permit is None else permit(self._clock.now())
            with suppress(Late):
                return self._mark_all(first, until)
        raise Late("the mailbox was not marked in time")

    def send(self, raw: RawText) -> int:
        """Put a message in as it is: bytes stay bytes in any encoding, text stays text."""
        return self.send_many([raw])[0]

    def send_many(self, raws: Sequence[RawText]) -> list[int]:
        """Put messages in, all or none, in this order; returns their ids."""
        at = to_local(self._clock.now(), self._zone)
        with self._writer.transaction() as connection:
            sent = [connection.execute(self._sql.send, {"raw": raw, "at": at}).lastrowid for raw in raws]
        return [msg_id for msg_id in sent if msg_id is not None]

    def fill(self, msg_id: int, raw: RawText) -> None:
        """Give a row its text, as an owner does who wrote the row first; of a row that is gone nothing."""
        with self._writer.transaction() as connection:
            connection.execute(self._sql.fill, {"raw": raw, "msg_id": msg_id})

    def check_rights(self) -> None:
        """Return when the file may be written: an empty transaction shows it."""
        try:
            with self._writer.transaction():
                pass
        except Transient as error:
            cause = error.__cause__
            if isinstance(cause, sqlite3.Error) and primary_code(cause) == sqlite3.SQLITE_READONLY:
                raise ConfigError(
                    [f"the mailbox file {self._path} cannot be written: {_WRITABLE}"]
                ) from error
            raise

    def ping(self) -> None:
        """Return when the mailbox answers, else raise `Transient`."""
        with self._reader.use() as connection:
            connection.execute(self._sql.ping).fetchone()

    def close(self) -> None:
        """Close both connections. Idempotent."""
        self._reader.close()
        self._writer.close()

    def _create(self, file: Path) -> None:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        except OSError as error:
            raise ConfigError([f"the mailbox file {file} cannot be made: {error.strerror}"]) from error
        with self._writer.use() as connection:
            # Without WAL it can be read where it cannot be written, as a mailbox of other people may.
            connection.execute("PRAGMA journal_mode = TRUNCATE")
            connection.executescript(self._sql.schema)

    def _check(self, file: Path) -> None:
        try:
            with self._reader.use() as connection:
                connection.execute(self._sql.check)
        except Transient as error:
            cause = error.__cause__
            if isinstance(cause, sqlite3.Error) and primary_code(cause) == sqlite3.SQLITE_ERROR:
                raise ConfigError([f"{file} is not a mailbox ({cause}): {_REMEDY}"]) from error
            raise

    def _blame_the_row(self, error: Transient) -> None:
        """`Rejected` when only this row is damaged: it must not stop all messages behind it."""
        cause = error.__cause__
        if isinstance(cause, sqlite3.Error) and primary_code(cause) == sqlite3.SQLITE_CORRUPT:
            self.ping()
            raise Rejected("raw-unreadable", str(cause)) from cause

    def _mark_all(
        self, marks: Mapping[int, datetime], until: datetime | None
    ) -> Mapping[int, MarkResult | Exception]:
        try:
            with self._in_time(until) as connection:
                return {msg_id: self._mark(connection, msg_id, at) for msg_id, at in marks.items()}
        except Rejected:
            return {msg_id: self._mark_alone(msg_id, at, until) for msg_id, at in marks.items()}

    @contextmanager
    def _in_time(self, until: datetime | None) -> Iterator[sqlite3.Connection]:
        """A transaction that is rolled back with `Late` when it would be committed at `until` or later."""
        with self._writer.transaction() as connection:
            yield connection
            if until is not None and self._clock.now() >= until:
                raise Late("the transaction took too long")

    def _mark(self, connection: sqlite3.Connection, msg_id: int, at: datetime) -> MarkResult:
        values = {"id": msg_id, "at": to_local(at, self._zone)}
        if connection.execute(self._sql.mark, values).rowcount:
            return MarkResult.WRITTEN
        there = connection.execute(self._sql.exists, {"id": msg_id}).fetchone()
        return MarkResult.ALREADY_MARKED if there else MarkResult.MISSING_ROW

    def _mark_alone(self, msg_id: int, at: datetime, until: datetime | None) -> MarkResult | Exception:
        try:
            with self._in_time(until) as connection:
                return self._mark(connection, msg_id, at)
        except Rejected as error:
            return error


def _first_of_each(marks: Sequence[tuple[int, datetime]]) -> Mapping[int, datetime]:
    first: dict[int, datetime] = {}
    for msg_id, at in marks:
        first.setdefault(msg_id, at)
    return first
