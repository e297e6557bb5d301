"""Who is stopped between its decision and its write into the mailbox: in time, or not at all (D-34)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from embedded import System
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.errors import Fenced
from msgx_core.pipeline.steps import Step
from requesting import alerts, ask, seqns, state, window
from wire import flop, gate


@pytest.fixture
def system() -> Iterator[System]:
    with window() as made:
        yield made


def overtaken_at(system: System, step: str) -> Callable[[str], None]:
    """A step hook: there the process stops, and goes on when another instance has taken over."""

    def take_over(name: str) -> None:
        if name == step:
            with system.store.connection.write():
                system.store.connection.run("UPDATE LEASE SET EXPIRES_UNIX = 0")
            assert SqliteStore(system.store.connection).acquire_lease("other", 60.0).granted

    return take_over


def slow(system: System, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """So many times the process is stopped for two minutes when it has just got its permit."""
    extend, left = system.store.extend_lease, iter(range(times))

    def held_up() -> float:
        seconds = extend()
        if next(left, None) is not None:
            system.clock.advance(120)
        return seconds

    monkeypatch.setattr(system.store, "extend_lease", held_up)


def processed(system: System) -> int:
    """A message that waits for its mark."""
    (msg_id,) = system.send([flop(1, "GTDT", gate("B1"))])
    system.pipeline.intake.scan()
    while system.pipeline.pump.tick().again:
        pass
    return msg_id


def test_a_stale_leader_marks_nothing(system: System) -> None:
    """D-34, D-25: the claim stays as it is; the next holder finds the row due when it has run out."""
    msg_id = processed(system)
    system.on_step = overtaken_at(system, Step.CLAIMED)
    with pytest.raises(Fenced):
        system.pipeline.writeback.sweep()
    assert system.inbox.scan(0, 100) == [msg_id]
    (row,) = system.store.writebacks()
    assert (row["MSG_ID"], row["BACKFILL_ATTEMPTS"]) == (msg_id, 0)


@pytest.mark.parametrize("times", [1, 2])
def test_who_is_only_slow_marks_in_the_end(
    system: System, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """D-34: the lease is its own, so it gets another permit."""
    processed(system)
    slow(system, monkeypatch, times)
    assert system.pipeline.writeback.sweep().done == 1
    assert system.inbox.scan(0, 100) == []


def test_no_time_to_mark_is_nobodys_fault(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-04: nothing counted, the claim given back, the next sweep marks."""
    msg_id = processed(system)
    slow(system, monkeypatch, 3)
    result = system.pipeline.writeback.sweep()
    assert (result.done, result.full) == (0, False)
    assert system.inbox.scan(0, 100) == [msg_id]
    (row,) = system.store.writebacks()
    assert row["BACKFILL_ATTEMPTS"] == 0
    assert system.pipeline.writeback.sweep().done == 1


def test_a_stale_leader_inserts_nothing(system: System) -> None:
    """D-32: the next holder looks for the row, does not find it, and is right for ever."""
    asked = ask(system)
    system.on_step = overtaken_at(system, Step.SEND_BEGUN)
    with pytest.raises(Fenced):
        system.pipeline.requests.send()
    assert seqns(system) == []
    system.on_step = lambda name: None
    system.restart(clean=False)
    system.drain()
    assert state(system, asked) == ("FAILED", "send-lost")
    assert seqns(system) == []


def test_no_time_to_insert_is_a_lost_request(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-32: known not to be there, told at once; one that is only slow is sent."""
    first = ask(system)
    slow(system, monkeypatch, 2)
    assert system.pipeline.requests.send() == (1, 0)
    assert state(system, first) == ("SENT", None)
    second = ask(system, rtype="GLST")
    slow(system, monkeypatch, 3)
    assert system.pipeline.requests.send() == (0, 1)
    assert state(system, second) == ("FAILED", "send-lost")
    assert alerts(system) == ["SEND_LOST"]
    assert seqns(system) == ["1"]
