"""The mailbox in MySQL or MariaDB: a table that other people own (IMP §4.1, D-35, D-43)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from zoneinfo import ZoneInfo

from msgx_adapters.mysql_link import (
    Forbidden,
    Link,
    Result,
    Session,
    Table,
    Target,
    checked,
    filled_list,
    quoted,
    server_code,
)
from msgx_core.errors import ConfigError, Rejected, Transient
from msgx_core.model.localtime import to_instant, to_local
from msgx_core.ports.clock import Clock
from msgx_core.ports.codec import RawText
from msgx_core.ports.inbox import MarkResult
from msgx_core.ports.permit import Permit

from .marking import Marker
from .statements import TABLE_SETTING, Columns, Statements
from .texts import as_bytes, as_text

_IDS_PER_STATEMENT = 1_000

# Incorrect string value, data too long, cannot convert: the column's character set or size.
_NOT_HELD = frozenset({1366, 1406, 3854, 1300})
_SMALL = 2**18
"""Bytes that every server takes; room for what surrounds and escapes a large one."""


class MysqlInbox:
    """Implements `Inbox`. Safe to call from several threads and beside other processes.

    Reading and writing have a connection each, so that a mark that waits for a lock does not hold up the
    reading of the mailbox. Nothing is created or altered; see the package for rights and index.
    """

    def __init__(
        self,
        target: Target,
        table: str,
        columns: Columns,
        *,
        zone: ZoneInfo,
        clock: Clock,
        timeout_s: float,
    ) -> None:
        self._sql = statements = Statements.load(table, columns)
        self._zone = zone
        self._clock = clock
        self._reader = Link(target, timeout_s)
        self._writer = Link(target, timeout_s)
        self._marker = Marker(self._writer, statements, timeout_s)
        self._table = Table(self._reader, target, TABLE_SETTING, table)
        self._columns = columns
        self._keeps_bytes = False

    @classmethod
    def open(
        cls,
        url: str,
        *,
        zone: ZoneInfo,
        clock: Clock,
        timeout_s: float = 5.0,
        table: str = "CMINMSGS",
        columns: Columns | None = None,
    ) -> MysqlInbox:
        """Connect to `mysql://user:password@host:port/database?option=value` and look at the table.

        `timeout_s` is rounded up to whole seconds and bounds each wait: to connect, to send, to receive.
        Raises `ConfigError` when the URL, the table, a column or the right to read is at fault, `Transient`
        when the server does not answer or does not let us in.
        """
        names = columns or Columns()
        inbox = cls(Target.of(url), table, names, zone=zone, clock=clock, timeout_s=timeout_s)
        try:
            holds_bytes = checked(inbox._table, names.settings())
        except BaseException:
            inbox.close()
            raise
        inbox._keeps_bytes = holds_bytes["text"]
        return inbox

    def scan(self, after: int, limit: int) -> Sequence[int]:
        """Unprocessed ids above `after`, ascending."""
        many = max(limit, 0)
        with _answered():
            found = self._read(self._sql.scan, (after, many, after, many, many))
        return [int(row[0] or 0) for row in found.rows]

    def received_at(self, ids: Sequence[int]) -> Mapping[int, datetime | None]:
        """Receive times as instants (UTC); None where the owner wrote none that can be read."""
        received: dict[int, datetime | None] = {}
        for start in range(0, len(ids), _IDS_PER_STATEMENT):
            some = [f"{msg_id:d}" for msg_id in ids[start : start + _IDS_PER_STATEMENT]]
            with _answered():
                found = self._read(filled_list(self._sql.received, some))
            for msg_id, at in found.rows:
                text = None if at is None else at.decode("ascii", "replace")
                received[int(msg_id or 0)] = to_instant(text, self._zone)
        return received

    def fetch(self, msg_id: int) -> RawText | None:
        """The message of a row: text from a text column, bytes from a binary one."""
        try:
            found = self._read(self._sql.fetch, (msg_id,))
            cell = found.rows[0][0] if found.rows else None
            return cell if cell is None else bytes(cell) if found.binary[0] else cell.decode()
        except UnicodeDecodeError as error:
            raise Rejected("raw-unreadable", str(error)) from error
        except Rejected as error:
            raise Rejected("raw-unreadable", error.detail) from error

    def fetch_small(self, ids: Sequence[int], most_bytes: int) -> Mapping[int, RawText]:
        """The texts that are there and not too long, without those that cannot be read."""
        texts: dict[int, RawText] = {}
        for start in range(0, len(ids), _IDS_PER_STATEMENT):
            some = [f"{msg_id:d}" for msg_id in ids[start : start + _IDS_PER_STATEMENT]]
            try:
                found = self._read(filled_list(self._sql.fetch_small, some), (most_bytes,))
            except Rejected:
                continue
            for msg_id, cell in found.rows:
                with suppress(UnicodeDecodeError):
                    if cell is not None:
                        texts[int(msg_id or 0)] = bytes(cell) if found.binary[1] else cell.decode()
        return texts

    def mark(
        self, marks: Sequence[tuple[int, datetime]], permit: Permit | None = None
    ) -> Mapping[int, MarkResult | Exception]:
        """Write processing times, many per statement; row by row when one of them refuses."""
        first: dict[int, str] = {}
        for msg_id, at in marks:
            first.setdefault(msg_id, to_local(at, self._zone))
        return self._marker.mark(first, permit)

    def send(self, raw: RawText) -> int:
        """Put a message in; a text column gets bytes decoded by their declaration.

        Needs INSERT, which the gateway itself does not: `ConfigError` says so. Not tried a second time when
        the connection is lost, because it may have been written.
        """
        return self.send_many([raw])[0]

    def send_many(self, raws: Sequence[RawText]) -> list[int]:
        """Put messages in, all or none, in this order; returns their ids."""
        as_stored = as_bytes if self._keeps_bytes else as_text
        stored = [as_stored(raw) for raw in raws]
        at = to_local(self._clock.now(), self._zone)
        sql = self._sql.send_bytes if self._keeps_bytes else self._sql.send_text

        def put(session: Session) -> list[int]:
            self._check_size(session, stored)
            with session.transaction():
                return [session.run(sql, (each, at)).last_id for each in stored]

        try:
            return self._writer.run(put, again=False)
        except Forbidden as error:
            needs = f"the mailbox user needs INSERT on {TABLE_SETTING} to send: {error.detail}"
            raise ConfigError([needs]) from error
        except Rejected as error:
            if server_code(error) in _NOT_HELD:
                raise ValueError(f"the mailbox cannot hold this text: {error.detail}") from error
            raise

    def check_rights(self) -> None:
        """Return when we may mark rows: the statement is tried with a permit that is over."""
        column = quoted(self._columns.settings())["processed"]
        self._table.tried(f"UPDATE ({column})", self._marker.in_vain)

    def ping(self) -> None:
        """Return when the mailbox answers, else raise `Transient`."""
        with _answered():
            self._read(self._sql.ping)

    def close(self) -> None:
        """Close both connections. Idempotent."""
        self._reader.close()
        self._writer.close()

    def _check_size(self, session: Session, stored: Sequence[str | bytes]) -> None:
        """A packet that is too large costs the connection, so the server is asked first."""
        largest = max((len(each.encode() if isinstance(each, str) else each) for each in stored), default=0)
        if largest < _SMALL:
            return
        limit = int(session.run(self._sql.limit).rows[0][0] or 0)
        if largest > limit - _SMALL:
            raise ValueError(f"{largest} bytes are too many for the server's max_allowed_packet, {limit}")

    def _read(self, sql: str, values: Sequence[int] = ()) -> Result:
        return self._reader.run(lambda session: session.run(sql, values), again=True)


@contextmanager
def _answered() -> Iterator[None]:
    """No single row is to blame here: a refusal is an outage."""
    try:
        yield
    except Rejected as error:
        raise Transient("mailbox", str(error.detail)) from error
