"""Store suite: what people read, and facts about the store itself."""

from __future__ import annotations

import pytest

from msgx_core.errors import Transient
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.events import EventSettled, EventStatus, Target
from msgx_core.model.proc import AbandonReason, NewMessage
from msgx_core.ports import Store
from msgx_core.ports.operations import Counts, MessageFilter
from msgx_core.testing.builders import (
    AUDIT,
    DAY,
    NEXT_DAY,
    NOW,
    apply,
    binding,
    close,
    dead,
    enqueue,
    flids,
    flight,
    later,
    put,
    request,
    skipped,
)
from msgx_core.testing.store_contract import Another, Oracle, StoreContract


class ViewContract(StoreContract):
    """`ports.operations.Views` and `ports.store.Keeping`."""

    @pytest.fixture
    def busy(self, held: Store) -> Store:
        """Messages 1 to 6 in every state, flights 7 (two versions) and 8 (deleted)."""
        held.enqueue([NewMessage(1, later(-9))], NOW)
        held.bind(binding(1, "1"), NOW)
        apply(held, 1, put(flight(7)), put(flight(8, day=NEXT_DAY)))
        held.finish(1, later(1))
        apply(
            held,
            2,
            put(flight(7, version=2, msg_id=2)),
            put(flight(8, version=2, msg_id=2, day=NEXT_DAY, deleted=True)),
        )
        close(held, skipped("duplicate-of:1"), 3)
        close(held, dead("PROTOCOL", "recs-mismatch:1!=2"), 4)
        close(held, dead("MALFORMED", "raw-missing"), 5)
        held.enqueue([NewMessage(6, None)], later(100))
        return held

    def test_an_empty_store_counts_nothing(self, store: Store) -> None:
        """`status` of a new store."""
        assert store.counts() == Counts()
        assert list(store.messages(MessageFilter())) == []
        assert list(store.failures()) == []
        assert store.message(1) is None
        assert store.flight(7) is None

    def test_counts(self, busy: Store) -> None:
        """R-432, R-029, H-78: backlog, codes, flights, write-back, outbox, alerts, requests."""
        busy.raise_alert(Alert(AlertCode.OUTAGE), NOW)
        busy.create_request(request(), AUDIT, NOW)
        busy.writeback_abandon(3, AbandonReason.MISSING_ROW, Alert(AlertCode.MISSING_ROW), NOW)
        busy.settle_events([EventSettled(1, Target.MSG, 7, 1, EventStatus.DEAD)], [], NOW)
        busy.settle_events([EventSettled(3, Target.SCHD, 7, 2, EventStatus.SENT)], [], NOW)
        assert busy.counts() == Counts(
            messages={"PENDING": 2, "SUCCEEDED": 1, "SKIPPED": 1, "DEAD": 2},
            codes={"PROTOCOL": 1, "MALFORMED": 1},
            flights={"ACTIVE": 1, "DELETED": 1},
            writeback_pending=3,
            writeback_abandoned=1,
            events={"KAFKA:msg": {"DEAD": 1, "PENDING": 3}, "KAFKA:schd": {"SENT": 1}},
            oldest_event_at={"KAFKA:msg": NOW},
            alerts_open=2,
            requests_open=1,
        )

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (MessageFilter(), [1, 2, 3, 4, 5, 6]),
            (MessageFilter(limit=2), [1, 2]),
            (MessageFilter(after=4), [5, 6]),
            (MessageFilter(state="DEAD"), [4, 5]),
            (MessageFilter(reason="raw-missing"), [5]),
            (MessageFilter(reason="recs-mismatch"), [4]),
            (MessageFilter(reason="recs"), []),
            (MessageFilter(reason="duplicate-of:1"), [3]),
            (MessageFilter(type="FLOP", styp="GTDT"), [1]),
            (MessageFilter(type="SCHD"), []),
            (MessageFilter(flid=7), [1, 2]),
            (MessageFilter(flid=99), []),
            (MessageFilter(since=later(100)), [6]),
            (MessageFilter(state="DEAD", after=4), [5]),
            (MessageFilter(newest=True), [6, 5, 4, 3, 2, 1]),
            (MessageFilter(newest=True, after=5, limit=2), [4, 3]),
            (MessageFilter(newest=True, reason="duplicate-of"), [3]),
            (MessageFilter(newest=True, flid=7, since=NOW), [2, 1]),
        ],
    )
    def test_messages_are_filtered(self, busy: Store, where: MessageFilter, expected: list[int]) -> None:
        """product: `messages --state --reason --type --flid --since --limit`; a reason also by its kind."""
        assert [row["MSG_ID"] for row in busy.messages(where)] == expected

    def test_failures_are_grouped_by_state_code_and_kind_of_reason(self, busy: Store) -> None:
        """product: failure groups; what is behind the colon differs from message to message."""
        groups = [dict(row) for row in busy.failures()]
        assert [(row["STATE"], row["ERROR_CODE"], row["REASON"], row["N"]) for row in groups] == [
            ("DEAD", "MALFORMED", "raw-missing", 1),
            ("DEAD", "PROTOCOL", "recs-mismatch", 1),
        ]
        assert [(row["OLDEST_MSG_ID"], row["NEWEST_MSG_ID"]) for row in groups] == [(5, 5), (4, 4)]
        assert all(row["NEWEST_AT"] == NOW for row in groups)
        assert len(busy.failures(limit=1)) == 1

    def test_a_row_has_the_columns_that_have_a_value(self, busy: Store) -> None:
        """`Row`: names of the design, instants aware, nothing for no value."""
        row = busy.message(1)
        assert row is not None
        assert (row["STATE"], row["IDENTITY_KEY"], row["TYPE"]) == ("SUCCEEDED", "AODB|FLOP|GTDT|1", "FLOP")
        assert (row["RECEIVED_AT"], row["ENQUEUED_AT"], row["FINISHED_AT"]) == (later(-9), NOW, later(1))
        assert (row["APPLY_NO"], row["APPLIED_AT"], row["BACKFILL_NEXT_AT"]) == (1, NOW, later(1))
        assert "ERROR_CODE" not in row
        assert None not in row.values()

    def test_the_events_of_a_message_and_of_a_flight(self, busy: Store) -> None:
        """product: one message with its whole story; the time line of a flight."""
        assert [(e["EVENT_ID"], e["FLID"]) for e in busy.message_events(1)] == [(1, 7), (2, 8)]
        assert [(e["EVENT_ID"], e["MSG_ID"]) for e in busy.flight_events(7)] == [(1, 1), (3, 2)]
        event = busy.flight_events(7)[1]
        assert event["PAYLOAD"] == {"FLID": 7, "STATE_VERSION": 2}
        assert (event["STATUS"], event["CREATED_AT"]) == ("PENDING", NOW)
        assert list(busy.message_events(99)) == list(busy.flight_events(99)) == []

    def test_flights_are_listed(self, busy: Store) -> None:
        """product: the board by day and state, page by page."""
        assert flids(busy.flights()) == [7, 8]
        assert flids(busy.flights(day=DAY)) == [7]
        assert flids(busy.flights(day=NEXT_DAY, state="DELETED")) == [8]
        assert flids(busy.flights(state="ACTIVE")) == [7]
        assert flids(busy.flights(after=7)) == [8]
        assert flids(busy.flights(limit=1)) == [7]
        deleted = busy.flight(8)
        assert deleted is not None
        assert not deleted.is_live

    def test_events_are_listed(self, busy: Store) -> None:
        """product: `outbox [--dead]`."""
        busy.settle_events([EventSettled(1, Target.MSG, 7, 1, EventStatus.DEAD)], [], NOW)
        assert [row["EVENT_ID"] for row in busy.events(target="KAFKA:msg")] == [1, 2, 3, 4]
        assert [row["EVENT_ID"] for row in busy.events(status="DEAD")] == [1]
        assert list(busy.events(status="DEAD", target="KAFKA:schd")) == []
        assert [row["TARGET"] for row in busy.events(limit=3)].count("KAFKA:msg") >= 2

    def test_write_backs_are_listed(self, busy: Store) -> None:
        """R-153, R-396, H-31, R-148: owed and abandoned ones."""
        busy.writebacks_done([1], NOW)
        busy.writeback_abandon(5, AbandonReason.MISSING_ROW, Alert(AlertCode.MISSING_ROW), NOW)
        assert [row["MSG_ID"] for row in busy.writebacks()] == [3, 4]
        assert [row["MSG_ID"] for row in busy.writebacks(limit=1)] == [3]
        (row,) = busy.writebacks(abandoned=True)
        assert (row["MSG_ID"], row["BACKFILL_ABANDONED_REASON"]) == (5, "MISSING_ROW")

    def test_lists_are_limited(self, held: Store) -> None:
        """Every list has a bound."""
        for n in range(3):
            held.raise_alert(Alert(AlertCode.OUTAGE, detail=str(n)), NOW)
            held.create_request(request(seqn=str(n)), AUDIT, NOW)
        assert [row["DETAIL"] for row in held.alerts(limit=2)] == ["0", "1"]
        assert [each.seqn for each in held.requests(limit=2)] == ["2", "1"]
        assert len(held.audit(limit=2)) == 2

    def test_a_write_is_seen_at_once(self, held: Store) -> None:
        """Reads see committed state."""
        for version in range(1, 20):
            apply(held, version, put(flight(7, version=version)))
            found = held.flight(7)
            assert found is not None
            assert found.version == version

    def test_the_store_has_a_lasting_id(self, store: Store, another: Another) -> None:
        """D-31: it says which store a cache was filled from."""
        assert len(store.store_id()) >= 16
        assert another(store).store_id() == store.store_id()

    def test_a_pinned_choice_stays(self, store: Store, another: Another) -> None:
        """R-045, D-23: the first one is in force for ever."""
        assert store.pin("identity.include-day-boundary", "true") == "true"
        assert another(store).pin("identity.include-day-boundary", "false") == "true"
        assert store.pin("other", "x") == "x"

    def test_it_answers(self, store: Store) -> None:
        """`ping` of a store that is there."""
        store.ping()

    def test_it_names_a_table_that_it_lacks(self, store: Store, oracle: Oracle) -> None:
        """D-04: the culprit, not only that it cannot be used."""
        oracle.run("ALTER TABLE OPS_AUDIT RENAME TO GONE")
        try:
            with pytest.raises(Transient, match=r"(?i)tables are missing: ops_audit"):
                store.ping()
        finally:
            oracle.run("ALTER TABLE GONE RENAME TO OPS_AUDIT")
        store.ping()

    def test_closing_keeps_data_and_lease(self, held: Store, another: Another) -> None:
        """`close` is idempotent and does not release the lease."""
        other = another(held)
        enqueue(held, 1)
        assert not other.acquire_lease("b", 60.0).granted
        other.close()
        other.close()
        head = held.head()
        assert head is not None
        assert head.msg_id == 1
