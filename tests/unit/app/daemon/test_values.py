"""Heartbeats, monitor and tally: what is told is what can be seen."""

from __future__ import annotations

import threading
import time

from msgx_app.daemon.bounded import finishes_within
from msgx_app.daemon.heartbeats import Heartbeats
from msgx_app.daemon.monitor import Monitor, Phase
from msgx_app.daemon.tally import Tally
from msgx_core.testing.clock import ManualClock


def test_heartbeats_keep_the_last_success_through_failures() -> None:
    clock = ManualClock()
    beats = Heartbeats()
    beats.expect("pump")
    assert beats.view()["pump"].last_success_at is None
    beats.succeeded("pump", clock.now())
    beats.waited("pump", "cache does not answer")
    beats.erred("pump", "ValueError")
    beat = beats.view()["pump"]
    assert (beat.last_success_at, beat.steps, beat.waits, beat.errors) == (clock.now(), 1, 1, 1)
    assert beat.problem == "ValueError"
    beats.succeeded("pump", clock.advance(5))
    assert beats.view()["pump"].problem is None
    beats.expect("pump")
    assert beats.view()["pump"].steps == 2


def test_monitor_says_since_when() -> None:
    clock = ManualClock()
    monitor = Monitor(clock)
    assert monitor.phase().phase is Phase.STARTING
    began = clock.advance(3)
    assert monitor.enter(Phase.STANDBY, "other:1:run")
    clock.advance(3)
    assert not monitor.enter(Phase.STANDBY, "other:1:run")
    assert monitor.phase().since == began
    assert monitor.enter(Phase.STANDBY, "third:1:run")
    assert monitor.outages() == ()


def test_tally_counts_by_label_and_passes_on() -> None:
    clock = ManualClock()
    behind = Tally(clock)
    tally = Tally(clock, behind, events=2)
    tally.count("done", state="DEAD", code="MALFORMED")
    tally.count("done", 2, state="SUCCEEDED", code="")
    tally.count("done", 0, state="SKIPPED", code="")
    tally.observe("took", 0.1)
    for name in ("a", "b", "c"):
        tally.event(name, n=1)
    assert tally.total("done") == 3
    assert tally.by("done", "state") == {"DEAD": 1, "SUCCEEDED": 2}
    assert tally.total("never") == 0
    assert [event.name for event in tally.events()] == ["b", "c"]
    assert behind.total("done") == 3
    assert len(behind.events()) == 3


def test_finishes_within_does_not_wait_for_what_does_not_end() -> None:
    never = threading.Event()
    started = time.monotonic()
    assert not finishes_within(0.05, never.wait)
    assert time.monotonic() - started < 1
    never.set()
    assert finishes_within(1.0, lambda: None)
