"""Numbers that are missing among the applied messages: taken by age, or by a hand (IMP §9.3, D-02)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from attrs import define

from msgx_core.ports.inspection import Inspection, StoredRow

_FINAL = frozenset({"SUCCEEDED", "SKIPPED", "DEAD"})


@define
class Gaps:
    """Sees the applied messages in the order of their numbers.

    Retention takes what is final and written back, oldest change first. So a message that is missing although
    one that was settled before it was applied is still there has not gone by age. Nor has one that was
    applied since `kept_since`: by the row before it, or by `witnesses`, the times of its events.
    """

    store: Inspection
    kept_since: datetime | None = None
    witnesses: Sequence[datetime] = ()
    last: int = 0
    last_at: datetime | None = None
    _settled_at: datetime | None = None
    _settled_id: int = 0

    def see(self, row: StoredRow) -> None:
        """The next row."""
        self.last = row["APPLY_NO"]
        if isinstance(row["APPLIED_AT"], datetime):
            self.last_at = row["APPLIED_AT"]
        at = row["UPDATED_AT"]
        settled = row["STATE"] in _FINAL and isinstance(row["BACKFILL_AT"], datetime)
        if settled and isinstance(at, datetime) and (self._settled_at is None or at < self._settled_at):
            self._settled_at, self._settled_id = at, row["MSG_ID"]

    def before(self, number: int) -> tuple[int, int] | None:
        """The first and last number missing before this one; None: it is the next."""
        first, last = self.last + 1, number - 1
        return None if first > last else (first, last)

    def by_hand(self, until: datetime | None) -> bool:
        """Whether what is missing behind the last row seen, and before `until`, cannot have gone by age."""
        if self._is_young(until):
            return True
        if self._settled_at is None or self.last_at is None or self._settled_at > self.last_at:
            return False
        return self.undisturbed()

    def _is_young(self, until: datetime | None) -> bool:
        if self.kept_since is None:
            return False
        if self.last_at is not None and self.last_at >= self.kept_since:
            return True
        since = self.kept_since if self.last_at is None else max(self.last_at, self.kept_since)
        return any(since <= at and (until is None or at <= until) for at in self.witnesses)

    def undisturbed(self) -> bool:
        """Whether retention has taken none of the messages that were seen: it may be at work this moment."""
        return self._settled_at is None or self.store.stored_message(self._settled_id) is not None
