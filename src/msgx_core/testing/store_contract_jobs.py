"""Store suite: jobs that people leave for the lease holder (D-34)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from msgx_core.errors import Fenced
from msgx_core.model.job import Job, JobEnd, JobKind, JobState
from msgx_core.ports import Store
from msgx_core.testing.builders import AUDIT, NOW, later
from msgx_core.testing.store_contract import Another, Oracle, StoreContract, count, everything, one

REBUILD, SWEEP = JobKind.CACHE_REBUILD, JobKind.SWEEP
DONE = JobEnd(JobState.DONE, "7 flights are in the cache", {"FLIGHTS": 7})
FAILED = JobEnd(JobState.FAILED, "there is no history store")

WRITES: dict[str, Callable[[Store], object]] = {
    "start_job": lambda s: s.start_job(1, NOW),
    "note_job": lambda s: s.note_job(1, "so far", {"FLIGHTS": 3}, NOW),
    "end_job": lambda s: s.end_job(1, DONE, NOW),
}


def _asked(store: Store, kind: JobKind = REBUILD) -> int:
    return store.ask_job(kind, AUDIT, NOW).job.job_id


def _started(store: Store, kind: JobKind = REBUILD) -> int:
    job_id = _asked(store, kind)
    assert store.start_job(job_id, NOW) is not None
    return job_id


def _found(store: Store, job_id: int) -> Job:
    job = store.job(job_id)
    assert job is not None
    return job


class JobContract(StoreContract):
    """`ports.JobDesk` and `ports.JobWork`."""

    def test_a_job_is_left_without_the_lease(self, store: Store, oracle: Oracle) -> None:
        """D-34: an operator statement carries no epoch; who and why is in the audit."""
        asked = store.ask_job(SWEEP, AUDIT, later(1))
        assert not asked.joined
        assert asked.job == Job(asked.job.job_id, SWEEP, JobState.PENDING, later(1))
        assert _found(store, asked.job.job_id) == asked.job
        assert one(oracle, "SELECT KIND, STATE FROM OPS_JOB") == {"KIND": "sweep", "STATE": "PENDING"}
        (audit,) = store.audit()
        assert (audit["ACTION"], audit["TARGET"]) == ("ask_job", asked.job.job_id)
        assert (audit["ACTOR"], audit["REASON"], audit["DETAIL"]) == (AUDIT.actor, AUDIT.reason, "sweep")

    def test_a_pending_one_of_its_kind_is_joined(self, held: Store, oracle: Oracle) -> None:
        """D-34: asked twice, done once, audited twice; another kind, and one that runs, are apart."""
        first = _asked(held)
        again = held.ask_job(REBUILD, AUDIT, later(5))
        assert (again.joined, again.job.job_id, again.job.created_at) == (True, first, NOW)
        other = held.ask_job(SWEEP, AUDIT, NOW)
        assert not other.joined
        assert held.start_job(first, NOW) is not None
        fresh = held.ask_job(REBUILD, AUDIT, NOW)
        assert not fresh.joined
        assert [job.job_id for job in held.open_jobs()] == [first, other.job.job_id, fresh.job.job_id]
        assert (count(oracle, "OPS_JOB"), count(oracle, "OPS_AUDIT")) == (3, 4)

    def test_from_asked_to_done(self, held: Store, oracle: Oracle) -> None:
        """D-34: times, words and numbers of each step; the epoch stands on the row."""
        job_id = _asked(held)
        started = held.start_job(job_id, later(1))
        epoch = held.lease().epoch
        assert started == Job(job_id, REBUILD, JobState.RUNNING, NOW, later(1), epoch=epoch)
        assert held.note_job(job_id, "so far", {"FLIGHTS": 3}, later(2))
        noted = _found(held, job_id)
        assert (noted.detail, noted.counts, noted.state) == ("so far", {"FLIGHTS": 3}, JobState.RUNNING)
        assert held.end_job(job_id, DONE, later(3))
        done = _found(held, job_id)
        assert (done.state, done.ended_at, done.started_at) == (JobState.DONE, later(3), later(1))
        assert (done.detail, done.counts, done.epoch) == (DONE.detail, DONE.counts, epoch)
        assert one(oracle, "SELECT EPOCH FROM OPS_JOB") == {"EPOCH": epoch}
        assert list(held.open_jobs()) == []

    def test_one_that_failed_says_why(self, held: Store) -> None:
        """D-34: the words are kept; what it had counted before is not."""
        job_id = _started(held, SWEEP)
        held.note_job(job_id, None, {"SEEN": 3}, NOW)
        assert held.end_job(job_id, FAILED, later(1))
        failed = _found(held, job_id)
        assert (failed.state, failed.detail, failed.counts) == (JobState.FAILED, FAILED.detail, {})

    def test_an_end_is_an_end(self, held: Store, oracle: Oracle) -> None:
        """D-34: an ended job is not begun, noted or ended again."""
        job_id = _started(held)
        assert held.end_job(job_id, DONE, NOW)
        before = everything(oracle)
        assert held.start_job(job_id, later(1)) is None
        assert not held.note_job(job_id, "late", {}, later(1))
        assert not held.end_job(job_id, FAILED, later(1))
        assert everything(oracle) == before

    def test_one_that_nobody_began_does_not_end(self, held: Store) -> None:
        """D-34: `PENDING` leads to `RUNNING` alone; an unknown one is no job."""
        job_id = _asked(held)
        assert not held.end_job(job_id, DONE, NOW)
        assert not held.note_job(job_id, "?", {}, NOW)
        assert held.start_job(job_id + 99, NOW) is None
        assert held.job(job_id + 99) is None
        assert _found(held, job_id).state is JobState.PENDING

    def test_the_next_holder_begins_it_again(self, held: Store, another: Another) -> None:
        """D-34: left `RUNNING` by a holder that is gone; the first start's time stays, the epoch is new."""
        job_id = _started(held)
        held.note_job(job_id, "so far", {"FLIGHTS": 3}, NOW)
        successor = another(held)
        held.release_lease()
        successor.acquire_lease("successor", 60.0)
        assert not successor.end_job(job_id, DONE, later(1))
        again = successor.start_job(job_id, later(5))
        assert again is not None
        assert (again.started_at, again.epoch) == (NOW, successor.lease().epoch)
        assert successor.end_job(job_id, DONE, later(6))

    @pytest.mark.parametrize("name", WRITES)
    def test_every_write_is_fenced(self, held: Store, another: Another, oracle: Oracle, name: str) -> None:
        """D-34: a stale leader begins, notes and ends nothing."""
        _started(held)
        successor = another(held)
        held.release_lease()
        successor.acquire_lease("successor", 60.0)
        before = everything(oracle)
        with pytest.raises(Fenced):
            WRITES[name](held)
        assert everything(oracle) == before

    def test_lists_are_newest_first_and_go_on(self, held: Store) -> None:
        """D-34: `limit`, and behind an id."""
        ids = []
        for _ in range(4):
            ids.append(_started(held))
            held.end_job(ids[-1], DONE, NOW)
        assert [job.job_id for job in held.jobs()] == ids[::-1]
        assert [job.job_id for job in held.jobs(2)] == [ids[3], ids[2]]
        assert [job.job_id for job in held.jobs(2, ids[2])] == [ids[1], ids[0]]
