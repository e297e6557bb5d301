"""The history port: where ended flights go before they leave the store (IMP §9.3, D-33)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import date, datetime
from typing import Protocol

from attrs import frozen


@frozen
class HistoryRecord:
    """One ended flight: its full state as a JSON object, and the version that was written."""

    flid: int
    version: int
    operation_day: date | None
    ended_at: datetime
    document: str


class History(Protocol):
    """Idempotent by FLID and version: writing again replaces. Bounded in time.

    Raises `Transient("history", …)` when nothing is known about any record of the call.
    """

    def write(self, records: Sequence[HistoryRecord]) -> Collection[int]:
        """Write; the FLIDs that are surely kept. What is rejected, unclear or timed out is not among them."""
        ...

    def remove_before(self, cutoff: datetime) -> int:
        """Remove records whose `ended_at` is before the cutoff; how many."""
        ...

    def count_before(self, cutoff: datetime) -> int:
        """How many records `remove_before` would remove; nothing is removed."""
        ...

    def ping(self) -> None:
        """Return when the history store answers, else raise `Transient`."""
        ...

    def close(self) -> None:
        """Give connections back. Idempotent."""
        ...
