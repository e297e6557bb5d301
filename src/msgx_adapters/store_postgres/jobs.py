"""Jobs: left by people, done by the lease holder (D-34); one call each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from msgx_adapters.store_postgres.session import Role
from msgx_adapters.store_sql import rows
from msgx_adapters.store_sql.documents import dump_counts
from msgx_core.model.job import Job, JobEnd, JobKind, JobState
from msgx_core.ports.jobs import JobAsked
from msgx_core.ports.operations import Audit


class JobRole(Role):
    """`ports.jobs`: both sides."""

    def ask_job(self, kind: JobKind, audit: Audit, now: datetime) -> JobAsked:
        """A new `PENDING` job, or the `PENDING` one of that kind."""
        (row,) = self.write("ask_job", kind=kind.value, actor=audit.actor, why=audit.reason, now=now)
        return JobAsked(Job(row["JOB_ID"], kind, JobState.PENDING, row["CREATED_AT"]), row["JOINED"])

    def job(self, job_id: int) -> Job | None:
        """One job."""
        found = self.read_rows("job", job_id=job_id)
        return rows.job(found[0]) if found else None

    def jobs(self, limit: int = 100, after: int | None = None) -> Sequence[Job]:
        """Jobs, newest first."""
        return [rows.job(row) for row in self.read_rows("jobs", limit=limit, after=after)]

    def open_jobs(self) -> Sequence[Job]:
        """`PENDING` and `RUNNING` jobs, oldest first."""
        return [rows.job(row) for row in self.read_rows("open_jobs")]

    def start_job(self, job_id: int, now: datetime) -> Job | None:
        """`→ RUNNING` under our epoch; None when it has ended meanwhile."""
        found = self.fenced("start_job", job_id=job_id, now=now)
        return rows.job(found[0]) if found else None

    def note_job(self, job_id: int, detail: str | None, counts: Mapping[str, int], now: datetime) -> bool:
        """How far it is, or what it waits for."""
        (row,) = self.fenced("note_job", job_id=job_id, detail=detail, counts=dump_counts(counts), now=now)
        return bool(row["DONE"])

    def end_job(self, job_id: int, end: JobEnd, now: datetime) -> bool:
        """`RUNNING → DONE | FAILED`; False when it is not ours."""
        (row,) = self.fenced(
            "end_job",
            job_id=job_id,
            state=end.state.value,
            detail=end.detail,
            counts=dump_counts(end.counts),
            now=now,
        )
        return bool(row["DONE"])
