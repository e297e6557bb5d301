"""Jobs for the lease holder: oldest first, again until they end, an outage ends none (D-04, D-34)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from attrs import define, evolve, field

from embedded import closing_system
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.errors import Fenced, Rejected, Transient
from msgx_core.model.job import Job, JobEnd, JobKind, JobState
from msgx_core.pipeline.jobs import NO_HISTORY, JobRunner, Progress, Stop, job_works
from msgx_core.pipeline.pipeline import Pipeline
from msgx_core.ports import Silent
from msgx_core.testing.builders import AUDIT, NOW
from msgx_core.testing.clock import ManualClock
from wire import fltr, schedule

REBUILD, SWEEP = JobKind.CACHE_REBUILD, JobKind.SWEEP
DONE = JobEnd(JobState.DONE, "so it ended", {"FLIGHTS": 2})


@define
class Works:
    """What the kinds do is what the test says; `seen` lists who was asked."""

    act: dict[JobKind, Callable[[Stop, Progress], JobEnd | None]] = field(factory=dict)
    seen: list[JobKind] = field(factory=list)

    def of(self, kind: JobKind) -> Callable[[Stop, Progress], JobEnd | None]:
        """The work of a kind."""

        def work(stop: Stop, progress: Progress) -> JobEnd | None:
            self.seen.append(kind)
            return self.act[kind](stop, progress) if kind in self.act else DONE

        return work


def fails(error: Exception) -> Callable[[Stop, Progress], JobEnd | None]:
    """A work that raises."""

    def work(stop: Stop, progress: Progress) -> JobEnd | None:
        raise error

    return work


@pytest.fixture
def store() -> Iterator[SqliteStore]:
    made = SqliteStore.open(None)
    assert made.acquire_lease("test", 600.0).granted
    yield made
    made.connection.close()


@pytest.fixture
def works() -> Works:
    return Works()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def runner(store: SqliteStore, works: Works, clock: ManualClock) -> JobRunner:
    return JobRunner(store, {kind: works.of(kind) for kind in JobKind}, clock, Silent())


def ask(store: SqliteStore, kind: JobKind = REBUILD) -> int:
    return store.ask_job(kind, AUDIT, NOW).job.job_id


def job(store: SqliteStore, job_id: int) -> Job:
    found = store.job(job_id)
    assert found is not None
    return found


def test_open_jobs_run_oldest_first(store: SqliteStore, works: Works, runner: JobRunner) -> None:
    first, second = ask(store, SWEEP), ask(store)
    assert runner.run() == 2
    assert works.seen == [SWEEP, REBUILD]
    assert [job(store, each).state for each in (first, second)] == [JobState.DONE] * 2
    assert (job(store, first).detail, job(store, first).counts) == (DONE.detail, DONE.counts)
    assert runner.run() == 0


def test_an_outage_keeps_the_job_and_holds_up_no_other_kind(
    store: SqliteStore, works: Works, runner: JobRunner
) -> None:
    """D-04: it is no failure; whoever waits for it can read what for; the next call does it."""
    first = ask(store, SWEEP)
    store.start_job(first, NOW)
    second, rebuilt = ask(store, SWEEP), ask(store)
    works.act[SWEEP] = fails(Transient("history", "connection refused"))
    with pytest.raises(Transient, match="history"):
        runner.run()
    assert works.seen == [SWEEP, REBUILD]
    assert job(store, rebuilt).state is JobState.DONE
    assert job(store, first).state is JobState.RUNNING
    assert job(store, first).detail == "waits: history does not answer: connection refused"
    assert job(store, second).state is JobState.PENDING
    del works.act[SWEEP]
    assert runner.run() == 2


def test_a_refusal_fails_the_job(store: SqliteStore, works: Works, runner: JobRunner) -> None:
    job_id = ask(store)
    works.act[REBUILD] = fails(Rejected("cache-rejected", "too large"))
    assert runner.run() == 1
    assert (job(store, job_id).state, job(store, job_id).detail) == (
        JobState.FAILED,
        "cache-rejected: too large",
    )


def test_a_fault_of_ours_fails_the_job_and_is_raised(
    store: SqliteStore, works: Works, runner: JobRunner
) -> None:
    """The loop logs it; the job does not run for ever."""
    job_id = ask(store)
    works.act[REBUILD] = fails(ZeroDivisionError("a bug"))
    with pytest.raises(ZeroDivisionError):
        runner.run()
    assert job(store, job_id).detail == "ZeroDivisionError: a bug"
    assert runner.run() == 0


def test_one_that_is_cut_short_stays_open(store: SqliteStore, works: Works, runner: JobRunner) -> None:
    job_id, later_one = ask(store), ask(store, SWEEP)
    works.act[REBUILD] = lambda stop, progress: None
    assert runner.run(lambda: bool(works.seen)) == 0
    assert job(store, job_id).state is JobState.RUNNING
    assert job(store, later_one).state is JobState.PENDING
    del works.act[REBUILD]
    assert runner.run() == 2


def test_the_next_holder_does_what_a_dead_one_left(
    store: SqliteStore, works: Works, runner: JobRunner
) -> None:
    """D-34: also when the old one comes back to it: it is fenced."""
    job_id = ask(store)

    def taken_over(stop: Stop, progress: Progress) -> JobEnd:
        other = SqliteStore(store.connection)
        assert other.acquire_lease("test", 600.0).granted
        assert evolve(runner, store=other, works={REBUILD: lambda stop, progress: DONE}).run() == 1
        return JobEnd(JobState.FAILED, "from the grave")

    works.act[REBUILD] = taken_over
    with pytest.raises(Fenced):
        runner.run()
    assert (job(store, job_id).state, job(store, job_id).epoch) == (JobState.DONE, 2)


def test_how_far_it_is_is_noted_once_a_second(
    store: SqliteStore, works: Works, runner: JobRunner, clock: ManualClock
) -> None:
    job_id = ask(store)
    noted: list[Mapping[str, int]] = []

    def work(stop: Stop, progress: Progress) -> JobEnd:
        for number in range(1, 6):
            clock.advance(0.5)
            progress({"FLIGHTS": number})
            noted.append(job(store, job_id).counts)
        return DONE

    works.act[REBUILD] = work
    runner.run()
    assert noted == [{}, {"FLIGHTS": 2}, {"FLIGHTS": 2}, {"FLIGHTS": 4}, {"FLIGHTS": 4}]


def test_a_sweep_without_a_history_store_says_so(store: SqliteStore, runner: JobRunner) -> None:
    """R-391: what the command itself says."""
    with closing_system(None) as system:
        works = _works_of(system.pipeline)
        job_id = ask(store, SWEEP)
        evolve(runner, works=works).run()
    assert (job(store, job_id).state, job(store, job_id).detail) == (JobState.FAILED, NO_HISTORY)


def test_a_rebuild_stops_between_pages(store: SqliteStore, runner: JobRunner) -> None:
    """D-31: the cache has no store id then, so it is filled by whoever comes next."""
    with closing_system(None) as system:
        system.send([schedule("DNLD", [fltr(1), fltr(2)])])
        system.drain()
        job_id = ask(store)
        run = evolve(runner, works=_works_of(system.pipeline))
        stops = iter([False, True, True])
        assert run.run(lambda: next(stops)) == 0
        assert system.cache.store_id() is None
        assert run.run() == 1
        assert system.cache.store_id() == system.store.store_id()
    assert (job(store, job_id).state, job(store, job_id).counts) == (JobState.DONE, {"FLIGHTS": 2})


def _works_of(pipeline: Pipeline) -> Mapping[JobKind, Callable[[Stop, Progress], JobEnd | None]]:
    return job_works(pipeline.cache_keeper, pipeline.sweep)
