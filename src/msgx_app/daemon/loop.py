"""One loop of the daemon: a step again and again, with bounded waits, through every failure."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable

from attrs import frozen

from msgx_app.daemon.heartbeats import Heartbeats
from msgx_app.daemon.outages import SharedOutages
from msgx_core.errors import Fenced, Transient
from msgx_core.ports import Clock, Telemetry
from msgx_core.rules.retry import outage_pause_s

Step = Callable[[], float]
"""One bounded piece of work; returns how many seconds to wait before the next one (0: at once)."""


@frozen
class LoopTools:
    """What the loops of a crew share: where they tell successes and failures, and whom they call.

    `step_down` is called when another instance has taken over.
    """

    clock: Clock
    telemetry: Telemetry
    heartbeats: Heartbeats
    outages: SharedOutages
    step_down: Callable[[Fenced], None]


class Loop:
    """Runs `step` in a thread of its own until `stop()`.

    A service that does not answer makes the pauses grow from 1 s to `longest_pause_s`; `retry_now` cuts
    such a pause short, `nudge` only an ordinary wait. Any other exception is logged and counted, and
    the loop goes on.
    """

    def __init__(self, name: str, step: Step, tools: LoopTools, *, longest_pause_s: float = 30.0) -> None:
        self.name = name
        self._step = step
        self._tools = tools
        self._longest_pause_s = longest_pause_s
        self._news = threading.Event()
        self._retry = threading.Event()
        self._stopping = threading.Event()
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._tools.heartbeats.expect(self.name)
        self._thread.start()

    def stop(self) -> None:
        """Ask the loop to end after its current step."""
        self._stopping.set()
        self.retry_now()

    def nudge(self) -> None:
        """There is news: do not wait any longer, unless it is for a service that is down."""
        self._news.set()

    def retry_now(self) -> None:
        """Do not wait any longer, whatever for."""
        self._retry.set()
        self._news.set()

    def join(self, timeout_s: float) -> bool:
        """Wait for its end; whether it has ended. A loop that was never started has."""
        if self._thread.ident is not None:
            self._thread.join(max(0.0, timeout_s))
        return not self._thread.is_alive()

    def _run(self) -> None:
        while not self._stopping.is_set():
            # Cleared before the step: what happens during it is not missed.
            self._news.clear()
            self._retry.clear()
            failures = self._failures
            pause_s = self._survive()
            if pause_s > 0 and not self._stopping.is_set():
                waits_for_service = self._failures > failures
                (self._retry if waits_for_service else self._news).wait(pause_s)

    def _survive(self) -> float:
        """One step and what follows from how it ended; never raises."""
        try:
            return self._once()
        except Exception:
            # Even the telling of a failure has failed (the store is down, say): the loop still goes on.
            return self._pause_s()

    def _once(self) -> float:
        tools = self._tools
        try:
            pause_s = self._step()
        except Transient as error:
            self._failures += 1
            tools.heartbeats.waited(self.name, str(error))
            tools.outages.failed(self.name, error)
            return self._pause_s()
        except Fenced as error:
            tools.step_down(error)
            return self._pause_s()
        except Exception as error:
            self._failures += 1
            self._tell(error)
            return self._pause_s()
        self._failures = 0
        tools.heartbeats.succeeded(self.name, tools.clock.now(), again=pause_s <= 0)
        tools.outages.succeeded(self.name)
        return pause_s

    def _tell(self, error: Exception) -> None:
        problem = f"{type(error).__name__}: {error}"
        self._tools.heartbeats.erred(self.name, problem)
        self._tools.telemetry.count("msgx.loop.errors", loop=self.name)
        self._tools.telemetry.event(
            "loop-error", loop=self.name, error=problem, traceback=traceback.format_exc()
        )

    def _pause_s(self) -> float:
        return min(outage_pause_s(self._failures), self._longest_pause_s)
