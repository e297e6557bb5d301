"""Rows for upstream in the shared MySQL or MariaDB mailbox (IMP §7.2, D-32)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from attrs import frozen

from msgx_adapters.mysql_link import Forbidden, Link, Result, Target, checked, filled, quoted
from msgx_core.errors import Rejected, Transient
from msgx_core.model.localtime import earliest_local, to_local
from msgx_core.ports.clock import Clock
from msgx_core.ports.outbound import OutboundRow

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
        self, target: Target, statements: Statements, *, zone: ZoneInfo, clock: Clock, timeout_s: float
    ) -> None:
        self._sql = statements
        self._zone = zone
        self._clock = clock
        self._link = Link(target, timeout_s)

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
        statements = Statements.load(table, names)
        target = Target.of(url)
        outbound = cls(target, statements, zone=zone, clock=clock, timeout_s=timeout_s)
        try:
            checked(outbound._link, target.name, (_TABLE_SETTING, table), names.settings())
        except BaseException:
            outbound.close()
            raise
        return outbound

    def insert(self, text: str, routing_id: str) -> int:
        """Commit one row, inserted now; returns its id.

        Never tried a second time: when the connection is lost on the way it may be there. `Rejected` when
        the server refuses this row, `ValueError` for a text that is none.
        """
        text.encode()
        values = (text, to_local(self._clock.now(), self._zone), routing_id)
        try:
            done: Result = self._link.run(lambda session: session.run(self._sql.insert, values), again=False)
        except Forbidden as error:
            needs = f"the mailbox user needs INSERT on {_TABLE_SETTING}: {error.detail}"
            raise Transient("mailbox", needs) from error
        return done.last_id

    def inserted_since(self, since: datetime) -> Sequence[OutboundRow]:
        """Rows inserted at or after an instant, by id; more of them around the end of summer time."""
        found = self._read(self._sql.since, (earliest_local(since, self._zone),))
        return [
            OutboundRow(int(row_id or 0), (text or b"").decode("utf-8", "replace"))
            for row_id, text in found.rows
        ]

    def ping(self) -> None:
        """Return when the mailbox answers, else raise `Transient`."""
        self._read(self._sql.ping)

    def close(self) -> None:
        """Close the connection. Idempotent."""
        self._link.close()

    def _read(self, sql: str, values: Sequence[str] = ()) -> Result:
        try:
            return self._link.run(lambda session: session.run(sql, values), again=True)
        except Rejected as error:
            raise Transient("mailbox", str(error.detail)) from error
