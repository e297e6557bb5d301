"""Store suite: what people may change, and the audit row of each change (D-24, D-25, D-32, D-34)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from msgx_core.errors import Conflict
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.events import EventSettled, EventStatus, Target
from msgx_core.model.proc import AbandonReason, MessageState
from msgx_core.model.request import BindRequest, RequestSlot, RequestState
from msgx_core.ports import Store
from msgx_core.testing.builders import (
    AUDIT,
    DAY,
    NOW,
    apply,
    binding,
    close,
    dead,
    enqueue,
    flight,
    later,
    put,
    request,
    skipped,
)
from msgx_core.testing.store_contract import Oracle, StoreContract, count, everything, message

WHITELIST = [("CODEC_ERROR", None), ("INFRA", None), ("PROTOCOL", None), ("MALFORMED", "raw-missing")]

REFUSED: dict[str, Callable[[Store], object]] = {
    "replay unknown": lambda s: s.replay([99], [], AUDIT, NOW),
    "replay pending": lambda s: s.replay([1], [], AUDIT, NOW),
    "replay skipped": lambda s: s.replay([2], [], AUDIT, NOW),
    "replay succeeded": lambda s: s.replay([3], [], AUDIT, NOW),
    "replay other code": lambda s: s.replay([4], WHITELIST, AUDIT, NOW),
    "readmit unknown": lambda s: [s.readmit(99, AUDIT, NOW)],
    "readmit pending": lambda s: [s.readmit(1, AUDIT, NOW)],
    "readmit unsupported": lambda s: [s.readmit(2, AUDIT, NOW)],
    "resume not abandoned": lambda s: s.resume_writebacks([2], AUDIT, NOW),
    "requeue pending": lambda s: s.requeue_events([1], AUDIT, NOW),
    "requeue unknown": lambda s: s.requeue_events([99], AUDIT, NOW),
    "discard pending": lambda s: s.discard_events([1], AUDIT, NOW),
    "acknowledge unknown": lambda s: s.acknowledge([99], AUDIT, NOW),
}


class OperatorContract(StoreContract):
    """`ports.operations.OperatorActions`."""

    def test_a_replay_starts_over(self, held: Store, oracle: Oracle) -> None:
        """R-120, H-25: clears attempts, times, code, reason, detail and the owed write-back; audited."""
        enqueue(held, 1)
        held.bind(binding(1, "8"), NOW)
        held.fail(1, "INFRA", "raw-unreadable", None, later(5), NOW)
        held.close_unapplied(1, dead(), [], NOW)
        held.writeback_retry(1, later(30), None, NOW)
        held.writeback_abandon(1, AbandonReason.TRANSIENT_DEADLINE, Alert(AlertCode.TRANSIENT_DEADLINE), NOW)
        (result,) = held.replay([1], WHITELIST, AUDIT, later(9))
        assert (result.target, result.refused) == (1, None)
        row = message(oracle, 1)
        cleared = (
            "NEXT_ATTEMPT_AT ERROR_CODE REASON DETAIL FINISHED_AT BACKFILL_NEXT_AT BACKFILL_ABANDONED_AT"
        )
        assert {row[name] for name in [*cleared.split(), "BACKFILL_ABANDONED_REASON"]} == {None}
        assert (row["STATE"], row["ATTEMPTS"], row["BACKFILL_ATTEMPTS"]) == ("PENDING", 0, 0)
        assert row["IDENTITY_KEY"] == "AODB|FLOP|GTDT|8"
        (audit,) = held.audit()
        assert (audit["ACTION"], audit["TARGET"], audit["ACTOR"]) == ("replay", 1, "alice")
        assert (audit["REASON"], audit["CREATED_AT"]) == (AUDIT.reason, later(9))

    def test_a_replayed_message_is_the_head_again(self, held: Store) -> None:
        """R-122, H-25: at once, also before smaller waiting ones' successors; FAILED may be replayed too."""
        close(held, dead(), 1)
        enqueue(held, 2)
        held.replay([1], [], AUDIT, NOW)
        head = held.head()
        assert head is not None
        assert head.msg_id == 1
        held.fail(1, "INFRA", "raw-unreadable", None, later(500), NOW)
        held.replay([1], WHITELIST, AUDIT, NOW)
        head = held.head()
        assert head is not None
        assert (head.state, head.attempts, head.next_attempt_at) == (MessageState.PENDING, 0, None)

    def test_a_replay_keeps_what_was_applied(self, held: Store, oracle: Oracle) -> None:
        """D-02, H-25: APPLIED_AT, APPLY_NO, coverage and BACKFILL_AT stay; ③ can follow."""
        apply(held, 1, put(flight(7)), coverage="nothing")
        held.close_unapplied(1, dead("EXHAUSTED", "cache-rejected"), [], NOW)
        held.writebacks_done([1], NOW)
        before = message(oracle, 1)
        held.replay([1], [("EXHAUSTED", None)], AUDIT, NOW)
        row = message(oracle, 1)
        kept = ("APPLIED_AT", "APPLY_NO", "COVERAGE", "BACKFILL_AT")
        assert [row[name] for name in kept] == [before[name] for name in kept]
        assert None not in [row[name] for name in kept]
        assert held.finish(1, later(1))

    def test_the_whitelist_decides_by_code_and_reason(self, held: Store) -> None:
        """D-25: MALFORMED only with `raw-missing`; an empty whitelist lets any in."""
        close(held, dead("MALFORMED", "raw-missing"), 1)
        close(held, dead("MALFORMED", "not-well-formed"), 2)
        close(held, dead("PROTOCOL", "recs-missing"), 3)
        results = held.replay([1, 2, 3], WHITELIST, AUDIT, NOW)
        assert [result.target for result in results] == [1, 2, 3]
        assert [result.refused is None for result in results] == [True, False, True]
        assert held.replay([2], [], AUDIT, NOW)[0].refused is None

    @pytest.mark.parametrize("case", REFUSED)
    def test_what_is_refused_changes_nothing(self, held: Store, oracle: Oracle, case: str) -> None:
        """D-25, D-34: each is one conditional change; no audit row without a change."""
        enqueue(held, 1)
        close(held, skipped(), 2)
        apply(held, 3, put(flight(7)))
        held.finish(3, NOW)
        close(held, dead("MALFORMED", "not-well-formed"), 4)
        before = everything(oracle)
        results = REFUSED[case](held)
        assert isinstance(results, (list, tuple))
        assert all(result.refused for result in results)
        assert everything(oracle) == before

    def test_a_duplicate_is_let_in_under_a_name_of_its_own(self, held: Store, oracle: Oracle) -> None:
        """D-24: its identity with `#<MSG_ID>` behind; a later binding leaves that."""
        close(held, dead(), 1)
        enqueue(held, 2, 3)
        held.bind(binding(2, "8"), NOW)
        holder = held.bind(binding(3, "8"), NOW)
        assert holder is not None
        held.close_unapplied(3, skipped(f"duplicate-of:{holder.msg_id}"), [], NOW, binding(3, "8"))
        held.close_unapplied(2, skipped(), [], NOW)
        assert held.readmit(3, AUDIT, later(9)).refused is None
        row = message(oracle, 3)
        assert (row["STATE"], row["IDENTITY_KEY"]) == ("PENDING", "AODB|FLOP|GTDT|8#3")
        assert (row["REASON"], row["BACKFILL_NEXT_AT"]) == (None, None)
        assert held.bind(binding(3, "8"), NOW) is None
        head = held.head()
        assert head is not None
        assert (head.msg_id, head.identity_key) == (3, "AODB|FLOP|GTDT|8#3")
        assert [(a["ACTION"], a["TARGET"]) for a in held.audit()] == [("readmit", 3)]

    def test_a_duplicate_whose_holder_is_gone_is_let_in(self, held: Store, oracle: Oracle) -> None:
        """D-24, US-11: retention may have removed the holder."""
        enqueue(held, 3)
        held.close_unapplied(3, skipped("duplicate-of:1"), [], NOW, binding(3, "8"))
        assert held.readmit(3, AUDIT, NOW).refused is None
        assert message(oracle, 3)["IDENTITY_KEY"] == "AODB|FLOP|GTDT|8#3"

    def test_a_claimed_duplicate_waits(self, held: Store) -> None:
        """D-25: write-back and readmission exclude each other."""
        enqueue(held, 3)
        held.close_unapplied(3, skipped("duplicate-of:1"), [], NOW, binding(3, "8"))
        held.claim_writebacks(NOW, NOW, 10, later(60))
        assert held.readmit(3, AUDIT, later(1)).refused
        assert held.readmit(3, AUDIT, later(60)).refused is None

    def test_dead_events_are_requeued_or_discarded(self, held: Store, oracle: Oracle) -> None:
        """R-373, D-27: both topics have an event 1; without a target both are meant."""
        apply(held, 1, put(flight(7)))
        dead_ones = [
            EventSettled(1, target, 7, 1, EventStatus.DEAD, 8, NOW, "refused:x") for target in Target
        ]
        held.settle_events(dead_ones, [], NOW)
        assert held.discard_events([1], AUDIT, NOW, Target.MSG)[0].refused is None
        assert held.requeue_events([1], AUDIT, later(1))[0].refused is None
        status = {row["TARGET"]: (row["STATUS"], row["ATTEMPTS"]) for row in held.events()}
        assert status == {"KAFKA:msg": ("DISCARDED", 8), "KAFKA:schd": ("PENDING", 0)}
        assert count(oracle, "OPS_AUDIT", "TARGET = 1") == 2

    def test_alerts_are_acknowledged_once(self, held: Store) -> None:
        """D-41: shown until acknowledged."""
        held.raise_alert(Alert(AlertCode.OUTAGE), NOW)
        held.raise_alert(Alert(AlertCode.EMPTY), NOW)
        first, second = [row["ALERT_ID"] for row in held.alerts()]
        assert held.acknowledge([first], AUDIT, later(1))[0].refused is None
        assert held.acknowledge([first], AUDIT, later(2))[0].refused
        assert [row["ALERT_ID"] for row in held.alerts()] == [second]
        assert [row.get("ACKED_AT") for row in held.alerts(acknowledged=True)] == [later(1), None]
        assert len(held.audit()) == 1

    def test_a_new_request_replaces_the_open_one_of_its_slot(self, held: Store, oracle: Oracle) -> None:
        """R-333, R-334, D-32: one open request for each slot; the old one expires."""
        first = held.create_request(request(seqn="1", first_day=DAY, last_day=DAY), AUDIT, NOW)
        other = held.create_request(request(RequestSlot.RQRD, rtype="GLST"), AUDIT, NOW)
        second = held.create_request(request(seqn="2"), AUDIT, later(5))
        assert len({first.request_id, other.request_id, second.request_id}) == 3
        assert held.open_request(RequestSlot.RQFD) == second
        assert held.open_request(RequestSlot.RQRD) == other
        oldest = held.requests()[-1]
        assert (oldest.state, oldest.reason) == (RequestState.EXPIRED, "replaced")
        assert (oldest.closed_at, oldest.seqn, oldest.first_day, oldest.last_day) == (later(5), "1", DAY, DAY)
        assert count(oracle, "OPS_AUDIT") == 3
        assert held.counts().requests_open == 2

    def test_a_request_that_is_being_answered_is_not_replaced(self, held: Store, oracle: Oracle) -> None:
        """D-32: a bound request does not expire, a new one is refused meanwhile."""
        asked = held.create_request(request(), AUDIT, NOW)
        apply(held, 1, request=BindRequest(asked.request_id))
        before = everything(oracle)
        with pytest.raises(Conflict):
            held.create_request(request(), AUDIT, NOW)
        assert everything(oracle) == before
        held.finish(1, NOW)
        held.create_request(request(), AUDIT, NOW)

    def test_people_need_no_lease(self, store: Store) -> None:
        """R-099, D-34: operator statements carry no epoch."""
        store.acquire_lease("daemon", 60.0)
        close(store, dead(), 1)
        store.release_lease()
        assert store.replay([1], [], AUDIT, NOW)[0].refused is None
        store.create_request(request(), AUDIT, NOW)
