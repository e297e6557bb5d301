"""Rows for upstream in the shared MySQL or MariaDB mailbox (IMP §7.2, D-32)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from attrs import frozen

from msgx_adapters.mysql_link import (
    LONG_AGO,
    NEVER,
    TRIES,
    Forbidden,
    Link,
    Result,
    Table,
    Target,
    checked,
    filled,
    quoted,
    too_late,
    until,
)
from msgx_core.errors import Rejected, Transient
from msgx_core.model.localtime import earliest_local, to_local
from msgx_core.ports.clock import Clock
from msgx_core.ports.outbound import OutboundRow
from msgx_core.ports.permit import Permit

_TABLE_SETTING = "msgx.mailbox.table.outbound"


@frozen
class Columns:
    """Names of the columns that we use."""

    id: str = "COUTMSGS_ID"
    text: str = "COUTMSGS_CLOB_MSG"
    inserted: str = "COUTMSGS_DATE_INSERTED"
    routing_id: str = "ROUTINGID"

    def settings(self) -> dict[str, tuple[str, str]]:
        """By place in the SQL: the setting that names the column, and the name."""
        names = {"id": self.id, "text": self.text, "inserted": self.inserted, "routing_id": self.routing_id}
        return {
            place: (f"msgx.mailbox.column.outbound-{place.replace('_', '-')}", name)
            for place, name in names.items()
        }


@frozen
class Statements:
    """The statements of the outbound table, one `.sql` file each."""

    insert: str
    since: str
    ping: str

    @classmethod
    def load(cls, table: str, columns: Columns) -> Statements:
        """Read the files and fill in the names; `ConfigError` for what is not a plain name."""
        names = quoted({"table": (_TABLE_SETTING, table)} | columns.settings())
        return cls(**{each: filled(__package__, each, names) for each in cls.__annotations__})


class MysqlOutbound:
    """Implements `Outbound` on one connection, for one thread at a time."""

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
        self._sql = Statements.load(table, columns)
        self._zone = zone
        self._clock = clock
        self._link = Link(target, timeout_s)
        self._table = Table(self._link, target, _TABLE_SETTING, table)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        zone: ZoneInfo,
        clock: Clock,
        timeout_s: float = 5.0,
        table: str = "COUTMSGS",
        columns: Columns | None = None,
    ) -> MysqlOutbound:
        """Connect to `mysql://user:password@host:port/database?option=value` and look at the table.

        `timeout_s` is rounded up to whole seconds and bounds each wait. Raises `ConfigError` when the URL,
        the table, a column or the right to read is at fault, `Transient` when the server does not answer.
        """
        names = columns or Columns()
        outbound = cls(Target.of(url), table, names, zone=zone, clock=clock, timeout_s=timeout_s)
        try:
            checked(outbound._table, names.settings())
        except BaseException:
            outbound.close()
            raise
        return outbound

    def insert(self, text: str, routing_id: str, permit: Permit | None = None) -> int:
        """Commit one row, inserted now; returns its id.

        Never tried a second time: when the connection is lost on the way it may be there. `Rejected` when
        the server refuses this row, `ValueError` for a text that is none.
        """
        text.encode()
        for _ in range(TRIES):
            done = self._insert(text, routing_id, NEVER if permit is None else until(self._link, permit))
            if done.changed:
                return done.last_id
        raise too_late()

    def inserted_since(self, since: datetime) -> Sequence[OutboundRow]:
        """Rows inserted at or after an instant, by id; more of them around the end of summer time."""
        found = self._read(self._sql.since, (earliest_local(since, self._zone),))
        return [
            OutboundRow(int(row_id or 0), (text or b"").decode("utf-8", "replace"))
            for row_id, text in found.rows
        ]

    def check_rights(self) -> None:
        """Return when we may insert rows: the statement is tried with a permit that is over."""
        values = ("", "2000-01-01 00:00:00", "", LONG_AGO)
        self._table.tried("INSERT", lambda session: session.run(self._sql.insert, values))

    def ping(self) -> None:
        """Return when the mailbox answers, else raise `Transient`."""
        self._read(self._sql.ping)

    def close(self) -> None:
        """Close the connection. Idempotent."""
        self._link.close()

    def _insert(self, text: str, routing_id: str, end: str) -> Result:
        values = (text, to_local(self._clock.now(), self._zone), routing_id, end)
        try:
            return self._link.run(lambda session: session.run(self._sql.insert, values), again=False)
        except Forbidden as error:
            needs = f"the mailbox user needs INSERT on {_TABLE_SETTING}: {error.detail}"
            raise Transient("mailbox", needs) from error

    def _read(self, sql: str, values: Sequence[str] = ()) -> Result:
        try:
            return self._link.run(lambda session: session.run(sql, values), again=True)
        except Rejected as error:
            raise Transient("mailbox", str(error.detail)) from error
