"""The order of the three steps, seen from outside while the cache does not answer (IMP §5.3, D-01)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from embedded import System, closing_system
from msgx_core.errors import Transient
from wire import flop, fltr, gate, schedule


@pytest.fixture
def waiting() -> Iterator[System]:
    """Two messages, the first of them applied and kept from its end by the cache."""
    with closing_system(None) as system:
        system.send([schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("B1"))])
        system.start()
        system.cache.outage = "connection refused"
        for _ in range(3):
            with suppress(Transient):
                system.drain()
        yield system


def test_the_flight_is_stored_before_the_cache_is_written(waiting: System) -> None:
    """R-084, R-093, R-094: flight and events are committed together, whatever the cache does."""
    assert waiting.document(1)["STATE_VERSION"] == 1
    assert len(waiting.store.flight_events(1)) == 1
    waiting.cache.outage = None
    assert waiting.cache.get(1) is None


def test_no_message_ends_before_the_cache_has_it(waiting: System) -> None:
    """INV-10, R-086, R-095, R-100, R-379: not terminal, still the head, and the next one does not begin."""
    assert [fate[0] for fate in waiting.fates().values()] == ["PENDING", "PENDING"]
    head = waiting.store.head()
    assert head is not None
    assert (head.msg_id, head.applied_at is not None) == (1, True)


def test_a_cache_that_does_not_answer_costs_no_attempt(waiting: System) -> None:
    """R-085, R-118, D-04: the message is as it was, with no reason."""
    head = waiting.store.head()
    assert head is not None
    assert (head.attempts, head.next_attempt_at, head.reason) == (0, None, None)


def test_nothing_is_marked_before_it_has_ended(waiting: System) -> None:
    """R-036, R-091, R-135: the pump never writes the mailbox, and without an intent nobody does."""
    swept = waiting.pipeline.writeback.sweep()
    assert (swept.done, swept.retried, swept.abandoned) == (0, 0, 0)
    assert waiting.inbox.scan(0, 10) == [1, 2]
    waiting.cache.outage = None
    waiting.pipeline.pump.tick()
    assert waiting.inbox.scan(0, 10) == [1, 2], "the pump ends a message and leaves its mark to the sweep"
    assert waiting.pipeline.writeback.sweep().done == 1
    assert waiting.inbox.scan(0, 10) == [2]


def test_processing_sends_nothing_to_the_bus(waiting: System) -> None:
    """R-090: events lie in the outbox until a relay takes them."""
    waiting.cache.outage = None
    before = list(waiting.bus.of("KAFKA_MSG"))
    for _ in range(3):
        waiting.pipeline.pump.tick()
    assert {fate[0] for fate in waiting.fates().values()} == {"SUCCEEDED"}
    assert list(waiting.bus.of("KAFKA_MSG")) == before
    assert waiting.store.flight_events(1)[-1]["STATUS"] == "PENDING"
    assert waiting.pipeline.msg_relay.run_once().sent == 1
    assert len(waiting.bus.of("KAFKA_MSG")) == len(before) + 1


def test_what_is_retried_after_the_end_computes_nothing_again(waiting: System) -> None:
    """R-155, R-156, R-451, R-472: marks and deliveries fail and come again; flights, versions, events and
    states stay what ① and ③ made them."""
    waiting.cache.outage = None
    for _ in range(3):
        waiting.pipeline.pump.tick()
    applied = [waiting.store.message(i) for i in waiting.fates()]
    before = (waiting.fates(), waiting.document(1), [row["APPLY_NO"] for row in applied if row])
    waiting.inbox.refuse_marks = dict.fromkeys(waiting.fates(), "lock wait timeout")
    waiting.bus.outage = "no broker"
    for _ in range(3):
        with suppress(Transient):
            waiting.drain()
        waiting.clock.advance(3_600)
    waiting.inbox.refuse_marks, waiting.bus.outage = {}, None
    waiting.drain()
    applied = [waiting.store.message(i) for i in waiting.fates()]
    assert (waiting.fates(), waiting.document(1), [row["APPLY_NO"] for row in applied if row]) == before
    assert waiting.inbox.scan(0, 10) == []
    assert [event["STATE_VERSION"] for event in waiting.store.flight_events(1)] == [1, 2]
