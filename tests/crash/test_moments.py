"""The moments of IMP §9.2, one by one: what is on disk when the process is gone, and what recovery does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import pytest

from embedded import SimulatedCrash, System, closing_system
from msgx_core.errors import Transient
from msgx_core.pipeline.steps import Step, no_step
from wire import flop, fltr, gate, schedule

DAY_S = 86_400
CLAIM_S = 20


@pytest.fixture
def system() -> Iterator[System]:
    """An airport with one flight, at rest; its cache outlives its process."""
    with closing_system(None, cache_outlives=True) as made:
        made.send([schedule("DNLD", [fltr(1)])])
        made.drain()
        yield made


@contextmanager
def gone_at(system: System, step: Step) -> Iterator[None]:
    """The process is gone at that boundary."""

    def hook(name: str) -> None:
        if name == step:
            raise SimulatedCrash(name)

    system.on_step = hook
    with pytest.raises(SimulatedCrash):
        yield
    system.on_step = no_step


def next_process(system: System) -> None:
    """Another one takes over and drains."""
    system.clock.advance(CLAIM_S)
    system.cache.outage = None
    system.restart(clean=False)
    system.drain()


def one(system: System, gate_name: str = "B01") -> int:
    """A message comes in."""
    return system.send([flop(1, "GTDT", gate(gate_name))])[0]


def row(system: System, msg_id: int) -> dict[str, Any]:
    """Its row of `PROC_STATE`."""
    return dict(system.store.message(msg_id) or {})


def versions(system: System) -> list[int]:
    """Versions of the flight as its notices tell them."""
    return [event["STATE_VERSION"] for event in system.store.flight_events(1)]


def test_in_the_mailbox_and_not_taken_in(system: System) -> None:
    """R-448, R-031: there is no row of ours; the next scan makes it."""
    msg_id = one(system)
    with gone_at(system, Step.SCANNED):
        system.drain()
    assert row(system, msg_id) == {}
    assert list(system.inbox.scan(0, 9)) == [msg_id]
    next_process(system)
    assert system.fates()[msg_id][0] == "SUCCEEDED"


def test_in_the_middle_of_a_transaction(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-449, INV-3: all of it is rolled back and done again (at every statement: `test_statements.py`)."""
    msg_id = one(system)
    real = system.store.connection.run_many
    monkeypatch.setattr(system.store.connection, "run_many", _dying_after(real))
    with pytest.raises(SimulatedCrash):
        system.drain()
    monkeypatch.undo()
    assert row(system, msg_id)["STATE"] == "PENDING"
    assert "APPLIED_AT" not in row(system, msg_id)
    assert versions(system) == [1]
    next_process(system)
    assert versions(system) == [1, 2]


def _dying_after(real: Callable[..., int]) -> Callable[..., int]:
    def run_many(sql: str, params: Any) -> int:
        changed = real(sql, params)
        if "MSG_EVENT" in sql:
            raise SimulatedCrash("the flight is written, and one of its events")
        return changed

    return run_many


def test_committed_and_the_cache_not_written(system: System) -> None:
    """R-450, INV-10: no end yet; the cache is written from the stored state, nothing is applied twice."""
    msg_id = one(system)
    with gone_at(system, Step.APPLIED):
        system.drain()
    assert (row(system, msg_id)["STATE"], versions(system)) == ("PENDING", [1, 2])
    assert '"STATE_VERSION":1' in (system.cache.get(1) or "")
    next_process(system)
    assert (system.fates()[msg_id][0], versions(system)) == ("SUCCEEDED", [1, 2])
    assert '"STATE_VERSION":2' in (system.cache.get(1) or "")


def test_committed_and_the_cache_does_not_answer(system: System) -> None:
    """R-450, D-04: the message stays at the head and costs no attempt, across a restart too."""
    msg_id = one(system)
    system.cache.outage = "down"
    with pytest.raises(Transient):
        system.drain()
    assert (row(system, msg_id)["STATE"], row(system, msg_id)["ATTEMPTS"]) == ("PENDING", 0)
    next_process(system)
    assert (system.fates()[msg_id][0], versions(system)) == ("SUCCEEDED", [1, 2])
    assert '"STATE_VERSION":2' in (system.cache.get(1) or "")


def test_the_cache_written_and_no_end(system: System) -> None:
    """R-450: ② once more, to no effect, then ③."""
    msg_id = one(system)
    with gone_at(system, Step.CACHED):
        system.drain()
    assert row(system, msg_id)["STATE"] == "PENDING"
    next_process(system)
    assert (system.fates()[msg_id][0], versions(system)) == ("SUCCEEDED", [1, 2])


def test_ended_and_not_marked(system: System) -> None:
    """R-451: the intent is there; only the mark is written, the result stays as it is."""
    msg_id = one(system)
    with gone_at(system, Step.FINISHED):
        system.drain()
    ended = row(system, msg_id)
    assert (ended["STATE"], "BACKFILL_NEXT_AT" in ended) == ("SUCCEEDED", True)
    assert list(system.inbox.scan(0, 9)) == [msg_id]
    next_process(system)
    assert list(system.inbox.scan(0, 9)) == []
    assert (row(system, msg_id)["FINISHED_AT"], versions(system)) == (ended["FINISHED_AT"], [1, 2])


def test_in_the_middle_of_marking(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-452, D-43: one row of two is marked; it keeps its mark, the other gets the one it would have had."""
    ids = [one(system, "B01"), one(system, "B02")]
    real = system.inbox.mark

    def half(marks: Sequence[tuple[int, datetime]], *more: Any) -> Any:
        real(marks[:1], *more)
        raise SimulatedCrash("after the first row")

    monkeypatch.setattr(system.inbox, "mark", half)
    with pytest.raises(SimulatedCrash):
        system.drain()
    monkeypatch.undo()
    first = {r.msg_id: r.processed for r in system.inbox.rows()}
    assert (first[ids[0]] is None, first[ids[1]]) == (False, None)
    system.clock.advance(timedelta(hours=1))
    next_process(system)
    marks = {r.msg_id: r.processed for r in system.inbox.rows()}
    assert marks[ids[0]] == marks[ids[1]] == first[ids[0]]
    assert system.store.writebacks() == []


def test_the_row_is_gone_when_it_is_to_be_marked(system: System) -> None:
    """R-453: given up at once with an alert; that is no mark, a person has to look."""
    msg_id = one(system)
    with gone_at(system, Step.CLAIMED):
        system.drain()
    system.inbox.delete(msg_id)
    next_process(system)
    (given_up,) = system.store.writebacks(abandoned=True)
    assert (given_up["MSG_ID"], given_up["BACKFILL_ABANDONED_REASON"]) == (msg_id, "MISSING_ROW")
    assert "BACKFILL_AT" not in row(system, msg_id)
    assert [alert["CODE"] for alert in system.store.alerts()] == ["MISSING_ROW"]


def test_without_a_receive_time_it_is_overdue_by_our_own(system: System) -> None:
    """R-454: `R` counts from `ENQUEUED_AT`, whatever the mailbox says of the time."""
    system.inbox.insert(50, flop(1, "GTDT", gate("B01")), received=None)
    system.inbox.refuse_marks = {50: "locked"}
    system.drain()
    assert "RECEIVED_AT" not in row(system, 50)
    system.clock.advance(7 * DAY_S - 60)
    with gone_at(system, Step.MARKED):
        system.drain()
    assert "BACKFILL_ABANDONED_AT" not in row(system, 50)
    system.clock.advance(60)
    next_process(system)
    assert row(system, 50)["BACKFILL_ABANDONED_REASON"] == "TRANSIENT_DEADLINE"


def test_the_bus_has_it_and_sent_is_not_written(system: System) -> None:
    """R-455, D-28: sent once more; consumers tell it by its `EVENT_ID` and version."""
    one(system)
    before = len(system.bus.of("KAFKA_MSG"))
    with gone_at(system, Step.PUBLISHED):
        system.drain()
    assert [event["STATUS"] for event in system.store.flight_events(1)] == ["SENT", "PENDING"]
    next_process(system)
    twice = system.bus.of("KAFKA_MSG")[before:]
    assert len(twice) == 2
    assert twice[0] == twice[1]
    assert [event["STATUS"] for event in system.store.flight_events(1)] == ["SENT", "SENT"]


def test_the_schedule_log_may_be_lost(system: System) -> None:
    """R-458: it is written outside of ①, and no decision reads it."""
    (msg_id,) = system.send([schedule("DNLD", [fltr(1), fltr(2, "14MAR270905")])])
    with gone_at(system, Step.FINISHED):
        system.drain()
    next_process(system)
    assert system.fates()[msg_id][0] == "SUCCEEDED"
    assert [logged["MSG_ID"] for logged in system.store.snapshots()] == [1]
