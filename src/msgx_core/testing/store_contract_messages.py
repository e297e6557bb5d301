"""Store suite: intake, head, identity and fate of messages."""

from __future__ import annotations

import pytest

from msgx_core.errors import Conflict
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.proc import Holder, MessageState, NewMessage, Outcome
from msgx_core.model.request import BindRequest, RequestSlot
from msgx_core.ports import Store
from msgx_core.testing.builders import (
    AUDIT,
    NOW,
    apply,
    binding,
    change,
    close,
    dead,
    enqueue,
    later,
    request,
    skipped,
)
from msgx_core.testing.store_contract import Another, Oracle, StoreContract, count, everything, message

EXHAUSTED = dead("EXHAUSTED", "raw-unreadable")
ALERT = Alert(AlertCode.EXHAUSTED, msg_id=1, detail="eight attempts")


class MessageContract(StoreContract):
    """`ports.store.Messages`."""

    def test_unknown_ids_come_in_the_given_order(self, held: Store) -> None:
        """R-026: only the mailbox id counts; D-35: a page is filtered by one query."""
        enqueue(held, 2, 4)
        assert list(held.unknown([5, 4, 3, 2, 1])) == [5, 3, 1]
        assert list(held.unknown([])) == []

    def test_a_page_of_any_size_is_filtered(self, held: Store) -> None:
        """D-35: no limit of variables shows."""
        enqueue(held, *range(1, 4_001))
        assert list(held.unknown(range(1, 40_001)))[:1] == [4_001]

    def test_intake_is_idempotent(self, held: Store, oracle: Oracle) -> None:
        """R-001, R-025, R-028: a known row is left as it is; only new ones are counted."""
        assert held.enqueue([NewMessage(1, NOW), NewMessage(2, None)], NOW) == 2
        before = message(oracle, 1)
        assert held.enqueue([NewMessage(1, later(9)), NewMessage(3, None)], later(9)) == 1
        assert held.enqueue([], NOW) == 0
        assert message(oracle, 1) == before
        head = held.head()
        assert head is not None
        assert (head.enqueued_at, head.received_at) == (NOW, NOW)

    def test_the_head_is_the_smallest_unfinished(self, held: Store) -> None:
        """R-002, R-031, R-110, R-111: FAILED keeps the head; a smaller id that comes late becomes it."""
        assert held.head() is None
        enqueue(held, 5, 7)
        assert _head(held) == 5
        held.fail(5, "INFRA", "raw-unreadable", None, later(5), NOW)
        assert _head(held) == 5
        enqueue(held, 3)
        assert _head(held) == 3
        held.close_unapplied(3, skipped(), [], NOW)
        held.close_unapplied(5, dead(), [], NOW)
        assert _head(held) == 7

    def test_the_heads_are_the_unfinished_by_id(self, held: Store) -> None:
        """R-002, R-070: the head first, each as it is now, no more than asked for."""
        assert list(held.heads(3)) == []
        enqueue(held, 9, 2, 5, 7)
        held.fail(5, "INFRA", "raw-unreadable", None, later(5), NOW)
        held.close_unapplied(2, skipped(), [], NOW)
        found = held.heads(2)
        assert [(row.msg_id, row.state, row.attempts) for row in found] == [
            (5, MessageState.FAILED, 1),
            (7, MessageState.PENDING, 0),
        ]
        assert found[0] == held.head()
        assert [row.msg_id for row in held.heads(9)] == [5, 7, 9]

    def test_only_the_head_is_bound_as_head(self, held: Store, oracle: Oracle) -> None:
        """R-002, R-031: not one behind it, not one that has ended, not one that a late id has overtaken."""
        enqueue(held, 5, 7)
        before = everything(oracle)
        with pytest.raises(Conflict):
            held.bind(binding(7, "8"), NOW, as_head=True)
        assert everything(oracle) == before
        enqueue(held, 3)
        with pytest.raises(Conflict):
            held.bind(binding(5, "8"), NOW, as_head=True)
        assert held.bind(binding(3, "8"), NOW, as_head=True) is None
        held.close_unapplied(3, dead(), [], NOW)
        with pytest.raises(Conflict):
            held.bind(binding(3, "9"), NOW, as_head=True)
        assert held.bind(binding(5, "8"), NOW, as_head=True) == Holder(3, "digest-3")

    def test_first_binding(self, held: Store, oracle: Oracle) -> None:
        """R-092, R-038, R-039, R-042: identity, type, sender and digest are kept."""
        enqueue(held, 1)
        assert held.bind(binding(1, "8"), NOW) is None
        row = message(oracle, 1)
        assert row["IDENTITY_KEY"] == "AODB|FLOP|GTDT|8"
        assert (row["SNDR"], row["TYPE"], row["STYP"], row["SEQN"]) == ("AODB", "FLOP", "GTDT", "8")
        assert (row["DTTM"], row["RAW_DIGEST"]) == ("20270314143000", "digest-1")
        head = held.head()
        assert head is not None
        assert (head.identity_key, head.type, head.styp) == ("AODB|FLOP|GTDT|8", "FLOP", "GTDT")

    def test_who_holds_an_identity(self, held: Store) -> None:
        """D-24: as binding would find it, and nothing is bound."""
        enqueue(held, 1, 2)
        held.bind(binding(1, "8", digest="first"), NOW)
        assert held.identity_holder(binding(2, "8").identity_key) == Holder(1, "first")
        assert held.identity_holder(binding(2, "9").identity_key) is None
        assert held.bind(binding(2, "9"), NOW) is None

    def test_binding_again_changes_nothing(self, held: Store, oracle: Oracle) -> None:
        """R-038, R-040: a retry never re-binds, whatever it computes."""
        enqueue(held, 1)
        held.bind(binding(1, "8"), NOW)
        before = everything(oracle)
        assert held.bind(binding(1, "8"), later(1)) is None
        assert held.bind(binding(1, "9"), later(1)) is None
        assert everything(oracle) == before

    def test_a_taken_identity_names_its_holder(self, held: Store, oracle: Oracle) -> None:
        """R-001, R-041, D-24: the holder and its digest; nothing is written."""
        enqueue(held, 1, 2)
        held.bind(binding(1, "8", digest="first"), NOW)
        held.close_unapplied(1, dead(), [], NOW)
        before = everything(oracle)
        assert held.bind(binding(2, "8", digest="other"), NOW) == Holder(1, "first")
        assert everything(oracle) == before

    def test_closing_writes_state_and_intent_together(self, held: Store, oracle: Oracle) -> None:
        """R-096, R-135, H-28: terminal state, reason, alerts and a write-back due at once."""
        enqueue(held, 1)
        held.fail(1, "INFRA", "raw-unreadable", None, later(5), NOW)
        outcome = Outcome(MessageState.DEAD, "PROTOCOL", "recs-mismatch:2!=3", "line 4")
        assert held.close_unapplied(1, outcome, [ALERT], later(1))
        row = message(oracle, 1)
        assert (row["STATE"], row["ERROR_CODE"], row["REASON"], row["DETAIL"]) == (
            "DEAD",
            "PROTOCOL",
            "recs-mismatch:2!=3",
            "line 4",
        )
        assert row["FINISHED_AT"] == row["BACKFILL_NEXT_AT"] is not None
        assert row["NEXT_ATTEMPT_AT"] is None
        assert [a["DETAIL"] for a in held.alerts()] == ["eight attempts"]

    @pytest.mark.parametrize("state", ["unknown", "finished", "applied"])
    def test_closing_what_cannot_be_closed_writes_nothing(
        self, held: Store, oracle: Oracle, state: str
    ) -> None:
        """D-02: only unfinished and unapplied messages; no alert without the change it reports."""
        if state == "finished":
            close(held, skipped(), 1)
        elif state == "applied":
            apply(held, 1)
        before = everything(oracle)
        assert not held.close_unapplied(1, dead(), [ALERT], NOW)
        assert everything(oracle) == before

    def test_an_applied_message_may_be_exhausted(self, held: Store, oracle: Oracle) -> None:
        """D-02, D-05: EXHAUSTED is the exception; APPLIED_AT stays."""
        apply(held, 1)
        assert held.close_unapplied(1, EXHAUSTED, [ALERT], NOW)
        row = message(oracle, 1)
        assert (row["STATE"], row["ERROR_CODE"], row["REASON"]) == ("DEAD", "EXHAUSTED", "raw-unreadable")
        assert row["APPLIED_AT"] is not None

    def test_closing_describes_an_unbound_message(self, held: Store, oracle: Oracle) -> None:
        """D-24: a duplicate keeps type, sender and digest, but not the identity."""
        enqueue(held, 1, 2)
        held.bind(binding(1, "8"), NOW)
        held.close_unapplied(2, skipped("duplicate-of:1"), [], NOW, binding(2, "8"))
        row = message(oracle, 2)
        assert (row["TYPE"], row["SNDR"], row["RAW_DIGEST"]) == ("FLOP", "AODB", "digest-2")
        assert row["IDENTITY_KEY"] is None
        held.close_unapplied(1, dead(), [], NOW, binding(1, "9", digest="other"))
        assert (message(oracle, 1)["SEQN"], message(oracle, 1)["RAW_DIGEST"]) == ("8", "digest-1")

    def test_closing_unbinds_the_request(self, held: Store, oracle: Oracle) -> None:
        """D-32: an answer that ends DEAD leaves its request open and unbound."""
        asked = held.create_request(request(), AUDIT, NOW)
        apply(held, 1, request=BindRequest(asked.request_id))
        held.close_unapplied(1, EXHAUSTED, [], NOW)
        still = held.open_request(RequestSlot.RQFD)
        assert still is not None
        assert (still.request_id, still.resp_msg_id) == (asked.request_id, None)

    def test_a_failure_counts_one_attempt(self, held: Store) -> None:
        """R-001, R-118: FAILED, code, reason, place and the next try; still the head."""
        enqueue(held, 1)
        held.fail(1, "INFRA", "raw-unreadable", "page 3", later(5), NOW)
        held.fail(1, "CODEC_ERROR", "codec-exception:KeyError", None, later(30), later(5))
        head = held.head()
        assert head is not None
        assert (head.state, head.attempts, head.code) == (MessageState.FAILED, 2, "CODEC_ERROR")
        assert (head.reason, head.detail) == ("codec-exception:KeyError", None)
        assert head.next_attempt_at == later(30)

    def test_a_finished_message_does_not_fail(self, held: Store, oracle: Oracle) -> None:
        """R-155: a terminal state never turns back."""
        close(held, skipped(), 1)
        before = everything(oracle)
        held.fail(1, "INFRA", "raw-unreadable", None, later(5), NOW)
        held.set_trying(1, True)
        assert everything(oracle) == before

    def test_an_interrupted_try_is_counted_once(self, held: Store, another: Another) -> None:
        """D-05: TRYING that was left counts one attempt at the next start."""
        enqueue(held, 1, 2)
        assert held.count_interrupted(NOW) is None
        held.set_trying(1, True)
        assert held.head() == (head := held.head())
        assert head is not None
        assert head.trying
        restarted = another(held)
        restarted.acquire_lease("holder", 60.0)
        row = restarted.count_interrupted(later(1))
        assert row is not None
        assert (row.msg_id, row.attempts, row.trying) == (1, 1, False)
        assert restarted.count_interrupted(later(2)) is None

    @pytest.mark.parametrize("end", ["clear", "fail", "close", "finish"])
    def test_any_return_ends_the_try(self, held: Store, end: str) -> None:
        """D-05: TRYING is cleared by every way out."""
        enqueue(held, 1)
        held.set_trying(1, True)
        if end == "clear":
            held.set_trying(1, False)
        elif end == "fail":
            held.fail(1, "INFRA", "raw-unreadable", None, later(5), NOW)
        elif end == "close":
            held.close_unapplied(1, dead(), [], NOW)
        else:
            held.apply(change(1))
            held.finish(1, NOW)
        assert held.count_interrupted(later(1)) is None

    def test_state_outlives_the_object(self, held: Store, another: Another) -> None:
        """IMP §9.2: recovery looks at persistent records alone."""
        enqueue(held, 1)
        held.bind(binding(1, "8"), NOW)
        held.fail(1, "INFRA", "raw-unreadable", None, later(5), NOW)
        assert another(held).head() == held.head()

    def test_alerts_are_appended(self, held: Store, oracle: Oracle) -> None:
        """D-41: an alert outside any message."""
        held.raise_alert(Alert(AlertCode.OUTAGE, detail="cache, 3 min"), NOW)
        assert count(oracle, "OPS_ALERT", "CODE = 'OUTAGE' AND DETAIL = 'cache, 3 min'") == 1


def _head(store: Store) -> int | None:
    head = store.head()
    return None if head is None else head.msg_id
