"""Rows for upstream in the SQLite mailbox file: the embedded set and demos (IMP §7.2, D-32)."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from zoneinfo import ZoneInfo

from attrs import asdict, frozen

from msgx_core.errors import ConfigError, Late, Rejected, Transient
from msgx_core.model.localtime import earliest_local, to_local
from msgx_core.ports.clock import Clock
from msgx_core.ports.outbound import OutboundRow
from msgx_core.ports.permit import Permit

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TRIES = 3
_REMEDY = "make it with `msgx init`"
_WRITABLE = "give this account the right to write it and its folder"
_ONE_ROW = frozenset({sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH})
_PRIMARY = 0xFF


@frozen
class Columns:
    """Names of the columns that we use."""

    id: str = "COUTMSGS_ID"
    text: str = "COUTMSGS_CLOB_MSG"
    inserted: str = "COUTMSGS_DATE_INSERTED"
    sent: str = "COUTMSGS_DATE_SENT"
    routing_id: str = "ROUTINGID"


@frozen
class Statements:
    """The statements of the outbound table, one `.sql` file each."""

    schema: str
    check: str
    insert: str
    since: str

    @classmethod
    def load(cls, table: str, columns: Columns) -> Statements:
        """Read the files and fill in the names; `ConfigError` for what is not a plain name."""
        names = {"table": table, **asdict(columns)}
        bad = sorted({name for name in names.values() if not _NAME.fullmatch(name)})
        if bad:
            raise ConfigError(f"{name!r} is not a table or column name" for name in bad)
        # Not "…": SQLite takes an unknown column in double quotes for a text.
        quoted = {key: f"[{name}]" for key, name in names.items()}
        return cls(**{each: _read(each).format_map(quoted) for each in cls.__annotations__})


class SqliteOutbound:
    """Implements `Outbound`. Rows are few: each call has a connection of its own, so threads, other processes
    and a file that was replaced need no care.
    """

    def __init__(
        self, path: Path, statements: Statements, *, zone: ZoneInfo, clock: Clock, timeout_s: float
    ) -> None:
        self._path = path
        self._sql = statements
        self._zone = zone
        self._clock = clock
        self._timeout_s = timeout_s
        self._closed = False

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        zone: ZoneInfo,
        clock: Clock,
        create: bool = False,
        timeout_s: float = 5.0,
        table: str = "COUTMSGS",
        columns: Columns | None = None,
    ) -> SqliteOutbound:
        """Open the mailbox file; with `create`, make it and the outbound table where they are missing.

        Raises `ConfigError` when the file, the table or a column is missing, `Transient` when it does not
        answer. `timeout_s` bounds the wait for the lock of another process.
        """
        file = Path(path).absolute()
        statements = Statements.load(table, columns or Columns())
        outbound = cls(file, statements, zone=zone, clock=clock, timeout_s=timeout_s)
        if create:
            outbound._create()
        elif not file.is_file():
            raise ConfigError([f"the mailbox file {file} does not exist: {_REMEDY}"])
        outbound._check()
        return outbound

    def insert(self, text: str, routing_id: str, permit: Permit | None = None) -> int:
        """Commit one row, inserted now; returns its id. `ValueError` for a text that is none.

        The mailbox's clock is ours; it is looked at last before the commit.
        """
        text.encode()
        for _ in range(_TRIES):
            until = None if permit is None else permit(self._clock.now())
            with self._connection() as connection:
                at = to_local(self._clock.now(), self._zone)
                values = {"text": text, "at": at, "routing_id": routing_id}
                connection.execute("BEGIN IMMEDIATE")
                row_id = connection.execute(self._sql.insert, values).lastrowid or 0
                if until is None or self._clock.now() < until:
                    connection.execute("COMMIT")
                    return row_id
        raise Late("the row was not inserted in time")

    def inserted_since(self, since: datetime) -> Sequence[OutboundRow]:
        """Rows inserted at or after an instant, by id; more of them around the end of summer time."""
        values: Mapping[str, str] = {"since": earliest_local(since, self._zone)}
        with self._connection() as connection:
            rows = connection.execute(self._sql.since, values).fetchall()
        return [OutboundRow(row_id, (text or b"").decode("utf-8", "replace")) for row_id, text in rows]

    def check_rights(self) -> None:
        """Return when the file may be written: an empty transaction shows it."""
        try:
            with self._connection() as connection:
                connection.execute("BEGIN IMMEDIATE")
        except Transient as error:
            if _code(error.__cause__) == sqlite3.SQLITE_READONLY:
                raise ConfigError(
                    [f"the mailbox file {self._path} cannot be written: {_WRITABLE}"]
                ) from error
            raise

    def ping(self) -> None:
        """Return when the mailbox answers, else raise `Transient`."""
        with self._connection() as connection:
            connection.execute(self._sql.check).fetchone()

    def close(self) -> None:
        """Answer no more. Idempotent."""
        self._closed = True

    def _create(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._path.touch()
        except OSError as error:
            raise ConfigError([f"the mailbox file {self._path} cannot be made: {error.strerror}"]) from error
        with self._connection() as connection:
            # Without WAL it can be read where it cannot be written, as a mailbox of other people may.
            connection.execute("PRAGMA journal_mode = TRUNCATE")
            connection.execute(self._sql.schema)

    def _check(self) -> None:
        try:
            self.ping()
        except Transient as error:
            if _code(error.__cause__) == sqlite3.SQLITE_ERROR:
                raise ConfigError([f"{self._path} is not a mailbox ({error.detail}): {_REMEDY}"]) from error
            raise

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection in autocommit mode; its errors in our words."""
        if self._closed:
            raise Transient("mailbox", "closed")
        uri = f"{self._path.as_uri()}?mode=rw"
        try:
            opened = sqlite3.connect(uri, uri=True, timeout=self._timeout_s, isolation_level=None)
            with closing(opened) as connection:
                yield connection
        except sqlite3.Error as error:
            if _code(error) in _ONE_ROW:
                raise Rejected("mailbox-rejected", str(error)) from error
            raise Transient("mailbox", f"{self._path}: {error}") from error


def _code(error: BaseException | None) -> int:
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & _PRIMARY


def _read(name: str) -> str:
    return files(__package__).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
