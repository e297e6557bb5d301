"""From nothing: it waits and says for what; what waiting cannot mend is raised."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from msgx_adapters.clock_system import SystemClock
from msgx_app.container import Container, open_container
from msgx_app.daemon import Monitor, Phase, run_daemon
from msgx_app.daemon.tally import Tally
from msgx_core.errors import ConfigError, Transient
from processes import memory_settings, wait_for


def test_waits_for_a_store_that_does_not_answer_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    down = threading.Event()
    down.set()
    made: list[Container] = []

    @contextmanager
    def moody(settings: Any, **more: Any) -> Iterator[Container]:
        if down.is_set():
            raise Transient("store", "starting up")
        with open_container(settings, **more) as container:
            made.append(container)
            yield container

    monkeypatch.setattr("msgx_app.daemon.run.open_container", moody)
    monkeypatch.setattr("msgx_app.daemon.run.outage_pause_s", lambda failures: 0.02)
    clock, stop = SystemClock(), threading.Event()
    tally, monitor = Tally(clock), Monitor(clock)
    ends: list[bool] = []

    def run() -> None:
        end = run_daemon(
            memory_settings(), stop, holder="test", clock=clock, telemetry=tally, monitor=monitor
        )
        ends.append(end.clean)

    thread = threading.Thread(target=run)
    thread.start()
    wait_for("waiting", lambda: monitor.phase().phase is Phase.WAITING)
    assert monitor.phase().detail == "store"
    down.clear()
    wait_for("active", lambda: monitor.phase().phase is Phase.ACTIVE)
    wait_for("what it waited for, told", lambda: made[0].store.alerts())
    (alert,) = made[0].store.alerts()
    assert "store did not answer from" in str(alert["DETAIL"])
    assert "ENDED_AT" in alert
    stop.set()
    thread.join(10)
    assert ends == [True]
    names = [event.name for event in tally.events()]
    assert names[0] == "waiting-for"
    assert names[-2:] == ["lease-released", "stopped"]


def test_stopped_while_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    def down(settings: Any, **more: Any) -> Any:
        stop.set()
        raise Transient("store", "starting up")

    monkeypatch.setattr("msgx_app.daemon.run.open_container", down)
    clock, stop = SystemClock(), threading.Event()
    assert run_daemon(memory_settings(), stop, holder="test", clock=clock, telemetry=Tally(clock)).clean


def test_another_identity_algorithm_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """R-045: The choice is stored at first start; a start with another one does not take the lease (D-23)."""

    @contextmanager
    def pinned(settings: Any, **more: Any) -> Iterator[Container]:
        with open_container(settings, **more) as container:
            container.store.pin("msgx.identity.include-day-boundary", "true")
            yield container

    monkeypatch.setattr("msgx_app.daemon.run.open_container", pinned)
    clock = SystemClock()
    with pytest.raises(ConfigError, match="include-day-boundary"):
        run_daemon(memory_settings(), threading.Event(), holder="test", clock=clock, telemetry=Tally(clock))
