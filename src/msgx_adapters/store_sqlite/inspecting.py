"""What verification reads: every row as it stands, readable or not (D-36)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgx_adapters.store_sql.documents import dump_fields, dump_list, dump_node
from msgx_adapters.store_sql.rows import LEAST, MOST
from msgx_adapters.store_sql.stored import in_form, stored_row
from msgx_adapters.store_sqlite.session import SQL, Role
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
)

PAGE = 500
_ALL = {
    FLIGHTS: "stored_flights",
    SECTIONS: "stored_sections",
    FLOORS: "stored_floors",
    GENERATIONS: "stored_generations",
    MEMBERS: "stored_members",
    SENDERS: "stored_senders",
    REFERENCES: "stored_references",
    COUNTERS: "stored_counters",
    AUDITS: "stored_audits",
    PINS: "stored_pins",
}


class InspectionRole(Role):
    """`ports.inspection.Inspection`. Fields are one text, in the order in which they were put."""

    keeps_element_order = True

    def stored(self, table: Table) -> Iterator[StoredRow]:
        """All rows of a table."""
        return self._paged(_ALL[table], table)

    def stored_flight(self, flid: int) -> StoredRow | None:
        """One flight."""
        return next(iter(self._stored("stored_flight", FLIGHTS, flid=flid)), None)

    def stored_message(self, msg_id: int) -> StoredRow | None:
        """One message."""
        return next(iter(self._stored("stored_message", MESSAGES, msg_id=msg_id)), None)

    def stored_applied(self, after: int, limit: int) -> Sequence[StoredRow]:
        """Applied messages by `APPLY_NO`."""
        return self._stored("stored_applied", MESSAGES, after=after, limit=limit)

    def stored_unapplied(self) -> Iterator[StoredRow]:
        """The other messages by `MSG_ID`."""
        return self._paged("stored_unapplied", MESSAGES)

    def stored_notices(self, msg_ids: Sequence[int]) -> Sequence[StoredRow]:
        """The `msg` events of these messages."""
        return self._stored("stored_notices", EVENTS, msg_ids=dump_list(list(msg_ids)))

    def stored_orphans(self) -> Iterator[StoredRow]:
        """`msg` events of messages that are not there, or were not applied."""
        return self._paged("stored_orphans", EVENTS)

    def stored_versions(self, flid: int) -> Sequence[StoredRow]:
        """The `msg` events of a flight."""
        return self._stored("stored_versions", EVENTS, flid=flid)

    def stored_documents(self) -> Iterator[StoredRow]:
        """The `schd` rows by `FLID`."""
        return self._paged("stored_documents", EVENTS)

    def given_out(self) -> Mapping[str, int]:
        """The highest number of each counter but `apply_no`."""
        with self.reader.read():
            return {row["NAME"]: row["VALUE"] for row in self.reader.rows(SQL["given_out"], {})}

    def strays(self) -> Iterator[Stray]:
        """None: raw sections, the only part of a flight with a table of its own, are read whole."""
        return iter(())

    def _paged(self, statement: str, table: Table) -> Iterator[StoredRow]:
        at: int | None = LEAST
        while at is not None:
            with self.reader.read():
                found = self.reader.stored(SQL[statement], {"at": at, "limit": PAGE})
            last = found[-1]["AT"] if len(found) == PAGE else MOST
            at = None if last == MOST else last + 1
            yield from (_row(table, row) for row in found)

    def _stored(self, statement: str, table: Table, **values: int | str) -> list[StoredRow]:
        with self.reader.read():
            return [_row(table, row) for row in self.reader.stored(SQL[statement], values)]


def _row(table: Table, row: Mapping[str, Any]) -> StoredRow:
    """The row; JSON has one form, that of `store_sql.documents`."""
    found = stored_row(table, row)
    if table is FLIGHTS:
        return in_form(found, "CONTENT", row["CONTENT"], dump_fields)
    return in_form(found, "PAYLOAD", row["PAYLOAD"], dump_node) if table is REFERENCES else found
