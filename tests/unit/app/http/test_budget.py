"""The processor time of HTTP: a small share while the pump works, nearly all of it while it does not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from attrs import define, field

from msgx_app.daemon import Monitor, Phase
from msgx_app.http.budget import (
    BURST_S,
    BUSY_SHARE,
    FLOOR_SHARE,
    IDLE_SHARE,
    LONGEST_SLEEP_S,
    WORST_S,
    CpuBudget,
)
from msgx_app.http.front import PumpActivity
from msgx_core.testing.clock import ManualClock


@define
class Machine:
    """Time, processor time, and a budget on them."""

    clock: ManualClock = field(factory=lambda: ManualClock(datetime(2027, 3, 14, tzinfo=UTC)))
    used_s: float = 0.0
    busy: bool = True
    slept: list[float] = field(factory=list)
    budget: CpuBudget = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.budget = CpuBudget(
            self.clock, lambda: self.busy, used_s=lambda: self.used_s, sleep=self.slept.append
        )

    def pass_time(self, seconds: float, used_s: float = 0.0) -> None:
        """So long, in which the process has used so much of a processor."""
        self.clock.advance(timedelta(seconds=seconds))
        self.used_s += used_s

    def spend(self, seconds: float) -> None:
        """HTTP uses so much."""
        self.used_s += seconds
        self.budget.spend(seconds)


def test_a_burst_is_free_and_then_it_rests() -> None:
    machine = Machine()
    machine.spend(BURST_S)
    assert machine.budget.rest()
    machine.spend(0.01)
    assert machine.budget.pause_s() == pytest.approx(0.01 / BUSY_SHARE)
    assert machine.budget.rest()
    assert machine.slept == [pytest.approx(0.01 / BUSY_SHARE)]


def test_while_the_pump_works_it_gets_a_share_of_what_the_pump_gets() -> None:
    machine = Machine()
    machine.spend(BURST_S + 0.05)
    machine.pass_time(1.0, used_s=0.2)
    earned_s = FLOOR_SHARE * 1.0 + BUSY_SHARE * 0.2
    assert machine.budget.pause_s() == pytest.approx((0.05 - earned_s) / BUSY_SHARE)


def test_its_own_use_earns_nothing() -> None:
    machine = Machine()
    for _ in range(50):
        machine.spend(0.02)
        machine.pass_time(0.02)
        machine.budget.pause_s()
    assert machine.budget.pause_s() > 1.0


def test_while_the_pump_rests_it_gets_nearly_all() -> None:
    machine = Machine(busy=False)
    machine.spend(BURST_S + 0.4)
    machine.pass_time(0.5)
    assert machine.budget.pause_s() == pytest.approx(0.0)
    assert IDLE_SHARE > 0.5


def test_one_heavy_question_does_not_keep_everybody_out_for_long() -> None:
    machine = Machine()
    machine.spend(30.0)
    machine.pass_time(0.1)
    machine.budget.pause_s()
    assert machine.budget.pause_s() <= -WORST_S / BUSY_SHARE
    assert not machine.budget.rest()
    assert machine.slept == [LONGEST_SLEEP_S]


def test_when_the_pump_is_at_work() -> None:
    """It steps again at once, or one step takes long; waiting for a service, or standing by, is no work."""
    clock = ManualClock(datetime(2027, 3, 14, tzinfo=UTC))
    monitor = Monitor(clock)
    activity = PumpActivity(monitor, clock)
    assert not activity.busy()
    monitor.enter(Phase.ACTIVE)
    monitor.heartbeats.expect("pump")
    assert activity.busy(), "its first step takes long"
    monitor.heartbeats.succeeded("pump", clock.now(), again=True)
    assert activity.busy()
    monitor.heartbeats.succeeded("pump", clock.now())
    assert not activity.busy()
    clock.advance(timedelta(seconds=3))
    assert activity.busy(), "a large message"
    monitor.heartbeats.waited("pump", "the store is down")
    assert not activity.busy()
    monitor.heartbeats.succeeded("pump", clock.now(), again=True)
    monitor.enter(Phase.STANDBY)
    assert not activity.busy()
