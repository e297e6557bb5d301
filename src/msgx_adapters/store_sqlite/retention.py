"""Removal by age, each object under its conditions (IMP §9.3, FST §8.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from attrs import frozen

from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import day_text, stamp
from msgx_core.ports import RetentionCutoffs

_LEDGER = "SCHD_GEN"


@frozen
class _Object:
    """An object that goes row by row: its name, and the names of its statements."""

    name: str
    cutoff: str
    old: str
    remove: str
    preview: str


_OBJECTS = (
    _Object("MSG_EVENT", "events", "old_events", "remove_event", "preview_events"),
    _Object("PROC_STATE", "processed", "old_processed", "remove_processed", "preview_processed"),
    _Object("SCHD_SNAP_LOG", "snapshot_log", "old_snapshots", "remove_snapshot", "preview_snapshots"),
    _Object("REQ_TRACK", "requests", "old_requests", "remove_request", "preview_requests"),
    _Object("OPS_JOB", "jobs", "old_jobs", "remove_job", "preview_jobs"),
)


class RetentionRole(Role):
    """`ports.Retention`."""

    def retention_preview(self, cutoffs: RetentionCutoffs) -> Mapping[str, Mapping[str, int]]:
        """Per object: how many would go, how many of that age stay, by reason."""
        found: dict[str, Mapping[str, int]] = {}
        with self.reader.read():
            for what in _OBJECTS:
                cutoff: datetime | None = getattr(cutoffs, what.cutoff)
                if cutoff is not None:
                    aged = (what.cutoff == "requests" and cutoffs.requests_aged) or cutoff
                    rows = self.reader.rows(SQL[what.preview], {"cutoff": stamp(cutoff), "aged": stamp(aged)})
                    found[what.name] = {"go": 0} | {row["REASON"]: row["N"] for row in rows}
            if cutoffs.ledger is not None:
                reasons = (row["REASON"] for row in self.reader.rows(SQL["ledger_days"], _ledger(cutoffs)))
                found[_LEDGER] = {"go": 0, **Counter(reasons)}
        return found

    def remove_expired(self, cutoffs: RetentionCutoffs, limit: int) -> Mapping[str, int]:
        """Remove at most `limit` of each object; each only if it still may go."""
        removed: dict[str, int] = {}
        for what in _OBJECTS:
            cutoff: datetime | None = getattr(cutoffs, what.cutoff)
            if cutoff is not None:
                removed[what.name] = self._remove(what, stamp(cutoff), limit)
        if cutoffs.ledger is not None:
            removed[_LEDGER] = self._remove_ledger(cutoffs, limit)
        return removed

    def _remove(self, what: _Object, cutoff: str, limit: int) -> int:
        # Looked for without the write lock of the file: messages go on meanwhile.
        with self.reader.read():
            keys = self.reader.rows(SQL[what.old], {"cutoff": cutoff, "limit": limit})
        if not keys:
            return 0
        with self.db.write():
            return self.db.run_many(SQL[what.remove], ({**key, "cutoff": cutoff} for key in keys))

    def _remove_ledger(self, cutoffs: RetentionCutoffs, limit: int) -> int:
        with self.db.write():
            rows = self.db.rows(SQL["ledger_days"], _ledger(cutoffs))
            days = [{"day": day_text(row["OPERATION_DAY"])} for row in rows if row["REASON"] == "go"][:limit]
            self.db.run_many(SQL["clear_roster"], days)
            return self.db.run_many(SQL["remove_generation"], days)


def _ledger(cutoffs: RetentionCutoffs) -> Mapping[str, str | None]:
    return {"cutoff": day_text(cutoffs.ledger), "late_since": stamp(cutoffs.late_since)}
