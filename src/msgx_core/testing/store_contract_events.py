"""Store suite: which events ① writes, their numbers and their order (D-27 to D-29), from many threads too."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from msgx_core.errors import Conflict
from msgx_core.model.change import FlightPut
from msgx_core.model.events import EventSettled, EventStatus, Target
from msgx_core.ports import Store
from msgx_core.testing.builders import AUDIT, NOW, apply, change, enqueue, flight, later, put
from msgx_core.testing.store_contract import Oracle, StoreContract, count, msg_event_ids, one

SCHD = "SELECT * FROM MSG_EVENT WHERE TARGET = 'KAFKA:schd'"
THREADS = 6
MESSAGES = 20


class EventContract(StoreContract):
    """The outbox as ① leaves it."""

    def test_an_advanced_flight_writes_both_events(self, held: Store, oracle: Oracle) -> None:
        """R-362, R-004, D-15: a notice and a full state, pending, with the flight's version."""
        apply(held, 3, put(flight(7, msg_id=3)))
        for target in ("KAFKA:msg", "KAFKA:schd"):
            row = one(oracle, f"SELECT * FROM MSG_EVENT WHERE TARGET = '{target}'")
            assert (row["FLID"], row["STATE_VERSION"], row["MSG_ID"]) == (7, 1, 3)
            assert (row["STATUS"], row["ATTEMPTS"], row["SENT_AT"]) == ("PENDING", 0, None)
        (notice,) = held.due_events(Target.MSG, NOW, 10)
        assert notice.payload == '{"FLID": 7, "STATE_VERSION": 1}'

    def test_ids_are_consecutive_per_topic_in_the_order_of_the_change(
        self, held: Store, oracle: Oracle
    ) -> None:
        """R-005, D-27, R-353: `msg` and `schd` have a counter each."""
        apply(held, 1, put(flight(9)), put(flight(7, deleted=True)), put(flight(8)))
        apply(held, 2, put(flight(7, version=2)))
        order = "SELECT EVENT_ID, FLID FROM MSG_EVENT WHERE TARGET = '{}' ORDER BY EVENT_ID"
        msg = [(row["EVENT_ID"], row["FLID"]) for row in oracle.rows(order.format("KAFKA:msg"))]
        schd = [(row["EVENT_ID"], row["FLID"]) for row in oracle.rows(order.format("KAFKA:schd"))]
        assert msg == [(1, 9), (2, 7), (3, 8), (4, 7)]
        assert schd == [(1, 9), (2, 8), (3, 7)]

    def test_a_change_without_flights_takes_no_id(self, held: Store, oracle: Oracle) -> None:
        """R-371: reference data and idempotent deletions write no event."""
        apply(held, 1)
        apply(held, 2, put(flight(7)))
        assert msg_event_ids(oracle) == [1]

    def test_the_full_state_row_is_replaced(self, held: Store, oracle: Oracle) -> None:
        """R-005, R-357, D-29: one row per flight, a new EVENT_ID each time, the newest version."""
        apply(held, 1, put(flight(7)))
        apply(held, 2, put(flight(7, version=2)))
        row = one(oracle, SCHD)
        assert (row["EVENT_ID"], row["STATE_VERSION"], row["MSG_ID"]) == (2, 2, 2)
        (event,) = held.due_events(Target.SCHD, NOW, 10)
        assert event.payload == '{"FLID": 7, "N": 2}'
        assert len(msg_event_ids(oracle)) == 2

    @pytest.mark.parametrize("status", [EventStatus.SENT, EventStatus.DEAD, EventStatus.PENDING])
    def test_a_new_version_is_pending_again(self, held: Store, oracle: Oracle, status: EventStatus) -> None:
        """D-29, R-374: also after it was sent, refused for good, or waits for its next try."""
        apply(held, 1, put(flight(7)))
        held.settle_events([EventSettled(1, Target.SCHD, 7, 1, status, 3, later(60), "refused:x")], [], NOW)
        apply(held, 2, put(flight(7, version=2)))
        row = one(oracle, SCHD)
        assert (row["STATUS"], row["ATTEMPTS"], row["NEXT_ATTEMPT_AT"]) == ("PENDING", 0, None)
        assert (row["LAST_CODE"], row["SENT_AT"]) == (None, None)

    def test_a_deletion_goes_through_msg_only(self, held: Store, oracle: Oracle) -> None:
        """R-298, R-361, D-06: the pending full state is withdrawn."""
        apply(held, 1, put(flight(7)), put(flight(8)))
        apply(held, 2, put(flight(7, version=2, deleted=True)))
        assert one(oracle, SCHD)["FLID"] == 8
        assert count(oracle, "MSG_EVENT", "TARGET = 'KAFKA:msg' AND FLID = 7") == 2

    def test_a_dead_event_that_was_discarded_comes_back_too(self, held: Store, oracle: Oracle) -> None:
        """D-29: a person's note does not outlive the next version."""
        apply(held, 1, put(flight(7)))
        held.settle_events([EventSettled(1, Target.SCHD, 7, 1, EventStatus.DEAD)], [], NOW)
        held.discard_events([1], AUDIT, NOW)
        apply(held, 2, put(flight(7, version=2)))
        assert one(oracle, SCHD)["STATUS"] == "PENDING"

    def test_concurrent_writers_leave_no_gap(self, held: Store, oracle: Oracle) -> None:
        """R-015, D-27, R-353: from many threads, ids are consecutive and their order is the commit order."""
        ids = range(1, THREADS * MESSAGES + 1)
        enqueue(held, *ids)
        with ThreadPoolExecutor(THREADS) as pool:
            numbers = list(pool.map(lambda i: held.apply(change(i, *_puts(i))), ids))
        assert sorted(numbers) == list(ids)
        assert msg_event_ids(oracle) == list(range(1, len(msg_event_ids(oracle)) + 1))
        rows = oracle.rows(
            "SELECT E.EVENT_ID, P.APPLY_NO FROM MSG_EVENT E JOIN PROC_STATE P ON P.MSG_ID = E.MSG_ID"
            " WHERE E.TARGET = 'KAFKA:msg' ORDER BY E.EVENT_ID"
        )
        orders = [row["APPLY_NO"] for row in rows]
        assert orders == sorted(orders)

    def test_a_reader_beside_writers_never_sees_a_gap(self, held: Store) -> None:
        """D-27: whoever reads meanwhile sees a prefix of the ids, so a smaller id never appears later."""
        ids = range(1, THREADS * MESSAGES + 1)
        enqueue(held, *ids)
        stop = threading.Event()
        seen: list[list[int]] = []

        def watch() -> None:
            while not stop.is_set():
                events = held.events(target="KAFKA:msg", limit=10_000)
                seen.append([row["EVENT_ID"] for row in events])

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            with ThreadPoolExecutor(THREADS) as pool:
                list(pool.map(lambda i: held.apply(change(i, *_puts(i))), ids))
        finally:
            stop.set()
            watcher.join()
        assert seen
        assert all(found == list(range(1, len(found) + 1)) for found in seen)

    def test_rivals_for_one_flight_apply_once(self, held: Store, oracle: Oracle) -> None:
        """R-127, D-02: of several that read the same version one wins, the others are conflicts."""
        enqueue(held, *range(1, THREADS + 1))
        gate = threading.Barrier(THREADS)

        def rival(msg_id: int) -> bool:
            gate.wait(timeout=30)
            try:
                held.apply(change(msg_id, put(flight(7, msg_id=msg_id))))
            except Conflict:
                return False
            return True

        with ThreadPoolExecutor(THREADS) as pool:
            won = list(pool.map(rival, range(1, THREADS + 1)))
        assert won.count(True) == 1
        assert count(oracle, "PROC_STATE", "APPLIED_AT IS NOT NULL") == 1
        assert msg_event_ids(oracle) == [1]


def _puts(msg_id: int) -> list[FlightPut]:
    return [put(flight(1_000 * msg_id + n, msg_id=msg_id)) for n in range(msg_id % 4)]
