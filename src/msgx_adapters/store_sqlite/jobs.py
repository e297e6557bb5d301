"""Jobs: left by people, done by the lease holder (D-34)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgx_adapters.store_sql import rows
from msgx_adapters.store_sql.documents import dump_counts
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.model.job import Job, JobEnd, JobKind
from msgx_core.ports.jobs import JobAsked
from msgx_core.ports.operations import Audit

_ALL = 2**63 - 1


class JobRole(Role):
    """`ports.jobs`: both sides."""

    def ask_job(self, kind: JobKind, audit: Audit, now: datetime) -> JobAsked:
        """A new `PENDING` job, or the `PENDING` one of that kind."""
        values = {"kind": kind.value, "now": stamp(now)}
        who = {"actor": audit.actor, "why": audit.reason, "detail": kind.value, "now": stamp(now)}
        with self.db.write():
            made = self.db.row(SQL["ask_job"], values)
            job = rows.job(self.db.rows(SQL["pending_job"], values)[0] if made is None else made)
            self.db.run(SQL["insert_audit"], {"action": "ask_job", "target": job.job_id, **who})
        return JobAsked(job, joined=made is None)

    def job(self, job_id: int) -> Job | None:
        """One job."""
        with self.reader.read():
            row = self.reader.row(SQL["job"], {"job_id": job_id})
        return None if row is None else rows.job(row)

    def jobs(self, limit: int = 100, after: int | None = None) -> Sequence[Job]:
        """Jobs, newest first."""
        before = _ALL if after is None else after
        with self.reader.read():
            return [
                rows.job(row) for row in self.reader.rows(SQL["jobs"], {"before": before, "limit": limit})
            ]

    def open_jobs(self) -> Sequence[Job]:
        """`PENDING` and `RUNNING` jobs, oldest first."""
        with self.reader.read():
            return [rows.job(row) for row in self.reader.rows(SQL["open_jobs"])]

    def start_job(self, job_id: int, now: datetime) -> Job | None:
        """`→ RUNNING` under our epoch; None when it has ended meanwhile."""
        with self.fenced() as epoch:
            row = self.db.row(SQL["start_job"], {"job_id": job_id, "now": stamp(now), "epoch": epoch})
        return None if row is None else rows.job(row)

    def note_job(self, job_id: int, detail: str | None, counts: Mapping[str, int], now: datetime) -> bool:
        """How far it is, or what it waits for."""
        values = {"job_id": job_id, "detail": detail, "counts": dump_counts(counts), "now": stamp(now)}
        with self.fenced() as epoch:
            return bool(self.db.run(SQL["note_job"], {**values, "epoch": epoch}))

    def end_job(self, job_id: int, end: JobEnd, now: datetime) -> bool:
        """`RUNNING → DONE | FAILED`; False when it is not ours."""
        values = {
            "job_id": job_id,
            "state": end.state.value,
            "detail": end.detail,
            "counts": dump_counts(end.counts),
            "now": stamp(now),
        }
        with self.fenced() as epoch:
            return bool(self.db.run(SQL["end_job"], {**values, "epoch": epoch}))
