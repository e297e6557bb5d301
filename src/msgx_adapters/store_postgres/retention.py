"""Removal by age, each object under its conditions (IMP §9.3, FST §8.3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgx_adapters.store_postgres.session import Role
from msgx_core.ports import RetentionCutoffs

_OBJECTS = {
    "MSG_EVENT": "events",
    "PROC_STATE": "processed",
    "SCHD_SNAP_LOG": "snapshots",
    "REQ_TRACK": "requests",
    "OPS_JOB": "jobs",
    "SCHD_GEN": "ledger",
}
"""Objects, and the last word of their statements."""


class RetentionRole(Role):
    """`ports.Retention`. Each object is a statement, and a transaction, of its own."""

    def retention_preview(self, cutoffs: RetentionCutoffs) -> Mapping[str, Mapping[str, int]]:
        """Per object: how many would go, how many of that age stay, by reason."""
        aged = {"REQ_TRACK": {"aged": cutoffs.requests_aged or cutoffs.requests}}
        return {
            name: {"go": 0}
            | {
                r["REASON"]: r["N"]
                for r in self.read_rows(f"preview_{_OBJECTS[name]}", **values, **aged.get(name, {}))
                if r["N"]
            }
            for name, values in _wanted(cutoffs)
        }

    def remove_expired(self, cutoffs: RetentionCutoffs, limit: int) -> Mapping[str, int]:
        """Remove at most `limit` of each object; each only if it still may go."""
        return {
            name: int(self.write(f"remove_{_OBJECTS[name]}", **values, limit=limit)[0]["N"])
            for name, values in _wanted(cutoffs)
        }


def _wanted(cutoffs: RetentionCutoffs) -> Iterator[tuple[str, dict[str, Any]]]:
    """Objects that have a cut-off, with what their statements need."""
    limits = {
        "MSG_EVENT": cutoffs.events,
        "PROC_STATE": cutoffs.processed,
        "SCHD_SNAP_LOG": cutoffs.snapshot_log,
        "REQ_TRACK": cutoffs.requests,
        "OPS_JOB": cutoffs.jobs,
        "SCHD_GEN": cutoffs.ledger,
    }
    for name, cutoff in limits.items():
        if cutoff is not None:
            more = {"late_since": cutoffs.late_since} if name == "SCHD_GEN" else {}
            yield name, {"cutoff": cutoff, **more}
