"""Applied messages whose number was never given out: told first, put where it is missing (D-27)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from attrs import define, field

from msgx_core.pipeline.differences import Difference
from msgx_core.ports.inspection import COUNTERS, MESSAGES, Inspection, StoredRow

_MOST = 2000


@define
class Misplaced:
    """What stands above the counter: a number that is wrong is one difference, not all that follows."""

    store: Inspection
    rows: list[StoredRow] = field(factory=list)

    @classmethod
    def of(cls, store: Inspection, told: Callable[[Difference], None]) -> Misplaced:
        """Look, and tell each. A message just above the counter says that the counter is wrong instead."""
        above = store.stored_applied(last_number(store), _MOST)
        # What was applied meanwhile has been counted by now.
        last = last_number(store)
        rows = [row for row in above if row["APPLY_NO"] > last and isinstance(row["MSG_ID"], int)]
        if not rows or rows[0]["APPLY_NO"] == last + 1:
            return cls(store)
        for row in rows:
            key, number = str(row["MSG_ID"]), row["APPLY_NO"]
            told(Difference("message", MESSAGES.name, key, "APPLY_NO", number, f"{last} or less"))
        return cls(store, sorted(rows, key=_place))

    def numbers(self) -> frozenset[int]:
        """What they stand under."""
        return frozenset(row["APPLY_NO"] for row in self.rows)

    def fill(self, first: int, last: int, since: datetime | None, until: datetime | None) -> list[StoredRow]:
        """The rows to which these numbers belong, by when they were applied; none where that is not clear."""
        fits = [
            row
            for row in self.rows
            if isinstance(row["APPLIED_AT"], datetime)
            and (since is None or row["APPLIED_AT"] >= since)
            and (until is None or row["APPLIED_AT"] <= until)
        ]
        if len(fits) != last - first + 1:
            return []
        return [{**row, "APPLY_NO": first + n} for n, row in enumerate(fits)]


def last_number(store: Inspection) -> int:
    """The number of the last message applied, as the counter says."""
    found: dict[Any, Any] = {row["NAME"]: row["VALUE"] for row in store.stored(COUNTERS)}
    number = found.get("apply_no", 0)
    return number if isinstance(number, int) else 0


def _place(row: StoredRow) -> tuple[bool, Any, int]:
    at = row["APPLIED_AT"]
    return (True, at, row["MSG_ID"]) if isinstance(at, datetime) else (False, 0, row["MSG_ID"])
