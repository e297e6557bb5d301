"""The pump: the head and nothing but the head, however long it takes (IMP §5.1, §5.4)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest

from embedded import System, closing_system
from msgx_core.errors import Conflict, Rejected, Transient
from msgx_core.model.change import Change
from msgx_core.pipeline.pump import TickKind
from wire import flop, fltr, gate, message, schedule

DAY_S = 86_400


@pytest.fixture
def system() -> Iterator[System]:
    with closing_system(None) as made:
        made.start()
        yield made


def attempts(system: System, msg_id: int) -> int:
    row = system.store.message(msg_id)
    assert row is not None
    return int(row["ATTEMPTS"])


def test_without_a_head_it_does_nothing(system: System) -> None:
    """R-071: idle, again and again, and nothing is written."""
    assert [system.pipeline.pump.tick().kind for _ in range(3)] == [TickKind.IDLE] * 3
    assert not system.pipeline.pump.tick().again
    assert system.fates() == {}


def test_a_head_is_processed_and_then_the_next(system: System) -> None:
    """R-074, R-078: one message for each tick, the smallest id first."""
    ids = system.send([flop(n, "GTDT", gate("B1")) for n in (1, 2, 3)])
    system.pipeline.intake.scan()
    ticks = [system.pipeline.pump.tick() for _ in range(4)]
    assert [tick.msg_id for tick in ticks] == [*ids, None]
    assert [tick.kind for tick in ticks] == [TickKind.DONE] * 3 + [TickKind.IDLE]


def test_a_backlog_is_worked_in_its_order(system: System) -> None:
    """R-078, R-079: hundreds of messages of a week ago, supported or not, no bypass: the order of effects
    is the order of ids."""
    raws = [
        flop(n % 7 + 1, "GTDT", gate(f"B{n}")) if n % 3 else message("XXXX", "NONE", "") for n in range(300)
    ]
    ids = system.send([schedule("DNLD", [fltr(n) for n in range(1, 8)]), *raws])
    system.clock.advance(7 * DAY_S)
    system.drain()
    numbers = {
        row["MSG_ID"]: row.get("APPLY_NO") for i in ids if (row := system.store.message(i)) is not None
    }
    applied = [msg_id for msg_id in ids if numbers[msg_id] is not None]
    assert len(applied) == 201
    assert sorted(applied, key=lambda msg_id: numbers[msg_id] or 0) == applied
    assert {state for state, _, _ in system.fates().values()} == {"SUCCEEDED", "SKIPPED"}
    assert system.inbox.scan(0, 10) == []


def test_time_alone_kills_no_message(system: System) -> None:
    """R-075: a year behind a cache that does not answer, and it is as it was; then it goes its way."""
    (msg_id,) = system.send([flop(1, "GTDT", gate("B1"))])
    system.cache.outage = "connection refused"
    for _ in range(12):
        with suppress(Transient):
            system.drain()
        system.clock.advance(30 * DAY_S)
    assert (system.fates()[msg_id], attempts(system, msg_id)) == (("PENDING", None, None), 0)
    system.cache.outage = None
    system.drain()
    assert system.fates()[msg_id][0] == "SUCCEEDED"


def test_a_row_that_cannot_be_read_is_that_rows_failure(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-063, R-126: FAILED(INFRA) with back-off; it keeps the head until it can be read."""
    first, second = system.send([flop(1, "GTDT", gate("B1")), flop(2, "GTDT", gate("B2"))])
    fetch = system.inbox.fetch

    def damaged(msg_id: int) -> object:
        if msg_id == first:
            raise Rejected("raw-unreadable", "page 7 is torn")
        return fetch(msg_id)

    with monkeypatch.context() as broken:
        broken.setattr(system.inbox, "fetch", damaged)
        system.drain()
    assert system.fates() == {first: ("FAILED", "INFRA", "raw-unreadable"), second: ("PENDING", None, None)}
    assert attempts(system, first) == 1
    system.clock.advance(5)
    system.drain()
    assert {fate[0] for fate in system.fates().values()} == {"SUCCEEDED"}


def test_a_conflict_counts_nothing_and_is_decided_again(
    system: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R-127, D-02: what was read has moved on; the next tick reads again."""
    (msg_id,) = system.send([flop(1, "GTDT", gate("B1"))])
    system.pipeline.intake.scan()

    def moved_on(change: Change) -> int:
        raise Conflict(f"message {change.msg_id}: flight 1 is not at its version")

    with monkeypatch.context() as beside:
        beside.setattr(system.store, "apply", moved_on)
        tick = system.pipeline.pump.tick()
    assert (tick.kind, tick.again) == (TickKind.CONFLICT, True)
    assert (system.fates()[msg_id], attempts(system, msg_id)) == (("PENDING", None, None), 0)
    assert system.pipeline.pump.tick().kind is TickKind.DONE
    assert system.document(1)["STATE_VERSION"] == 1
