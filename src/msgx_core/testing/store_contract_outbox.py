"""Store suite: which events are due, and what a delivery changes (IMP §8, D-28, D-29)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.events import DueEvent, EventSettled, EventStatus, Target
from msgx_core.ports import Store
from msgx_core.testing.builders import AUDIT, NOW, apply, flight, later, put
from msgx_core.testing.store_contract import Another, Oracle, StoreContract, count, everything, one

DEAD = Alert(AlertCode.DEAD_EVENT, flid=7, detail="too-large")


def _due(store: Store, target: Target = Target.MSG, now: datetime = NOW, limit: int = 100) -> list[int]:
    return [event.event_id for event in store.due_events(target, now, limit)]


def _settle(store: Store, event: DueEvent, status: EventStatus, now: datetime = NOW, **more: Any) -> None:
    settled = EventSettled(event.event_id, event.target, event.flid, event.version, status, **more)
    store.settle_events([settled], [], now)


class OutboxContract(StoreContract):
    """`ports.store.Outbox`."""

    @pytest.fixture
    def filled(self, held: Store) -> Store:
        """`msg`: 1 and 3 of flight 7, 2 of flight 8. `schd`: 2 of flight 8, 3 of flight 7."""
        apply(held, 1, put(flight(7)), put(flight(8)))
        apply(held, 2, put(flight(7, version=2)))
        return held

    def test_only_the_oldest_event_of_a_flight_is_due(self, filled: Store) -> None:
        """D-28, R-350: at most one event per flight is in flight; the next follows when it is sent."""
        first, second = filled.due_events(Target.MSG, NOW, 10)
        assert (first.event_id, first.flid, first.version, first.attempts) == (1, 7, 1, 0)
        assert second.event_id == 2
        _settle(filled, first, EventStatus.SENT)
        assert _due(filled) == [2, 3]

    def test_a_flight_waits_for_the_back_off_of_its_oldest(self, filled: Store) -> None:
        """D-28: a refused event is never overtaken by a later one of its flight."""
        first = filled.due_events(Target.MSG, NOW, 1)[0]
        _settle(filled, first, EventStatus.PENDING, attempts=1, next_attempt_at=later(5), code="refused:x")
        assert _due(filled, now=later(4)) == [2]
        assert _due(filled, now=later(5)) == [1, 2]
        assert filled.due_events(Target.MSG, later(5), 1)[0].attempts == 1

    @pytest.mark.parametrize("discarded", [False, True])
    def test_a_dead_event_lets_the_next_go(self, filled: Store, discarded: bool) -> None:
        """D-28, R-114: a dead letter is kept; whether or not a person took note."""
        first = filled.due_events(Target.MSG, NOW, 1)[0]
        _settle(filled, first, EventStatus.DEAD, attempts=8, code="refused:x")
        if discarded:
            filled.discard_events([1], AUDIT, NOW, Target.MSG)
        assert _due(filled) == [2, 3]

    def test_a_requeued_event_comes_first_again(self, filled: Store) -> None:
        """D-28: it is the oldest unsent one of its flight; its attempts start over."""
        first = filled.due_events(Target.MSG, NOW, 1)[0]
        _settle(filled, first, EventStatus.DEAD, attempts=8, next_attempt_at=later(99))
        filled.requeue_events([1], AUDIT, NOW, Target.MSG)
        assert _due(filled) == [1, 2]
        assert filled.due_events(Target.MSG, NOW, 1)[0].attempts == 0

    def test_events_come_in_order_and_no_more_than_asked(self, held: Store) -> None:
        """R-352, R-353: by EVENT_ID."""
        apply(held, 1, *[put(flight(100 - n)) for n in range(50)])
        assert _due(held, limit=7) == [1, 2, 3, 4, 5, 6, 7]
        assert [event.flid for event in held.due_events(Target.MSG, NOW, 3)] == [100, 99, 98]
        assert _due(held, limit=0) == []

    def test_full_states_are_one_per_flight(self, filled: Store) -> None:
        """D-29: the newest version of each flight, by EVENT_ID."""
        assert _due(filled, Target.SCHD) == [2, 3]
        first = filled.due_events(Target.SCHD, NOW, 1)[0]
        _settle(filled, first, EventStatus.PENDING, next_attempt_at=later(5))
        assert _due(filled, Target.SCHD, later(4)) == [3]
        assert _due(filled, Target.SCHD, later(5)) == [2, 3]

    def test_sending_is_recorded_with_its_time(self, filled: Store, oracle: Oracle) -> None:
        """R-356: SENT_AT with the confirmation; retention counts from it."""
        for event in filled.due_events(Target.MSG, NOW, 10):
            _settle(filled, event, EventStatus.SENT, later(1), attempts=1)
        assert count(oracle, "MSG_EVENT", "STATUS = 'SENT' AND SENT_AT IS NOT NULL") == 2
        assert count(oracle, "MSG_EVENT", "STATUS = 'PENDING' AND SENT_AT IS NULL") == 3

    def test_a_refusal_is_recorded(self, filled: Store, oracle: Oracle) -> None:
        """R-113, R-114: code and attempts."""
        first = filled.due_events(Target.MSG, NOW, 1)[0]
        _settle(filled, first, EventStatus.DEAD, attempts=1, code="too-large")
        row = one(oracle, "SELECT * FROM MSG_EVENT WHERE STATUS = 'DEAD'")
        assert (row["TARGET"], row["EVENT_ID"], row["ATTEMPTS"]) == ("KAFKA:msg", 1, 1)
        assert (row["LAST_CODE"], row["SENT_AT"]) == ("too-large", None)

    def test_a_replaced_full_state_is_sent_again(self, held: Store, oracle: Oracle) -> None:
        """R-359, D-29: a delivery settles only the version and EVENT_ID that were sent."""
        apply(held, 1, put(flight(7)))
        sent = held.due_events(Target.SCHD, NOW, 1)[0]
        apply(held, 2, put(flight(7, version=2)))
        before = everything(oracle)
        _settle(held, sent, EventStatus.SENT)
        assert everything(oracle) == before
        (event,) = held.due_events(Target.SCHD, NOW, 10)
        assert event.version == 2

    @pytest.mark.parametrize(("event_id", "flid", "version"), [(2, 7, 1), (1, 8, 1), (1, 7, 2), (99, 7, 1)])
    def test_a_delivery_settles_exactly_its_event(
        self, filled: Store, oracle: Oracle, event_id: int, flid: int, version: int
    ) -> None:
        """R-359: id, flight and version must all be those."""
        before = everything(oracle)
        settled = EventSettled(event_id, Target.MSG, flid, version, EventStatus.SENT)
        filled.settle_events([settled], [], NOW)
        assert everything(oracle) == before

    def test_topics_do_not_settle_each_other(self, filled: Store, oracle: Oracle) -> None:
        """D-27: the same EVENT_ID exists in both."""
        filled.settle_events([EventSettled(2, Target.SCHD, 8, 1, EventStatus.SENT)], [], NOW)
        assert one(oracle, "SELECT * FROM MSG_EVENT WHERE STATUS = 'SENT'")["TARGET"] == "KAFKA:schd"

    def test_a_batch_settles_in_one_transaction_with_its_alerts(self, filled: Store, oracle: Oracle) -> None:
        """D-26, D-41: some sent, some dead, the alert beside."""
        first, second = filled.due_events(Target.MSG, NOW, 10)
        filled.settle_events(
            [
                EventSettled(first.event_id, Target.MSG, 7, 1, EventStatus.DEAD, 1, None, "too-large"),
                EventSettled(second.event_id, Target.MSG, 8, 1, EventStatus.SENT, 1),
            ],
            [DEAD],
            NOW,
        )
        assert _due(filled) == [3]
        assert count(oracle, "OPS_ALERT", "CODE = 'DEAD_EVENT' AND FLID = 7") == 1

    def test_no_alert_about_an_event_that_was_replaced(self, held: Store, oracle: Oracle) -> None:
        """D-29, D-41: the version that was refused is not what is owed any more."""
        apply(held, 1, put(flight(7)))
        apply(held, 2, put(flight(7, version=2)))
        held.settle_events([EventSettled(1, Target.SCHD, 7, 1, EventStatus.DEAD)], [DEAD], NOW)
        assert count(oracle, "OPS_ALERT") == 0

    def test_a_late_report_does_not_bring_an_event_back(self, filled: Store, oracle: Oracle) -> None:
        """R-112: SENT is final."""
        first = filled.due_events(Target.MSG, NOW, 1)[0]
        _settle(filled, first, EventStatus.SENT)
        before = everything(oracle)
        _settle(filled, first, EventStatus.PENDING, attempts=1, next_attempt_at=later(5))
        assert everything(oracle) == before

    def test_unsent_events_outlive_the_holder(self, filled: Store, another: Another) -> None:
        """R-355, R-370: at least once: what was not settled is due for the next holder."""
        other = another(filled)
        other.acquire_lease("holder", 60.0)
        assert list(other.due_events(Target.MSG, NOW, 10)) == list(filled.due_events(Target.MSG, NOW, 10))
