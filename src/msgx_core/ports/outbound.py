"""The outbound port: rows for upstream in the shared mailbox database (IMP §7.2, D-32)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from msgx_core.ports.permit import Permit


@frozen
class OutboundRow:
    """A row that was inserted, by us or by others."""

    row_id: int
    text: str


class Outbound(Protocol):
    """Only "written to the mailbox" is promised; others send it (CLM-4).

    Bounded in time; raises `Transient("mailbox", …)` when the mailbox is unreachable or refuses writes.
    """

    def insert(self, text: str, routing_id: str, permit: Permit | None = None) -> int:
        """Commit one row, inserted now (airport local time), not sent; returns its id.

        With a `permit` the write begins within its time; `Late` when it did not three times: nothing is
        written then.
        """
        ...

    def inserted_since(self, since: datetime) -> Sequence[OutboundRow]:
        """Rows inserted at or after an instant, by id; a second more than asked may be included."""
        ...

    def check_rights(self) -> None:
        """At start: return when rows may be inserted; nothing is changed by that. As with `Inbox`."""
        ...

    def ping(self) -> None:
        """Return when the mailbox answers, else raise `Transient`."""
        ...

    def close(self) -> None:
        """Give connections back. Idempotent."""
        ...
