"""What the daemon is doing, for health, metrics and the people who look on."""

from __future__ import annotations

import enum
import threading
from collections.abc import Callable
from datetime import datetime

from attrs import frozen

from msgx_app.daemon.heartbeats import Heartbeats
from msgx_core.model.outage import Outage
from msgx_core.ports import Clock


class Phase(enum.Enum):
    """Where the daemon is between start and end."""

    STARTING = "STARTING"
    WAITING = "WAITING"  # for a service that does not answer
    STANDBY = "STANDBY"  # another instance holds the lease
    ACTIVE = "ACTIVE"
    STOPPING = "STOPPING"


@frozen
class PhaseView:
    """The phase, since when, and the words that go with it (a service, a holder)."""

    phase: Phase
    since: datetime
    detail: str = ""


def _no_outages() -> tuple[Outage, ...]:
    return ()


class Monitor:
    """Thread-safe. `heartbeats` has the loops, `outages()` the services that are down now."""

    def __init__(self, clock: Clock) -> None:
        self.heartbeats = Heartbeats()
        self._clock = clock
        self._guard = threading.Lock()
        self._view = PhaseView(Phase.STARTING, clock.now())
        self._outages: Callable[[], tuple[Outage, ...]] = _no_outages

    def enter(self, phase: Phase, detail: str = "") -> bool:
        """Note the phase; whether it is another than before."""
        with self._guard:
            before = self._view
            changed = (before.phase, before.detail) != (phase, detail)
            if changed:
                self._view = PhaseView(phase, self._clock.now(), detail)
            return changed

    def watch(self, outages: Callable[[], tuple[Outage, ...]]) -> None:
        """Where `outages()` asks."""
        with self._guard:
            self._outages = outages

    def phase(self) -> PhaseView:
        """The phase as it is now."""
        with self._guard:
            return self._view

    def outages(self) -> tuple[Outage, ...]:
        """Services that are down now."""
        with self._guard:
            ask = self._outages
        return ask()
