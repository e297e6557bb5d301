"""A list of reference data as it was before a message: from the full list behind it, and what came since."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from attrs import frozen

from msgx_core.model.reference import RefChange, ReplaceCategory
from msgx_core.pipeline.desk import Apply
from msgx_core.pipeline.past import ReadStore
from msgx_core.pipeline.recompute import Policies, TextSource, decide_again
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.pipeline.ref_lists import RefLists
from msgx_core.ports.codec import Codec
from msgx_core.ports.operations import MessageFilter, Row

_PAGE = 2000


@frozen
class PastLists:
    """Reads only. A message of reference data hangs on nothing but its text and the settings."""

    store: ReadStore
    text: TextSource
    codec: Codec
    policies: Policies

    def before(self, rtype: str, number: int) -> RefLists | None:
        """The list of a category before that `APPLY_NO`; None: a part of its past is lost."""
        rows = [row for row in self._rows(rtype) if row["APPLY_NO"] < number]
        changes: list[RefChange] = []
        for row in sorted(rows, key=lambda row: int(row["APPLY_NO"]), reverse=True):
            found = self._changes(row)
            if found is None:
                return None
            changes[:0] = found
            if any(isinstance(each, ReplaceCategory) for each in found):
                return _made(changes)
        first = next(iter(self.store.stored_applied(0, 1)), None)
        return _made(changes) if first is not None and first["APPLY_NO"] == 1 else None

    def _rows(self, rtype: str) -> Iterator[Row]:
        after: int | None = None
        while page := self.store.messages(MessageFilter(type=rtype, after=after, limit=_PAGE)):
            after = page[-1]["MSG_ID"]
            yield from (row for row in page if row.get("APPLY_NO") is not None)

    def _changes(self, row: Row) -> tuple[RefChange, ...] | None:
        at, raw = row.get("APPLIED_AT"), self.text(row)
        if raw is None or not isinstance(at, datetime):
            return None
        policy = self.policies.of(row.get("COVERAGE"))
        try:
            _, decision = decide_again(row, raw, Recomputed(), self.codec, policy, at)
        except Exception:
            # A text that is wrong today: what it did then is not known.
            return None
        return decision.change.reference if isinstance(decision, Apply) else None


def _made(changes: list[RefChange]) -> RefLists:
    lists = RefLists()
    for each in changes:
        lists.change(each)
    return lists
