"""What verification reads: every row as it stands, readable or not (D-36)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgx_adapters.store_postgres.session import Role
from msgx_adapters.store_postgres.statement import in_schema, statement
from msgx_adapters.store_postgres.tables import strays_sql
from msgx_adapters.store_sql.rows import LEAST
from msgx_adapters.store_sql.stored import stored_row, unreadable
from msgx_core.model.sis import SINGLES
from msgx_core.ports.inspection import (
    AUDITS,
    COUNTERS,
    EVENTS,
    FLIGHTS,
    FLOORS,
    GENERATIONS,
    MEMBERS,
    MESSAGES,
    PINS,
    REFERENCES,
    SECTIONS,
    SENDERS,
    StoredRow,
    Stray,
    Table,
    Unreadable,
)

PAGE = 500
_PAGED = {
    FLIGHTS: "stored_flights",
    FLOORS: "stored_floors",
    MEMBERS: "stored_members",
    SECTIONS: "stored_sections",
}
_AT_ONCE = {
    GENERATIONS: "stored_generations",
    SENDERS: "stored_senders",
    REFERENCES: "stored_references",
    COUNTERS: "stored_counters",
    AUDITS: "stored_audits",
    PINS: "stored_pins",
}


class InspectionRole(Role):
    """`ports.inspection.Inspection`. The keys of an element are columns, which have an order of their own."""

    keeps_element_order = False

    def stored(self, table: Table) -> Iterator[StoredRow]:
        """All rows of a table."""
        if table in _PAGED:
            return self._paged(_PAGED[table], table, "FLID")
        return (stored_row(table, row) for row in self.read_rows(_AT_ONCE[table]))

    def stored_flight(self, flid: int) -> StoredRow | None:
        """One flight."""
        return next((_row(FLIGHTS, row) for row in self.read_rows("stored_flight", flid=flid)), None)

    def stored_message(self, msg_id: int) -> StoredRow | None:
        """One message."""
        return next((_row(MESSAGES, row) for row in self.read_rows("stored_message", msg_id=msg_id)), None)

    def stored_applied(self, after: int, limit: int) -> Sequence[StoredRow]:
        """Applied messages by `APPLY_NO`."""
        return [_row(MESSAGES, row) for row in self.read_rows("stored_applied", after=after, limit=limit)]

    def stored_unapplied(self) -> Iterator[StoredRow]:
        """The other messages by `MSG_ID`."""
        return self._paged("stored_unapplied", MESSAGES, "MSG_ID")

    def stored_notices(self, msg_ids: Sequence[int]) -> Sequence[StoredRow]:
        """The `msg` events of these messages."""
        return [_row(EVENTS, row) for row in self.read_rows("stored_notices", msg_ids=list(msg_ids))]

    def stored_orphans(self) -> Iterator[StoredRow]:
        """`msg` events of messages that are not there, or were not applied."""
        return self._paged("stored_orphans", EVENTS, "EVENT_ID")

    def stored_versions(self, flid: int) -> Sequence[StoredRow]:
        """The `msg` events of a flight."""
        return [_row(EVENTS, row) for row in self.read_rows("stored_versions", flid=flid)]

    def stored_documents(self) -> Iterator[StoredRow]:
        """The `schd` rows by `FLID`."""
        return self._paged("stored_documents", EVENTS, "FLID")

    def given_out(self) -> Mapping[str, int]:
        """The highest number of each counter but `apply_no`."""
        return {row["NAME"]: row["VALUE"] for row in self.read_rows("given_out")}

    def strays(self) -> Iterator[Stray]:
        """Rows of the detail tables without a flight, and collections whose places have gaps."""
        for table, sql in strays_sql():
            asked = statement("stored_strays", in_schema(sql, self.pool.target.schema))
            for row in self.pool.rows(asked, {}, again=True):
                key = str(row["FLID"]) if row["KIND"] is None else f"{row['FLID']}/{row['KIND']}"
                if row["IS_LOST"]:
                    yield Stray(table, key, "FLID", row["FLID"])
                else:
                    yield Stray(table, key, "ORDINAL", f"{row['FIRST']}..{row['LAST']} of {row['N']} rows")

    def _paged(self, name: str, table: Table, key: str) -> Iterator[StoredRow]:
        at = LEAST
        while found := self.read_rows(name, at=at, limit=PAGE):
            at = found[-1][key]
            yield from (_row(table, row) for row in found)


def _row(table: Table, row: Mapping[str, Any]) -> StoredRow:
    found = stored_row(table, row)
    return _in_order(found) if table is FLIGHTS else found


def _in_order(row: StoredRow) -> StoredRow:
    """The fields in the order of `TAG_ORDER`, which also names elements that have no key."""
    fields, order = row["CONTENT"], row["TAG_ORDER"]
    if not isinstance(order, str) or isinstance(fields, Unreadable):
        return row
    tags = order.split()
    bare = set(tags) - fields.keys()
    if len(set(tags)) != len(tags) or not fields.keys() <= set(tags) or not bare <= SINGLES.keys():
        return {**row, "TAG_ORDER": unreadable(order)}
    return {**row, "CONTENT": {tag: fields.get(tag, {}) for tag in tags}}
