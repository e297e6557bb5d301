"""A loop survives whatever its step does, waits as it should, and stops when asked."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from attrs import define, field

from msgx_adapters.clock_system import SystemClock
from msgx_adapters.store_sqlite import SqliteStore
from msgx_app.daemon.heartbeats import Heartbeats
from msgx_app.daemon.loop import Loop, LoopTools
from msgx_app.daemon.outages import SharedOutages
from msgx_app.daemon.tally import Tally
from msgx_core.errors import Conflict, Fenced, Transient
from msgx_core.pipeline.outages import OutageWatch
from processes import wait_for


@define
class Script:
    """A step that does what the list says, then succeeds with `pause_s`."""

    acts: list[Exception | float] = field(factory=list)
    pause_s: float = 0.01
    calls: int = 0

    def step(self) -> float:
        """The next act."""
        self.calls += 1
        act = self.acts.pop(0) if self.acts else self.pause_s
        if isinstance(act, Exception):
            raise act
        return act


@define
class Bench:
    """A loop's surroundings."""

    tally: Tally
    beats: Heartbeats
    outages: SharedOutages
    fenced: list[Fenced]
    make: Callable[..., Loop]


@pytest.fixture
def bench() -> Iterator[Bench]:
    clock = SystemClock()
    tally, beats, fenced = Tally(clock), Heartbeats(), list[Fenced]()
    store = SqliteStore.open(None)
    outages = SharedOutages(OutageWatch(store, clock, tally))
    tools = LoopTools(clock, tally, beats, outages, fenced.append)
    made: list[Loop] = []

    def make(step: Callable[[], float], **more: float) -> Loop:
        made.append(Loop("work", step, tools, **more))
        return made[-1]

    yield Bench(tally, beats, outages, fenced, make)
    for loop in made:
        loop.stop()
        assert loop.join(5.0)
    store.close()


@pytest.mark.parametrize("error", [ValueError("what"), Conflict("moved"), KeyError("x")])
def test_unexpected_exception_is_told_and_the_loop_goes_on(bench: Bench, error: Exception) -> None:
    script = Script([error])
    bench.make(script.step, longest_pause_s=0.01).start()
    wait_for("a success after the failure", lambda: bench.beats.view()["work"].last_success_at)
    assert bench.beats.view()["work"].errors == 1
    assert bench.beats.view()["work"].problem is None
    told = [event for event in bench.tally.events() if event.name == "loop-error"]
    assert len(told) == 1
    assert type(error).__name__ in str(told[0].fields["traceback"])
    assert bench.tally.by("msgx.loop.errors", "loop") == {"work": 1}


def test_outage_is_named_and_ends(bench: Bench) -> None:
    script = Script([Transient("mailbox", "cable out")] * 3)
    bench.make(script.step, longest_pause_s=0.05).start()
    wait_for("an outage", bench.outages.current)
    assert [outage.service for outage in bench.outages.current()] == ["mailbox"]
    wait_for("its end", lambda: not bench.outages.current() and script.calls > 3)
    assert bench.beats.view()["work"].waits == 3
    assert bench.beats.view()["work"].errors == 0


def test_news_does_not_shorten_the_pause_for_a_service_but_recovery_does(bench: Bench) -> None:
    script = Script([Transient("cache", "gone")])
    loop = bench.make(script.step, longest_pause_s=30.0)
    loop.start()
    wait_for("the failure", bench.outages.current)
    loop.nudge()
    threading.Event().wait(0.1)
    assert script.calls == 1
    loop.retry_now()
    wait_for("another try", lambda: script.calls > 1, within_s=0.9)


def test_news_shortens_an_ordinary_wait(bench: Bench) -> None:
    script = Script(pause_s=30.0)
    loop = bench.make(script.step)
    loop.start()
    wait_for("the first step", lambda: script.calls == 1)
    loop.nudge()
    wait_for("the second step", lambda: script.calls == 2)


def test_fenced_calls_for_stepping_down(bench: Bench) -> None:
    bench.make(Script([Fenced(1, 2)]).step).start()
    wait_for("the call", lambda: bench.fenced)
    assert bench.fenced[0].current == 2


def test_stop_ends_a_long_wait_and_a_loop_never_started_has_ended(bench: Bench) -> None:
    script = Script(pause_s=30.0)
    loop = bench.make(script.step)
    assert loop.join(0.0)
    loop.start()
    wait_for("the first step", lambda: script.calls == 1)
    loop.stop()
    assert loop.join(1.0)


def test_even_a_failing_telling_does_not_end_it(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(loop: str, error: Transient) -> None:
        raise RuntimeError("no alert today")

    monkeypatch.setattr(bench.outages, "failed", broken)
    script = Script([Transient("bus", "down")])
    bench.make(script.step, longest_pause_s=0.01).start()
    wait_for("a step after that", lambda: script.calls > 2)
