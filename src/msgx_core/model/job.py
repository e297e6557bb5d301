"""Jobs that an operator leaves for the lease holder (D-34)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import datetime

from attrs import field, frozen


class JobKind(enum.Enum):
    """What the holder can be asked to do. Both do no harm when they are done again."""

    CACHE_REBUILD = "cache-rebuild"
    SWEEP = "sweep"


class JobState(enum.Enum):
    """`PENDING → RUNNING → DONE | FAILED`."""

    PENDING = "PENDING"
    RUNNING = "RUNNING"
    DONE = "DONE"
    FAILED = "FAILED"


OPEN_JOB_STATES = frozenset({JobState.PENDING, JobState.RUNNING})


@frozen
class Job:
    """One row of `OPS_JOB`.

    `counts` are its numbers, so far or at the end; `detail` says how it ended, or what it waits for.
    `started_at` is when it was begun for the first time, `epoch` that of the holder that wrote it last.
    """

    job_id: int
    kind: JobKind
    state: JobState
    created_at: datetime
    started_at: datetime | None = None
    ended_at: datetime | None = None
    detail: str | None = None
    counts: Mapping[str, int] = field(factory=dict)
    epoch: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether a holder has it still to do, or to do again."""
        return self.state in OPEN_JOB_STATES


@frozen
class JobEnd:
    """How a job ended: done or failed, in words, with its numbers."""

    state: JobState
    detail: str
    counts: Mapping[str, int] = field(factory=dict)
