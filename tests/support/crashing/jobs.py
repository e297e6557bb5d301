"""Kinds of jobs that people leave for the lease holder, and of outages that are told."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from crashing.bench import Act, Bench, Kind, Phase
from crashing.faults import cache_is_away, until
from crashing.kinds import BEFORE, DRAINED, quietly
from crashing.work import WHY
from msgx_core.errors import Transient
from msgx_core.model.job import JobKind


def _asked(kind: JobKind) -> Act:
    def act(bench: Bench) -> None:
        bench.store.ask_job(kind, WHY, bench.clock.now())

    return act


def _run(bench: Bench) -> None:
    """What the daemon does; a job that meets an outage stays open."""
    with suppress(Transient):
        bench.ready().jobs.run()


RUN = Phase(_run)
JOBS: Sequence[Kind] = (
    Kind("job: cache rebuild", (quietly(_asked(JobKind.CACHE_REBUILD)), RUN), BEFORE),
    Kind(
        "job: sweep",
        (quietly(_asked(JobKind.SWEEP)), Phase(_run, timedelta(days=6)), DRAINED),
        BEFORE,
        history=True,
    ),
    Kind("job: sweep without a history store", (quietly(_asked(JobKind.SWEEP)), RUN), BEFORE),
    Kind(
        "job that waits for the cache",
        (quietly(_asked(JobKind.CACHE_REBUILD)), RUN, RUN),
        BEFORE,
        faults={"cache": cache_is_away(until(45))},
    ),
)
