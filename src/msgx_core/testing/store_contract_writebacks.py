"""Store suite: write-back intents, their claims, and claims against replay (IMP §6, D-25, D-38)."""

from __future__ import annotations

from datetime import datetime

import pytest

from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.proc import AbandonReason, NewMessage, WritebackDue
from msgx_core.ports import Store
from msgx_core.testing.builders import AUDIT, NOW, apply, close, dead, enqueue, later, skipped
from msgx_core.testing.store_contract import Another, Oracle, StoreContract, count, everything, message

NEVER = later(-1_000_000)
ALERT = Alert(AlertCode.TRANSIENT_DEADLINE, detail="R is over")
MISSING = AbandonReason.MISSING_ROW


def _claim(
    store: Store,
    now: datetime = NOW,
    *,
    overdue_before: datetime = NEVER,
    limit: int = 100,
    until: datetime | None = None,
) -> list[int]:
    claim_until = until or later((now - NOW).total_seconds() + 60)
    return [due.msg_id for due in store.claim_writebacks(now, overdue_before, limit, claim_until)]


class WritebackContract(StoreContract):
    """`ports.store.Writebacks`."""

    def test_every_terminal_state_owes_a_write_back(self, held: Store) -> None:
        """R-137, R-132: SUCCEEDED, SKIPPED and DEAD, not PENDING or FAILED."""
        apply(held, 1)
        held.finish(1, NOW)
        close(held, skipped(), 2)
        close(held, dead(), 3)
        enqueue(held, 4, 5)
        held.fail(5, "INFRA", "raw-unreadable", None, NOW, NOW)
        apply(held, 6)
        due = held.claim_writebacks(NOW, NEVER, 10, later(60))
        assert list(due) == [WritebackDue(n, 0, NOW, NOW) for n in (1, 2, 3)]
        assert held.counts().writeback_pending == 3

    def test_a_row_is_due_when_its_time_has_come(self, held: Store) -> None:
        """R-137: `BACKFILL_NEXT_AT ≤ NOW`."""
        close(held, skipped(), 1)
        held.writeback_retry(1, later(30), None, NOW)
        assert _claim(held, later(29)) == []
        assert _claim(held, later(30)) == [1]

    def test_past_r_a_row_is_due_at_once(self, held: Store) -> None:
        """R-003, R-454, R-139, R-142, R-150: by ENQUEUED_AT alone, strictly before NOW − R, over any
        back-off."""
        close(held, skipped(), 1)
        held.writeback_retry(1, later(9_999), None, NOW)
        assert _claim(held, later(10), overdue_before=NOW) == []
        assert _claim(held, later(10), overdue_before=later(0.001)) == [1]

    def test_when_the_owner_says_it_came_in_is_not_asked(self, held: Store, oracle: Oracle) -> None:
        """R-003, R-142: RECEIVED_AT is for reconciliation; ENQUEUED_AT decides, and is always there."""
        held.enqueue([NewMessage(1, later(-9_999)), NewMessage(2, None)], NOW)
        for msg_id in (1, 2):
            held.close_unapplied(msg_id, skipped(), [], NOW)
            held.writeback_retry(msg_id, later(9_999), None, NOW)
        assert _claim(held, later(10), overdue_before=NOW) == []
        assert _claim(held, later(10), overdue_before=later(0.001)) == [1, 2]
        with pytest.raises(Exception, match=r"(?i)not.null"):
            oracle.run("UPDATE PROC_STATE SET ENQUEUED_AT = NULL")

    def test_a_terminal_row_without_a_time_is_due(self, held: Store, oracle: Oracle) -> None:
        """R-138: an abnormal fallback."""
        close(held, skipped(), 1)
        oracle.run("UPDATE PROC_STATE SET BACKFILL_NEXT_AT = NULL")
        assert _claim(held) == [1]

    def test_the_order_is_fair(self, held: Store) -> None:
        """R-140, R-141: fewest attempts first, then id; no more than the limit."""
        close(held, skipped(), 3, 1, 2, 4)
        held.writeback_retry(1, NOW, None, NOW)
        held.writeback_retry(2, NOW, None, NOW)
        held.writeback_retry(2, NOW, None, NOW)
        assert _claim(held, limit=3) == [3, 4, 1]
        assert _claim(held, limit=3) == [2]

    def test_a_claim_keeps_others_out_until_it_ends(self, held: Store) -> None:
        """R-099, D-25: neither claimed again nor replayed until `claim_until`."""
        close(held, dead(), 1)
        assert _claim(held, until=later(60)) == [1]
        assert _claim(held, later(59)) == []
        (result,) = held.replay([1], [], AUDIT, later(59))
        assert result.refused
        assert _claim(held, later(60)) == [1]

    def test_an_expired_claim_lets_a_replay_in(self, held: Store, oracle: Oracle) -> None:
        """D-25, R-121: and what the late writer then reports changes nothing."""
        close(held, dead(), 1)
        _claim(held, until=later(60))
        (result,) = held.replay([1], [], AUDIT, later(60))
        assert result.refused is None
        before = everything(oracle)
        held.writebacks_done([1], later(61))
        held.writeback_retry(1, later(99), ALERT, later(61))
        held.writeback_abandon(1, MISSING, ALERT, later(61))
        held.release_claims([1])
        assert everything(oracle) == before

    def test_settling(self, held: Store, oracle: Oracle) -> None:
        """R-131, R-133, R-143, H-28: BACKFILL_AT, no further intent; a replay finds no claim."""
        close(held, dead(), 1, 2)
        _claim(held)
        held.writebacks_done([1, 2, 99], later(1))
        row = message(oracle, 1)
        assert row["BACKFILL_AT"] is not None
        assert (row["BACKFILL_NEXT_AT"], row["BACKFILL_CLAIM_UNTIL"]) == (None, None)
        assert held.counts().writeback_pending == 0
        assert _claim(held, later(99), overdue_before=later(99)) == []
        assert held.replay([1], [], AUDIT, later(1))[0].refused is None

    def test_settling_twice_keeps_the_first_time(self, held: Store, oracle: Oracle) -> None:
        """H-28: every update carries `BACKFILL_AT IS NULL`."""
        close(held, skipped(), 1)
        held.writebacks_done([1], NOW)
        before = everything(oracle)
        held.writebacks_done([1], later(9))
        held.writeback_retry(1, later(9), ALERT, later(9))
        held.writeback_abandon(1, MISSING, ALERT, later(9))
        assert everything(oracle) == before

    def test_a_retry_counts_and_ends_the_claim(self, held: Store, oracle: Oracle) -> None:
        """R-146, R-151: due again later; the alert goes with it."""
        close(held, skipped(), 1)
        _claim(held, until=later(600))
        held.writeback_retry(1, later(5), ALERT, NOW)
        assert count(oracle, "OPS_ALERT") == 1
        (due,) = held.claim_writebacks(later(5), NEVER, 10, later(60))
        assert due.attempts == 1

    def test_abandoning_stops_the_retry(self, held: Store, oracle: Oracle) -> None:
        """R-134, R-145, R-147: with its alert; not written back."""
        close(held, skipped(), 1)
        _claim(held)
        held.writeback_abandon(1, MISSING, ALERT, later(1))
        row = message(oracle, 1)
        assert (row["BACKFILL_ABANDONED_REASON"], row["BACKFILL_AT"]) == ("MISSING_ROW", None)
        assert (row["BACKFILL_NEXT_AT"], row["BACKFILL_CLAIM_UNTIL"]) == (None, None)
        assert count(oracle, "OPS_ALERT", "CODE = 'TRANSIENT_DEADLINE'") == 1
        assert _claim(held, later(9_999), overdue_before=later(9_999)) == []
        counts = held.counts()
        assert (counts.writeback_pending, counts.writeback_abandoned) == (0, 1)

    def test_released_claims_count_nothing(self, held: Store) -> None:
        """D-04: an unreachable mailbox is not the row's fault."""
        close(held, skipped(), 1, 2)
        _claim(held, until=later(600))
        held.release_claims([1])
        due = held.claim_writebacks(later(1), NEVER, 10, later(60))
        assert [(each.msg_id, each.attempts) for each in due] == [(1, 0)]

    def test_a_claim_outlives_its_holder(self, held: Store, another: Another) -> None:
        """D-25, D-34: after a takeover the claim of the old holder runs out by itself."""
        close(held, skipped(), 1)
        _claim(held, until=later(60))
        other = another(held)
        other.acquire_lease("holder", 60.0)
        assert _claim(other, later(30)) == []
        assert _claim(other, later(60)) == [1]

    @pytest.mark.parametrize("outcome", ["finish", "close"])
    def test_a_row_that_was_written_back_owes_nothing_again(
        self, held: Store, oracle: Oracle, outcome: str
    ) -> None:
        """H-25: after a replay the next terminal state sets no intent where BACKFILL_AT is set."""
        close(held, dead(), 1)
        held.writebacks_done([1], NOW)
        held.replay([1], [], AUDIT, NOW)
        if outcome == "finish":
            apply(held, 1)
            held.finish(1, later(1))
        else:
            held.close_unapplied(1, dead(), [], later(1))
        row = message(oracle, 1)
        assert row["BACKFILL_AT"] is not None
        assert row["BACKFILL_NEXT_AT"] is None
        assert _claim(held, later(9), overdue_before=later(9)) == []

    def test_a_resumed_row_is_due_once_more(self, held: Store) -> None:
        """D-38, R-148: by ids or all; only abandoned ones."""
        close(held, skipped(), 1, 2, 3)
        for msg_id in (1, 2):
            held.writeback_abandon(msg_id, MISSING, ALERT, NOW)
        one, other = held.resume_writebacks([1, 3], AUDIT, later(5))
        assert (one.refused, bool(other.refused)) == (None, True)
        assert _claim(held, later(5)) == [1, 3]
        assert [result.target for result in held.resume_writebacks(None, AUDIT, later(6))] == [2]
        assert _claim(held, later(6)) == [2]
        assert [row["TARGET"] for row in held.audit()] == [2, 1]
