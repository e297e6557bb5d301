"""All loops of one active time: started together, stopped together."""

from __future__ import annotations

import threading
import time

from msgx_app.container import Container
from msgx_app.daemon.loop import Loop, LoopTools
from msgx_app.daemon.loops import LONGEST_WAIT_S, Part, needs_of, parts_of
from msgx_app.daemon.monitor import Monitor
from msgx_app.daemon.outages import SharedOutages
from msgx_core.errors import Fenced
from msgx_core.ports import LeaseGrant


class Crew:
    """The loops under one lease. `ended` is set when they must stop because another instance took over."""

    def __init__(self, container: Container, grant: LeaseGrant, monitor: Monitor) -> None:
        self.ended = threading.Event()
        self.fenced: Fenced | None = None
        self._container = container
        self._stopping = threading.Event()
        parts = parts_of(
            container, grant, news=self._news, notices=self._notices, stopping=self._stopping.is_set
        )
        watch = container.pipeline.outages
        outages = SharedOutages(watch, self._retry_now, self._outage_news, needs_of(parts))
        # A loop of its own: nobody waits with the store for what there is to tell.
        parts = [Part("outages", lambda: _tell(outages)), *parts]
        monitor.watch(outages.current)
        tools = LoopTools(container.clock, container.telemetry, monitor.heartbeats, outages, self._step_down)
        self.loops = {p.name: Loop(p.name, p.step, tools, longest_pause_s=p.longest_pause_s) for p in parts}

    def start(self) -> None:
        """Start every loop."""
        for loop in self.loops.values():
            loop.start()

    def stop(self) -> None:
        """Ask every loop to end after its current step."""
        self._stopping.set()
        for loop in self.loops.values():
            loop.stop()

    def join(self, within_s: float) -> list[str]:
        """Wait for the ends of all; the names of those that have not ended by then."""
        deadline = time.monotonic() + within_s
        return [name for name, loop in self.loops.items() if not loop.join(deadline - time.monotonic())]

    def _news(self) -> None:
        self.loops["pump"].nudge()

    def _notices(self) -> None:
        self.loops["relay-msg"].nudge()

    def _outage_news(self) -> None:
        self.loops["outages"].nudge()

    def _retry_now(self) -> None:
        for loop in self.loops.values():
            loop.retry_now()

    def _step_down(self, error: Fenced) -> None:
        if not self.ended.is_set():
            self.fenced = error
            self._container.telemetry.event("stepping-down", epoch=error.epoch, current=error.current)
        self.stop()
        self.ended.set()


def _tell(outages: SharedOutages) -> float:
    outages.tell()
    return LONGEST_WAIT_S
