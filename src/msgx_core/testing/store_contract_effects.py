"""Store suite: the three steps. What ① writes, what ③ writes, and what a repetition does (D-01, D-02)."""

from __future__ import annotations

import pytest

from msgx_core.errors import Conflict
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.proc import MessageState, Outcome
from msgx_core.model.request import BindRequest, FailRequest, RequestSlot, RequestState
from msgx_core.model.schedule import SenderMark, SnapshotFlag, SnapshotLogRow, SnapshotResult
from msgx_core.ports import Store
from msgx_core.testing.builders import (
    AUDIT,
    DAY,
    NOW,
    apply,
    change,
    enqueue,
    flids,
    flight,
    later,
    put,
    request,
    skipped,
)
from msgx_core.testing.store_contract import Another, Oracle, StoreContract, count, everything, message, one

GONE = Outcome(MessageState.SUCCEEDED, None, "already-gone", "flight 7")


class EffectContract(StoreContract):
    """`apply`, `touched_by`, `finish` and the logs."""

    def test_apply_marks_the_message(self, held: Store, oracle: Oracle) -> None:
        """D-02: APPLIED_AT, coverage, APPLY_NO and the outcome's reason; the message is not finished."""
        enqueue(held, 1)
        held.fail(1, "INFRA", "raw-unreadable", None, later(5), NOW)
        apply_no = held.apply(change(1, outcome=GONE, coverage="days 2027-03-14"))
        row = message(oracle, 1)
        assert (row["APPLY_NO"], row["COVERAGE"]) == (apply_no, "days 2027-03-14")
        assert (row["REASON"], row["DETAIL"], row["ERROR_CODE"]) == ("already-gone", "flight 7", None)
        assert row["FINISHED_AT"] is None
        head = held.head()
        assert head is not None
        assert (head.msg_id, head.applied_at, head.coverage) == (1, NOW, "days 2027-03-14")

    def test_apply_numbers_rise(self, held: Store) -> None:
        """D-02: APPLY_NO is the order of effects."""
        assert [apply(held, msg_id) for msg_id in (3, 1, 2)] == [1, 2, 3]

    def test_a_flight_is_written_whole(self, held: Store, oracle: Oracle) -> None:
        """R-008, D-30: columns for traceability, fields by tag."""
        state = flight(7, sodt_at=NOW, MAID=6, FLNO="CA1", fields={"GTDT": ({"GATE": "甲1"},)})
        apply(held, 1, put(state))
        row = one(oracle, "SELECT * FROM FLIGHT_SCHD")
        assert (row["FLID"], row["STATE"], row["STATE_VERSION"]) == (7, "ACTIVE", 1)
        assert (str(row["OPERATION_DAY"]), row["MAID"], row["LAST_MSG_ID"]) == ("2027-03-14", 6, 1)
        assert oracle.content(7) == {"MAID": 6, "FLNO": "CA1", "GTDT": [{"GATE": "甲1"}]}
        assert held.flight(7) == state

    def test_a_put_replaces_the_whole_state(self, held: Store, oracle: Oracle) -> None:
        """R-103: nothing of the old state is left."""
        apply(held, 1, put(flight(7, day=None, FLNO="CA1", ESTT="14MAR270800")))
        state = flight(7, version=2, msg_id=2, sodt_at=NOW, FLNO="CA2")
        apply(held, 2, put(state))
        assert oracle.content(7) == {"FLNO": "CA2"}
        assert held.flight(7) == state

    def test_an_unadvanced_flight_only_gets_the_message(self, held: Store, oracle: Oracle) -> None:
        """D-15: the same full state again: LAST_MSG_ID, no version, no event."""
        apply(held, 1, put(flight(7)))
        events = oracle.rows("SELECT * FROM MSG_EVENT")
        apply(held, 2, put(flight(7, version=1, msg_id=2, FLNO="CA2"), read_version=1, advanced=False))
        row = one(oracle, "SELECT * FROM FLIGHT_SCHD")
        assert (row["STATE_VERSION"], row["LAST_MSG_ID"]) == (1, 2)
        assert oracle.content(7) == {}
        assert oracle.rows("SELECT * FROM MSG_EVENT") == events

    def test_raw_sections_are_replaced_as_a_whole(self, held: Store) -> None:
        """R-020, R-272, D-39: each complete record replaces them, other messages leave them."""
        apply(held, 1, put(flight(7), raw_sections={"SRVT": "<SRVT/>", "VIPF": "<VIPF>贵</VIPF>"}))
        apply(held, 2, put(flight(7, version=2)))
        assert held.raw_sections(7) == {"SRVT": "<SRVT/>", "VIPF": "<VIPF>贵</VIPF>"}
        apply(held, 3, put(flight(7, version=3), raw_sections={"SRVT": "<SRVT>2</SRVT>"}))
        assert held.raw_sections(7) == {"SRVT": "<SRVT>2</SRVT>"}
        apply(held, 4, put(flight(7, version=4), raw_sections={}))
        assert held.raw_sections(7) == {}

    def test_the_flights_of_an_applied_message_are_found(self, held: Store) -> None:
        """D-02: ② after a crash works from LAST_MSG_ID, whole and in order."""
        apply(held, 1, put(flight(9)), put(flight(7, FLNO="CA7")), put(flight(8, MAID=7, FLNO="CZ8")))
        apply(held, 2, put(flight(9, version=2, msg_id=2)))
        found = held.touched_by(1)
        assert flids(found) == [7, 8]
        assert [(child.flid, child.flno) for child in found[0].mafl] == [(8, "CZ8")]
        assert flids(held.touched_by(2)) == [9]
        assert list(held.touched_by(3)) == []

    def test_finishing_makes_the_outcome_final(self, held: Store, oracle: Oracle) -> None:
        """R-158, R-167, R-086, R-135: SUCCEEDED with write-back intent, once."""
        enqueue(held, 1)
        held.apply(change(1, outcome=GONE))
        assert held.finish(1, later(1))
        row = message(oracle, 1)
        assert (row["STATE"], row["REASON"], row["ERROR_CODE"]) == ("SUCCEEDED", "already-gone", None)
        assert row["FINISHED_AT"] == row["BACKFILL_NEXT_AT"] is not None
        before = everything(oracle)
        assert not held.finish(1, later(2))
        assert everything(oracle) == before

    def test_a_failure_between_the_steps_is_forgotten_at_the_end(self, held: Store, oracle: Oracle) -> None:
        """D-02, D-04: `cache-rejected` keeps the head; then ③ shows the decision's own reason."""
        enqueue(held, 1)
        held.apply(change(1, outcome=GONE))
        held.fail(1, "INFRA", "cache-rejected", None, later(1), NOW)
        head = held.head()
        assert head is not None
        assert (head.code, head.reason, head.applied_at) == ("INFRA", "cache-rejected", NOW)
        assert held.finish(1, later(2))
        row = message(oracle, 1)
        assert (row["ERROR_CODE"], row["REASON"], row["DETAIL"]) == (None, "already-gone", "flight 7")
        assert (row["NEXT_ATTEMPT_AT"], row["ATTEMPTS"]) == (None, 1)

    def test_only_what_is_applied_can_finish(self, held: Store, oracle: Oracle) -> None:
        """R-086: ③ comes after ①."""
        enqueue(held, 1)
        before = everything(oracle)
        assert not held.finish(1, NOW)
        assert not held.finish(99, NOW)
        assert everything(oracle) == before

    def test_a_message_is_applied_once(self, held: Store, another: Another, oracle: Oracle) -> None:
        """R-161, D-02: ① requires APPLIED_AT to be empty, after a restart too."""
        apply(held, 1, put(flight(7)))
        before = everything(oracle)
        restarted = another(held)
        restarted.acquire_lease("holder", 60.0)
        with pytest.raises(Conflict):
            restarted.apply(change(1, put(flight(7, version=2))))
        assert everything(oracle) == before

    def test_a_finished_or_unknown_message_is_not_applied(self, held: Store, oracle: Oracle) -> None:
        """D-02: nor one that was closed."""
        enqueue(held, 1)
        held.close_unapplied(1, skipped(), [], NOW)
        before = everything(oracle)
        for msg_id in (1, 99):
            with pytest.raises(Conflict):
                held.apply(change(msg_id, put(flight(7))))
        assert everything(oracle) == before

    def test_a_binding_takes_the_request_through_sent_to_done(self, held: Store) -> None:
        """D-32, R-335: bound in ①, closed in ③; a closed request leaves the slot free."""
        asked = held.create_request(request(first_day=DAY, last_day=DAY), AUDIT, NOW)
        apply(held, 1, at=later(3), request=BindRequest(asked.request_id))
        bound = held.open_request(RequestSlot.RQFD)
        assert bound is not None
        assert (bound.state, bound.sent_at, bound.resp_msg_id) == (RequestState.SENT, later(3), 1)
        held.finish(1, later(4))
        assert held.open_request(RequestSlot.RQFD) is None
        done = held.requests()[0]
        assert (done.state, done.closed_at, done.resp_msg_id) == (RequestState.DONE, later(4), 1)

    def test_an_error_answer_fails_the_request(self, held: Store) -> None:
        """R-338, D-32: FAILED with the reason."""
        asked = held.create_request(request(RequestSlot.RQRD, rtype="GLST"), AUDIT, NOW)
        apply(held, 1, request=FailRequest(asked.request_id, "eror"))
        failed = held.requests()[0]
        assert (failed.state, failed.reason, failed.closed_at) == (RequestState.FAILED, "eror", NOW)

    def test_the_mark_of_a_sender(self, held: Store, oracle: Oracle) -> None:
        """D-16: kept in ① only, one per sender."""
        apply(held, 1, sender=SenderMark("AODB", 7, "20270314060000"))
        apply(held, 2, sender=SenderMark("AODB", 8, "20270314060001", "20270314060001", 400, 12))
        apply(held, 3)
        row = one(oracle, "SELECT * FROM SENDER_MARK")
        assert (row["SNDR"], row["SEQN"], row["DTTM"]) == ("AODB", 8, "20270314060001")
        assert (row["SCHEDULE_DTTM"], row["DNLD_RECS"], row["RESP_RECS"]) == ("20270314060001", 400, 12)

    def test_alerts_go_with_the_change(self, held: Store, oracle: Oracle) -> None:
        """R-445, D-41: in the transaction of what they report."""
        apply(held, 1, alerts=(Alert(AlertCode.BAD_VALUE, 1, 7, "tag PAXC"), Alert(AlertCode.EMPTY, 1)))
        assert count(oracle, "OPS_ALERT", "MSG_ID = 1") == 2
        assert count(oracle, "OPS_ALERT", "CODE = 'BAD_VALUE' AND FLID = 7 AND DETAIL = 'tag PAXC'") == 1

    def test_the_schedule_log_is_appended(self, held: Store) -> None:
        """D-16, R-014: every column; newest first; an empty call is none."""
        held.log_snapshots([])
        bare = SnapshotLogRow(1, NOW, SnapshotResult.ROLLED_BACK)
        full = SnapshotLogRow(
            msg_id=2,
            recv_at=NOW,
            result=SnapshotResult.COMMITTED,
            operation_day=DAY,
            scope_start=NOW,
            scope_end=later(60),
            recs=3,
            old_version=1,
            new_version=2,
            deleted_count=1,
            flags=(SnapshotFlag.RECS_DROP, SnapshotFlag.OUT_OF_ORDER),
            old_flid_digest="a",
            new_flid_digest="b",
            archive_key="2027/03/14/2",
            duration_ms=12,
        )
        held.log_snapshots([bare, full])
        newest, oldest = held.snapshots()
        assert (oldest["MSG_ID"], oldest["RESULT"], oldest["FLAGS"]) == (1, "ROLLED_BACK", [])
        assert "OPERATION_DAY" not in oldest
        assert newest["FLAGS"] == ["RECS_DROP", "OUT_OF_ORDER"]
        assert (newest["OPERATION_DAY"], newest["SCOPE_START"], newest["SCOPE_END"]) == (DAY, NOW, later(60))
        assert (newest["OLD_VERSION"], newest["NEW_VERSION"], newest["DELETED_COUNT"]) == (1, 2, 1)
        assert (newest["RECS"], newest["ARCHIVE_KEY"], newest["DURATION_MS"]) == (3, "2027/03/14/2", 12)
        assert (newest["OLD_FLID_DIGEST"], newest["NEW_FLID_DIGEST"]) == ("a", "b")
