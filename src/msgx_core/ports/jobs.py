"""The store port for jobs: left by people, done by the lease holder (D-34)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from msgx_core.model.job import Job, JobEnd, JobKind
from msgx_core.ports.operations import Audit


@frozen
class JobAsked:
    """The job that will be done; `joined`: it was there already, and nobody had begun it."""

    job: Job
    joined: bool


class JobDesk(Protocol):
    """The people's side; carries no epoch."""

    def ask_job(self, kind: JobKind, audit: Audit, now: datetime) -> JobAsked:
        """A new `PENDING` job, or the `PENDING` one of that kind; audited either way (`ask_job`).

        One that is running is not joined: it may be past what this one is asked for.
        """
        ...

    def job(self, job_id: int) -> Job | None:
        """One job."""
        ...

    def jobs(self, limit: int = 100, after: int | None = None) -> Sequence[Job]:
        """Jobs, newest first, behind the id `after`."""
        ...


class JobWork(Protocol):
    """The holder's side. Every write is fenced, conditional, and puts the epoch on the row."""

    def open_jobs(self) -> Sequence[Job]:
        """`PENDING` and `RUNNING` jobs, oldest first."""
        ...

    def start_job(self, job_id: int, now: datetime) -> Job | None:
        """`→ RUNNING` under our epoch, as it is then; None when it has ended meanwhile.

        One that is `RUNNING` is begun again: its holder is gone, or it met an outage. `STARTED_AT` stays.
        """
        ...

    def note_job(self, job_id: int, detail: str | None, counts: Mapping[str, int], now: datetime) -> bool:
        """How far it is, or what it waits for; False when it is not ours and `RUNNING`."""
        ...

    def end_job(self, job_id: int, end: JobEnd, now: datetime) -> bool:
        """`RUNNING → DONE | FAILED`; False, and nothing written, when it is not ours and `RUNNING`."""
        ...
