"""Store suite: what is old enough leaves under its conditions, the rest stays (IMP §9.3, FST §8.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import pytest

from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.change import RosterReplace
from msgx_core.model.events import EventSettled, EventStatus, Target
from msgx_core.model.job import JobEnd, JobKind, JobState
from msgx_core.model.proc import AbandonReason
from msgx_core.model.request import RequestSlot
from msgx_core.model.schedule import SnapshotLogRow, SnapshotResult
from msgx_core.ports import Archived, RetentionCutoffs, Store
from msgx_core.testing.builders import (
    AUDIT,
    DAY,
    NEXT_DAY,
    NOW,
    apply,
    close,
    dead,
    enqueue,
    flight,
    later,
    put,
    request,
    skipped,
)
from msgx_core.testing.store_contract import Oracle, StoreContract, count, everything

OLD = later(1)
"""All that the builders write is older."""

CUTOFFS = dict.fromkeys(("events", "processed", "snapshot_log", "requests", "jobs"), OLD)
LEDGER = RetentionCutoffs(ledger=NEXT_DAY, late_since=NOW)


def _ids(oracle: Oracle, table: str, key: str) -> list[int]:
    return [row[key] for row in oracle.rows(f"SELECT {key} FROM {table} ORDER BY {key}")]


def _settle(store: Store, event_id: int, target: Target, status: EventStatus, at: datetime = NOW) -> None:
    event = next(e for e in store.due_events(target, NOW, 99) if e.event_id == event_id)
    store.settle_events([EventSettled(event_id, target, event.flid, event.version, status)], [], at)


def _covered(store: Store, *, written_back: bool = True) -> None:
    """A day that a finished, marked message covered, with nothing left of it."""
    apply(store, 1, rosters=(RosterReplace(DAY, 0, frozenset()),))
    store.finish(1, NOW)
    if written_back:
        store.writebacks_done([1], NOW)


def _waiting(store: Store) -> None:
    _covered(store)
    enqueue(store, 2)


def _logged_and_owed(store: Store) -> None:
    _covered(store)
    close(store, dead(), 2)
    store.log_snapshots([SnapshotLogRow(2, NOW, SnapshotResult.ROLLED_BACK, operation_day=DAY)])


def _with_flight(store: Store) -> None:
    apply(store, 1, put(flight(7, deleted=True)), rosters=(RosterReplace(DAY, 0, frozenset()),))
    store.finish(1, NOW)
    store.writebacks_done([1], NOW)


def _asked_for(store: Store) -> None:
    _covered(store)
    store.create_request(request(first_day=DAY, last_day=NEXT_DAY), AUDIT, NOW)


def _expired_late(store: Store) -> None:
    _asked_for(store)
    store.create_request(request(first_day=NEXT_DAY, last_day=NEXT_DAY), AUDIT, NOW)


STAYS: Mapping[str, tuple[str, Callable[[Store], None]]] = {
    "a message waits": ("unfinished", _waiting),
    "its message is not marked": ("not-written-back", lambda s: _covered(s, written_back=False)),
    "a logged attempt is not marked": ("not-written-back", _logged_and_owed),
    "a flight of the day is here": ("flights", _with_flight),
    "the day is asked for": ("requests", _asked_for),
    "an answer may come late": ("requests", _expired_late),
}


class RetentionContract(StoreContract):
    """`ports.Retention`."""

    def test_nothing_is_asked_for_nothing_goes(self, held: Store, oracle: Oracle) -> None:
        """R-395: no cut-off, no removal."""
        _covered(held)
        before = everything(oracle)
        assert held.remove_expired(RetentionCutoffs(), 10) == {}
        assert held.retention_preview(RetentionCutoffs()) == {}
        assert everything(oracle) == before

    def test_sent_and_discarded_events_go(self, held: Store, oracle: Oracle) -> None:
        """R-372, R-401: `SENT` rows of both topics; a dead letter only after a person's hand, unsent ones
        never."""
        apply(held, 1, *[put(flight(flid)) for flid in (1, 2, 3, 4)])
        _settle(held, 1, Target.MSG, EventStatus.SENT)
        _settle(held, 2, Target.MSG, EventStatus.DEAD)
        _settle(held, 3, Target.MSG, EventStatus.DEAD)
        held.discard_events([3], AUDIT, NOW, Target.MSG)
        _settle(held, 1, Target.SCHD, EventStatus.SENT)
        _settle(held, 2, Target.SCHD, EventStatus.SENT, later(2))
        cutoffs = RetentionCutoffs(events=OLD)
        assert held.retention_preview(cutoffs) == {"MSG_EVENT": {"go": 3, "dead": 1, "pending": 3}}
        assert held.remove_expired(cutoffs, 10) == {"MSG_EVENT": 3}
        left = oracle.rows("SELECT TARGET, EVENT_ID, STATUS FROM MSG_EVENT")
        assert {(r["TARGET"], r["EVENT_ID"], r["STATUS"]) for r in left} == {
            ("KAFKA:msg", 2, "DEAD"),
            ("KAFKA:msg", 4, "PENDING"),
            ("KAFKA:schd", 2, "SENT"),
            ("KAFKA:schd", 3, "PENDING"),
            ("KAFKA:schd", 4, "PENDING"),
        }

    def test_a_full_state_comes_back_after_its_row_went(self, held: Store, oracle: Oracle) -> None:
        """D-29: the next change makes the row anew."""
        apply(held, 1, put(flight(1)))
        _settle(held, 1, Target.SCHD, EventStatus.SENT)
        held.remove_expired(RetentionCutoffs(events=OLD), 10)
        apply(held, 2, put(flight(1, version=2)))
        (event,) = held.due_events(Target.SCHD, NOW, 10)
        assert (event.event_id, event.version) == (2, 2)

    def test_final_and_marked_messages_go(self, held: Store, oracle: Oracle) -> None:
        """R-396, R-402, R-404, R-406: from UPDATED_AT; what is owed, abandoned or unfinished stays."""
        close(held, skipped(), 1, 2, 3, 4)
        held.writebacks_done([1], NOW)
        held.writebacks_done([2], later(2))
        held.writeback_abandon(4, AbandonReason.MISSING_ROW, Alert(AlertCode.MISSING_ROW, 4), NOW)
        enqueue(held, 5)
        cutoffs = RetentionCutoffs(processed=OLD)
        found = held.retention_preview(cutoffs)
        assert found == {"PROC_STATE": {"go": 1, "not-written-back": 2, "unfinished": 1}}
        assert held.remove_expired(cutoffs, 10) == {"PROC_STATE": 1}
        assert _ids(oracle, "PROC_STATE", "MSG_ID") == [2, 3, 4, 5]

    def test_a_replay_that_comes_first_wins(self, held: Store, oracle: Oracle) -> None:
        """R-405: conditional on STATE; a message that runs again is not removed though it is marked."""
        close(held, dead(), 1)
        held.writebacks_done([1], NOW)
        held.replay([1], [], AUDIT, NOW)
        assert held.remove_expired(RetentionCutoffs(processed=OLD), 10) == {"PROC_STATE": 0}
        assert _ids(oracle, "PROC_STATE", "MSG_ID") == [1]

    def test_the_schedule_log_goes_by_the_end_of_its_scope(self, held: Store, oracle: Oracle) -> None:
        """R-400, R-407, D-16: SCOPE_END, else RECV_AT."""
        old, new = SnapshotResult.COMMITTED, SnapshotResult.ROLLED_BACK
        held.log_snapshots(
            [
                SnapshotLogRow(1, NOW, old, scope_start=NOW, scope_end=NOW),
                SnapshotLogRow(2, NOW, new, scope_start=NOW, scope_end=later(2)),
                SnapshotLogRow(3, NOW, new),
                SnapshotLogRow(4, later(2), new),
                SnapshotLogRow(5, later(2), old, scope_start=NOW, scope_end=NOW),
            ]
        )
        cutoffs = RetentionCutoffs(snapshot_log=OLD)
        assert held.retention_preview(cutoffs) == {"SCHD_SNAP_LOG": {"go": 3}}
        assert held.remove_expired(cutoffs, 10) == {"SCHD_SNAP_LOG": 3}
        assert _ids(oracle, "SCHD_SNAP_LOG", "MSG_ID") == [2, 4]

    def test_closed_requests_go(self, held: Store, oracle: Oracle) -> None:
        """R-349, R-403: by CLOSED_AT; an open one never."""
        held.create_request(request(), AUDIT, NOW)
        held.create_request(request(), AUDIT, NOW)
        held.create_request(request(), AUDIT, later(2))
        held.create_request(request(RequestSlot.RQRD, rtype="ARPT"), AUDIT, NOW)
        cutoffs = RetentionCutoffs(requests=OLD)
        assert held.retention_preview(cutoffs) == {"REQ_TRACK": {"go": 1, "open": 2}}
        late = RetentionCutoffs(requests=OLD, requests_aged=later(3))
        assert held.retention_preview(late)["REQ_TRACK"] == {"go": 1, "open": 2, "late": 1}
        assert held.remove_expired(late, 10) == {"REQ_TRACK": 1}
        assert _ids(oracle, "REQ_TRACK", "REQUEST_ID") == [2, 3, 4]

    def test_ended_jobs_go(self, held: Store, oracle: Oracle) -> None:
        """D-34: by ENDED_AT; one that is still to be done never."""
        for state, at in ((JobState.DONE, NOW), (JobState.FAILED, NOW), (JobState.DONE, later(2))):
            job = held.ask_job(JobKind.SWEEP, AUDIT, NOW).job
            held.start_job(job.job_id, NOW)
            held.end_job(job.job_id, JobEnd(state, "so it ended"), at)
        held.start_job(held.ask_job(JobKind.SWEEP, AUDIT, NOW).job.job_id, NOW)
        held.ask_job(JobKind.SWEEP, AUDIT, NOW)
        cutoffs = RetentionCutoffs(jobs=OLD)
        assert held.retention_preview(cutoffs) == {"OPS_JOB": {"go": 2, "open": 2}}
        assert held.remove_expired(cutoffs, 10) == {"OPS_JOB": 2}
        assert _ids(oracle, "OPS_JOB", "JOB_ID") == [3, 4, 5]

    def test_a_day_of_the_ledger_goes_with_its_roster(self, held: Store, oracle: Oracle) -> None:
        """R-409: days before the cut-off, nothing of which is in use; others stay."""
        _covered(held)
        apply(held, 2, rosters=(RosterReplace(NEXT_DAY, 0, frozenset()),))
        held.finish(2, NOW)
        held.writebacks_done([2], NOW)
        assert held.retention_preview(LEDGER) == {"SCHD_GEN": {"go": 1}}
        assert held.remove_expired(LEDGER, 10) == {"SCHD_GEN": 1}
        assert [roster.day for roster in held.rosters()] == [NEXT_DAY]
        assert count(oracle, "SCHD_GEN_FLID") == 0

    @pytest.mark.parametrize("why", STAYS)
    def test_a_day_of_the_ledger_stays(self, held: Store, oracle: Oracle, why: str) -> None:
        """R-409: each precondition of FST §8.3 alone keeps the day."""
        reason, make = STAYS[why]
        make(held)
        before = everything(oracle)
        assert held.retention_preview(LEDGER) == {"SCHD_GEN": {"go": 0, reason: 1}}
        assert held.remove_expired(LEDGER, 10) == {"SCHD_GEN": 0}
        assert everything(oracle) == before

    def test_the_day_may_go_when_its_flights_are_in_history(self, held: Store) -> None:
        """R-409: archiving takes flights and roster rows away."""
        apply(held, 1, put(flight(7)), rosters=(RosterReplace(DAY, 0, frozenset({7})),))
        held.finish(1, NOW)
        held.writebacks_done([1], NOW)
        assert held.remove_expired(LEDGER, 10) == {"SCHD_GEN": 0}
        held.archive_flights([Archived(7, 1, 1, "{}")], [], NOW)
        assert held.remove_expired(LEDGER, 10) == {"SCHD_GEN": 1}

    def test_no_more_than_asked_goes_at_once(self, held: Store, oracle: Oracle) -> None:
        """R-405: batches, the oldest first; the preview counts what is left."""
        close(held, skipped(), *range(1, 8))
        held.writebacks_done(list(range(1, 8)), NOW)
        cutoffs = RetentionCutoffs(**_all())
        assert held.remove_expired(cutoffs, 3)["PROC_STATE"] == 3
        assert _ids(oracle, "PROC_STATE", "MSG_ID") == [4, 5, 6, 7]
        assert held.retention_preview(cutoffs)["PROC_STATE"] == {"go": 4}
        assert held.remove_expired(cutoffs, 9) == {
            "PROC_STATE": 4,
            "MSG_EVENT": 0,
            "SCHD_SNAP_LOG": 0,
            "REQ_TRACK": 0,
            "OPS_JOB": 0,
        }


def _all() -> dict[str, Any]:
    return dict(CUTOFFS)
