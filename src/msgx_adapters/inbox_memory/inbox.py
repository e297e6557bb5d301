"""The mailbox in memory: same promises as the real ones, and outages on demand (IMP §4.1, D-35, D-43)."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from attrs import evolve, frozen

from msgx_core.errors import Late, Transient
from msgx_core.model.localtime import to_instant, to_local
from msgx_core.ports.clock import Clock
from msgx_core.ports.codec import RawText
from msgx_core.ports.inbox import MarkResult
from msgx_core.ports.permit import Permit

_TRIES = 3
_EMPTY = (None, "", "0000-00-00 00:00:00")


@frozen
class Row:
    """One row as the table would hold it; times are airport local time, `YYYY-MM-DD HH:MM:SS`."""

    msg_id: int
    raw: RawText | None
    received: str | None = None
    processed: str | None = None


class MemoryInbox:
    """Implements `Inbox`. Thread-safe; keeps bytes as bytes and text as text.

    While `outage` has a text, every call but `close` raises `Transient` with it. `refuse_marks` names
    rows whose mark fails alone, with that text.
    """

    def __init__(self, *, zone: ZoneInfo, clock: Clock) -> None:
        self.outage: str | None = None
        self.refuse_marks: dict[int, str] = {}
        self._zone = zone
        self._clock = clock
        self._guard = threading.Lock()
        self._rows: dict[int, Row] = {}
        self._last_id = 0
        self._closed = False

    def scan(self, after: int, limit: int) -> Sequence[int]:
        """Unprocessed ids above `after`, ascending."""
        with self._guard:
            self._answer()
            waiting = sorted(i for i, row in self._rows.items() if i > after and row.processed in _EMPTY)
            return waiting[: max(limit, 0)]

    def received_at(self, ids: Sequence[int]) -> Mapping[int, datetime | None]:
        """Receive times as instants (UTC); None where there is none that can be read."""
        with self._guard:
            self._answer()
            return {i: to_instant(self._rows[i].received, self._zone) for i in ids if i in self._rows}

    def fetch(self, msg_id: int) -> RawText | None:
        """The text of a row as it was put in."""
        with self._guard:
            self._answer()
            row = self._rows.get(msg_id)
            return None if row is None else row.raw

    def fetch_small(self, ids: Sequence[int], most_bytes: int) -> Mapping[int, RawText]:
        """The texts that are there and not too long."""
        with self._guard:
            self._answer()
            raws = {msg_id: self._rows[msg_id].raw for msg_id in ids if msg_id in self._rows}
            return {
                msg_id: raw
                for msg_id, raw in raws.items()
                if raw is not None and len(raw if isinstance(raw, bytes) else raw.encode()) <= most_bytes
            }

    def mark(
        self, marks: Sequence[tuple[int, datetime]], permit: Permit | None = None
    ) -> Mapping[int, MarkResult | Exception]:
        """Write processing times; each row for itself. The mailbox's clock is ours."""
        for _ in range(_TRIES):
            until = None if permit is None else permit(self._clock.now())
            with self._guard:
                self._answer()
                if until is None or self._clock.now() < until:
                    return {msg_id: self._mark(msg_id, at) for msg_id, at in dict(reversed(marks)).items()}
        raise Late("the mailbox was not marked in time")

    def send(self, raw: RawText) -> int:
        """Put a message in, unmarked, received now; returns its id."""
        return self.send_many([raw])[0]

    def send_many(self, raws: Sequence[RawText]) -> list[int]:
        """Put messages in, in this order; returns their ids."""
        with self._guard:
            self._answer()
            for raw in raws:
                if isinstance(raw, str):
                    raw.encode()
            received = to_local(self._clock.now(), self._zone)
            return [self._put(self._last_id + 1, raw, received, None) for raw in raws]

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
            return tuple(self._rows[i] for i in sorted(self._rows))

    def insert(
        self,
        msg_id: int,
        raw: RawText | None,
        *,
        received: str | None = None,
        processed: str | None = None,
    ) -> int:
        """The owner puts in a row, also below ids that are there (a late commit); outages do not matter."""
        with self._guard:
            if msg_id in self._rows:
                raise ValueError(f"row {msg_id} is there")
            return self._put(msg_id, raw, received, processed)

    def delete(self, msg_id: int) -> None:
        """The owner removes a row; its id is not used again."""
        with self._guard:
            self._rows.pop(msg_id, None)

    def _answer(self) -> None:
        if self.outage is not None:
            raise Transient("mailbox", self.outage)
        if self._closed:
            raise Transient("mailbox", "closed")

    def _put(self, msg_id: int, raw: RawText | None, received: str | None, processed: str | None) -> int:
        self._rows[msg_id] = Row(msg_id, raw, received, processed)
        self._last_id = max(self._last_id, msg_id)
        return msg_id

    def _mark(self, msg_id: int, at: datetime) -> MarkResult | Exception:
        row = self._rows.get(msg_id)
        if row is None:
            return MarkResult.MISSING_ROW
        if row.processed not in _EMPTY:
            return MarkResult.ALREADY_MARKED
        if msg_id in self.refuse_marks:
            return RuntimeError(self.refuse_marks[msg_id])
        self._rows[msg_id] = evolve(row, processed=to_local(at, self._zone))
        return MarkResult.WRITTEN
