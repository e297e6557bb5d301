"""Clocks that jump: ours, back and forth, by a minute, an hour, days; the lease goes by another (D-34)."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest

from msgx_app.backends import system_clock
from msgx_app.container import open_container
from msgx_app.daemon.tally import Tally
from msgx_core.pipeline.pump import TickKind
from processes import Served, memory_settings, wait_for
from under_load import beside
from wire import flop, gate

JUMPS = [timedelta(minutes=m) for m in (1, -1, 60, -60, -60 * 24, 60 * 24 * 30, -60 * 24 * 60)]


class JumpingClock:
    """Implements `Clock`: the machine's, set by hand now and then. Durations do not jump."""

    def __init__(self) -> None:
        self._real = system_clock()
        self.off = timedelta(0)

    def now(self) -> datetime:
        """What the wall clock shows."""
        return self._real.now() + self.off

    def monotonic_s(self) -> float:
        """Seconds since some time."""
        return self._real.monotonic_s()


@pytest.fixture
def clock() -> JumpingClock:
    return JumpingClock()


@pytest.fixture
def daemon(clock: JumpingClock) -> Iterator[Served]:
    tally = Tally(clock, events=1000)
    settings = memory_settings(**{"msgx.lease.expiry": "2s", "msgx.lease.renew": "500ms"})
    with open_container(settings, create=True, clock=clock, telemetry=tally) as container:
        made = Served(container, tally)
        made.start()
        try:
            yield made
        finally:
            made.end()


def test_the_wall_clock_jumps_under_load(daemon: Served, clock: JumpingClock) -> None:
    """D-45, D-34, R-454: nothing is lost, dead, given up or done twice, and nobody loses the lease.

    A jump ahead of more than `R` makes rows overdue: they are tried at once, not given up. What fell due
    while the clock was ahead is done when it gets there again.
    """
    sent: list[int] = []

    def one_more() -> None:
        raw = flop(100 + len(sent) % 5, "GTDT", gate(f"G{len(sent)}"))
        sent.append(daemon.container.inbox.send(raw))

    chance, store = random.Random(3), daemon.container.store
    with beside(one_more, 0.01):
        for jump in chance.sample(JUMPS, len(JUMPS)):
            clock.off += jump
            time.sleep(0.3)
        clock.off = timedelta(days=60)

    def done() -> bool:
        counts = store.counts()
        waiting = sum(targets.get("PENDING", 0) for targets in counts.events.values())
        return (counts.messages, counts.writeback_pending, waiting) == ({"SUCCEEDED": len(sent)}, 0, 0)

    wait_for("all is done", done)
    assert daemon.container.inbox.scan(0, 10_000) == []
    assert store.writebacks(abandoned=True) == []
    assert store.alerts() == []
    versions = {flight.flid: flight.version for flight in store.flights()}
    assert sum(versions.values()) == len(sent)
    assert daemon.told("leadership-lost") == []
    assert store.lease().epoch == 1


@pytest.mark.parametrize("back", [timedelta(minutes=1), timedelta(days=1)])
def test_a_clock_that_goes_back_makes_a_pause_longer_by_no_more_than_that(
    clock: JumpingClock, back: timedelta
) -> None:
    """R-065, R-118: what waits for its next attempt waits until the clock says so, and then goes on."""
    with open_container(memory_settings(), create=True, clock=clock, telemetry=Tally(clock)) as container:
        pipeline, store = container.pipeline, container.store
        assert pipeline.start("test", 60).granted
        msg_id = container.inbox.send(flop(1, "GTDT", gate("B1")))
        pipeline.intake.scan()
        now = clock.now()
        store.fail(msg_id, "INFRA", "raw-unreadable", None, now + timedelta(seconds=1), now)
        clock.off -= back
        assert pipeline.pump.tick().kind is TickKind.WAITING
        clock.off += back + timedelta(seconds=2)
        assert pipeline.pump.tick().kind is TickKind.DONE
