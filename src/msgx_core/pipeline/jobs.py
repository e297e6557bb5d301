"""Jobs that people leave for the lease holder: run oldest first, and again until they end (D-34)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

from attrs import asdict, frozen

from msgx_core.errors import Fenced, MsgxError, Transient
from msgx_core.model.job import Job, JobEnd, JobKind, JobState
from msgx_core.pipeline.cache_keeper import CacheKeeper
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.pipeline.sweep import HistorySweep, SweepResult
from msgx_core.ports.clock import Clock
from msgx_core.ports.jobs import JobWork
from msgx_core.ports.telemetry import Telemetry
from msgx_core.states.job import JOB, JobEvent

NO_HISTORY = "msgx.history.url is not set; without a history store nothing is removed"
NOTE_EVERY_S = 1.0

Stop = Callable[[], bool]
Progress = Callable[[Mapping[str, int]], None]
Work = Callable[[Stop, Progress], JobEnd | None]
"""Does a kind of job; None when it was asked to stop before it was through. Doing it again does no harm."""


@frozen
class JobRunner:
    """Runs what is open. In one thread at a time; the other parts of the pipeline go on beside it."""

    store: JobWork
    works: Mapping[JobKind, Work]
    clock: Clock
    telemetry: Telemetry
    on_step: Callable[[str], None] = no_step

    def run(self, stop: Stop = lambda: False) -> int:
        """Run the open jobs, oldest first; how many have ended.

        A job that meets an outage, or that `stop()` cuts short, stays open and is run again by the next call,
        of this holder or another; an outage holds up no job of another kind. Raises `Transient` for the
        first outage met, `Fenced` when another instance has taken over. A job that fails has ended; a
        fault of ours is raised after that.
        """
        met: dict[JobKind, Transient] = {}
        ended = 0
        for job in self.store.open_jobs():
            if stop():
                break
            if job.kind in met:
                continue
            try:
                ended += self._run(job, stop)
            except Transient as error:
                if error.service == "store":
                    raise
                met[job.kind] = error
                self._waits(job, error)
        if met:
            raise next(iter(met.values()))
        return ended

    def _run(self, job: Job, stop: Stop) -> bool:
        started = self.store.start_job(job.job_id, self.clock.now())
        if started is None:
            return False
        self.on_step(Step.JOB_STARTED)
        self.telemetry.event("job-started", job_id=job.job_id, kind=job.kind.value)
        try:
            end = self.works[job.kind](stop, self._progress(job))
        except (Transient, Fenced):
            raise
        except MsgxError as error:
            end = _failed(str(error))
        except Exception as error:
            self._end(job, _failed(f"{type(error).__name__}: {error}"))
            raise
        return end is not None and self._end(job, end)

    def _end(self, job: Job, end: JobEnd) -> bool:
        ended = self.store.end_job(job.job_id, end, self.clock.now())
        self.on_step(Step.JOB_ENDED)
        if ended:
            state, kind = end.state.value, job.kind.value
            self.telemetry.event("job-ended", job_id=job.job_id, kind=kind, state=state, detail=end.detail)
        return ended

    def _waits(self, job: Job, error: Transient) -> None:
        # Words for who waits for it; without them it is run again all the same.
        with suppress(Transient):
            self.store.note_job(job.job_id, f"waits: {error}", {}, self.clock.now())
            self.on_step(Step.JOB_NOTED)

    def _progress(self, job: Job) -> Progress:
        noted_s = self.clock.monotonic_s()

        def note(counts: Mapping[str, int]) -> None:
            nonlocal noted_s
            now_s = self.clock.monotonic_s()
            if now_s - noted_s >= NOTE_EVERY_S:
                noted_s = now_s
                self.store.note_job(job.job_id, None, counts, self.clock.now())
                self.on_step(Step.JOB_NOTED)

        return note


def job_works(keeper: CacheKeeper, sweep: HistorySweep) -> Mapping[JobKind, Work]:
    """What each kind does."""
    return {JobKind.CACHE_REBUILD: _rebuilding(keeper), JobKind.SWEEP: _sweeping(sweep)}


def sweep_counts(result: SweepResult) -> Mapping[str, int]:
    """The numbers of a sweep by the names that people see."""
    return {name.upper(): n for name, n in asdict(result).items()}


class _Stopped(Exception):
    """Asked to stop between two pages."""


def _rebuilding(keeper: CacheKeeper) -> Work:
    def work(stop: Stop, progress: Progress) -> JobEnd | None:
        def so_far(flights: int) -> None:
            if stop():
                raise _Stopped
            progress({"FLIGHTS": flights})

        try:
            flights = keeper.rebuild(so_far)
        except _Stopped:
            return None
        return _done(f"{flights} flights are in the cache", {"FLIGHTS": flights})

    return work


def _sweeping(sweep: HistorySweep) -> Work:
    def work(stop: Stop, progress: Progress) -> JobEnd | None:
        if sweep.history is None:
            return _failed(NO_HISTORY)
        result = sweep.run(stop, lambda so_far: progress(sweep_counts(so_far)))
        if stop():
            return None
        words = f"{result.archived} of {result.ended} ended flights have left for the history store"
        return _done(words, sweep_counts(result))

    return work


def _done(detail: str, counts: Mapping[str, int]) -> JobEnd:
    return JobEnd(JOB.next(JobState.RUNNING, JobEvent.SUCCEED), detail, counts)


def _failed(detail: str) -> JobEnd:
    return JobEnd(JOB.next(JobState.RUNNING, JobEvent.FAIL), detail)
