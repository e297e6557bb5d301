"""Outbound rows in memory: same promises as the real ones, and outages on demand (IMP §7.2, D-32)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from attrs import frozen

from msgx_core.errors import Late, Transient
from msgx_core.model.localtime import earliest_local, to_local
from msgx_core.ports.clock import Clock
from msgx_core.ports.outbound import OutboundRow
from msgx_core.ports.permit import Permit

_TRIES = 3


@frozen
class Row:
    """One row as the table would hold it; `inserted` is airport local time, `YYYY-MM-DD HH:MM:SS`."""

    row_id: int
    text: str
    inserted: str
    routing_id: str


class MemoryOutbound:
    """Implements `Outbound`. Thread-safe. While `outage` has a text, every call but `close` raises it."""

    def __init__(self, *, zone: ZoneInfo, clock: Clock) -> None:
        self.outage: str | None = None
        self._zone = zone
        self._clock = clock
        self._guard = threading.Lock()
        self._rows: list[Row] = []
        self._closed = False

    def insert(self, text: str, routing_id: str, permit: Permit | None = None) -> int:
        """Keep one row, inserted now; returns its id. The mailbox's clock is ours."""
        text.encode()
        for _ in range(_TRIES):
            until = None if permit is None else permit(self._clock.now())
            with self._guard:
                self._answer()
                if until is None or self._clock.now() < until:
                    return self._put(text, to_local(self._clock.now(), self._zone), routing_id)
        raise Late("the row was not inserted in time")

    def inserted_since(self, since: datetime) -> Sequence[OutboundRow]:
        """Rows inserted at or after an instant, by id."""
        with self._guard:
            self._answer()
            first = earliest_local(since, self._zone)
            return [OutboundRow(row.row_id, row.text) for row in self._rows if row.inserted >= first]

    def check_rights(self) -> None:
        """Return, unless there is an outage: there are no rights here."""
        self.ping()

    def ping(self) -> None:
        """Return, unless there is an outage."""
        with self._guard:
            self._answer()

    def close(self) -> None:
        """Answer no more. Idempotent."""
        with self._guard:
            self._closed = True

    def rows(self) -> tuple[Row, ...]:
        """All rows by id, for inspection: also during an outage and after `close`."""
        with self._guard:
            return tuple(self._rows)

    def put(self, text: str, inserted: str, routing_id: str = "OTHER") -> int:
        """Somebody else inserts a row at that local time; outages do not matter."""
        with self._guard:
            return self._put(text, inserted, routing_id)

    def _put(self, text: str, inserted: str, routing_id: str) -> int:
        self._rows.append(Row(len(self._rows) + 1, text, inserted, routing_id))
        return len(self._rows)

    def _answer(self) -> None:
        if self.outage is not None:
            raise Transient("mailbox", self.outage)
        if self._closed:
            raise Transient("mailbox", "closed")
