"""Several heads made ready together: the same order, the same effects, fewer questions (R-002, R-464)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from embedded import System, closing_system
from msgx_adapters.inbox_memory import MemoryInbox
from msgx_core.errors import Transient
from msgx_core.pipeline.ahead import MOST, SMALL
from msgx_core.pipeline.pump import TickKind
from msgx_core.pipeline.remembered import Memory
from wire import flop, fltr, gate, schedule

BROKEN = b"<MSG><META>"


@pytest.fixture
def system() -> Iterator[System]:
    with closing_system(None) as made:
        made.start()
        made.send([schedule("DNLD", [fltr(n) for n in range(1, 8)])])
        made.drain()
        yield made


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often the mailbox and the memory's store were asked."""
    found: Counter[str] = Counter()

    def counted(name: str, real: Any) -> Any:
        def call(*args: Any) -> Any:
            found[name] += 1
            return real(*args)

        return call

    for name in ("fetch", "fetch_small"):
        monkeypatch.setattr(MemoryInbox, name, counted(name, getattr(MemoryInbox, name)))
    monkeypatch.setattr(Memory, "read", counted("read", Memory.read))
    return found


def gates(*flids: int) -> list[bytes]:
    return [flop(flid, "GTDT", gate(f"B{n}")) for n, flid in enumerate(flids)]


def test_texts_come_together_and_messages_one_by_one(system: System, calls: Counter[str]) -> None:
    ids = system.send(gates(*[n % 7 + 1 for n in range(MOST + 5)]))
    system.pipeline.intake.scan()
    ticks = [system.pipeline.pump.burst() for _ in range(3)]
    assert [(tick.kind, tick.done) for tick in ticks] == [
        (TickKind.DONE, MOST),
        (TickKind.DONE, 5),
        (TickKind.IDLE, 0),
    ]
    assert calls["fetch_small"] == 2
    assert calls["fetch"] == 0
    numbers = [row["APPLY_NO"] for i in ids if (row := system.store.message(i)) is not None]
    assert numbers == sorted(numbers)
    assert len(numbers) == len(ids)


def test_one_message_alone_is_fetched_alone(system: System, calls: Counter[str]) -> None:
    system.send(gates(1))
    system.pipeline.intake.scan()
    assert system.pipeline.pump.burst().done == 1
    assert (calls["fetch"], calls["fetch_small"]) == (1, 0)


@pytest.mark.parametrize("odd", [BROKEN, b"", b"x" * (SMALL + 1)], ids=["broken", "empty", "too long"])
def test_a_burst_ends_before_what_needs_a_look_of_its_own(system: System, odd: bytes) -> None:
    """R-062: the odd one ends as it always does, in its turn."""
    first, second, bad, last = system.send([*gates(1, 2), odd, *gates(3)])
    system.pipeline.intake.scan()
    assert system.pipeline.pump.burst().done == 2
    assert system.fates()[bad][0] == "PENDING"
    system.drain()
    fates = system.fates()
    assert [fates[i][0] for i in (first, second, bad, last)] == [
        "SUCCEEDED",
        "SUCCEEDED",
        "DEAD",
        "SUCCEEDED",
    ]


def test_a_late_smaller_id_goes_first(system: System) -> None:
    """R-031: it is committed and taken in while a burst is on its way; the burst ends there."""
    for msg_id, raw in zip((200, 201, 202), gates(1, 2, 3), strict=True):
        system.inbox.insert(msg_id, raw)
    system.pipeline.intake.scan()

    def meanwhile(name: str) -> None:
        if (
            name == "finished"
            and system.fates().get(200, ("",))[0] == "SUCCEEDED"
            and 100 not in system.fates()
        ):
            system.inbox.insert(100, flop(5, "GTDT", gate("A1")))
            system.pipeline.intake.scan()

    system.on_step = meanwhile
    tick = system.pipeline.pump.burst()
    assert (tick.kind, tick.done, tick.msg_id) == (TickKind.CONFLICT, 1, 201)
    row = system.store.message(201)
    assert row is not None
    assert "IDENTITY_KEY" not in row
    system.drain()
    numbers = {i: system.store.message(i) for i in (200, 100, 201, 202)}
    order = [row["APPLY_NO"] for row in numbers.values() if row is not None]
    assert order == sorted(order), "the late one comes right after what was under way"
    assert len(order) == 4


def test_a_burst_stops_between_two_messages(system: System) -> None:
    system.send(gates(1, 2, 3))
    system.pipeline.intake.scan()
    assert system.pipeline.pump.burst(lambda: True).done == 1
    assert list(system.fates().values()).count(("SUCCEEDED", None, None)) == 2


def test_an_outage_in_a_burst_counts_nothing(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """D-04: the cache is gone for the second message; it is done later, and nothing is counted."""
    _, second, third = system.send(gates(1, 2, 3))
    system.pipeline.intake.scan()
    wrote: list[int] = []
    real = type(system.cache).write

    def write(cache: Any, entries: Any) -> None:
        wrote.append(1)
        if len(wrote) == 2:
            raise Transient("cache", "away")
        real(cache, entries)

    monkeypatch.setattr(type(system.cache), "write", write)
    with pytest.raises(Transient):
        system.pipeline.pump.burst()
    row = system.store.message(second)
    assert row is not None
    assert (row["STATE"], row["ATTEMPTS"], row["APPLIED_AT"] is None) == ("PENDING", 0, False)
    system.drain()
    assert [system.fates()[i][0] for i in (second, third)] == ["SUCCEEDED", "SUCCEEDED"]


def test_memory_saves_reading_a_flight_again(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """R-464: of ten changes of one flight the store is asked for it once."""
    asked: list[Any] = []
    real = type(system.store).read

    def read(store: Any, query: Any) -> Any:
        asked.append(query)
        return real(store, query)

    monkeypatch.setattr(type(system.store), "read", read)
    system.restart()
    system.start()
    asked.clear()
    system.send(gates(*[1] * 10))
    system.drain()
    assert len(asked) == 1
