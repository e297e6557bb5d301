"""Outages as several loops see them: over when every loop that met one has got through again (D-04)."""

from __future__ import annotations

import threading
from collections.abc import Callable

from msgx_core.errors import Transient
from msgx_core.pipeline.outages import Outage, OutageWatch


class SharedOutages:
    """`OutageWatch` under a lock, for the loops of a daemon.

    A cache that answers reads and refuses writes would be up and down by turns if any success ended its
    outage: so a loop ends only what it reported itself. `on_recovery` is called when an outage is over,
    without the lock.
    """

    def __init__(self, watch: OutageWatch, on_recovery: Callable[[], None] = lambda: None) -> None:
        self._watch = watch
        self._on_recovery = on_recovery
        self._guard = threading.Lock()
        self._met_by: dict[str, set[str]] = {}

    def failed(self, loop: str, error: Transient) -> None:
        """A step of `loop` met a service that does not answer."""
        with self._guard:
            self._met_by.setdefault(error.service, set()).add(loop)
            self._watch.failed(error)

    def succeeded(self, loop: str) -> None:
        """A step of `loop` got through."""
        with self._guard:
            over = self._cleared_by(loop)
            if over:
                self._watch.answered(*over)
        if over:
            self._on_recovery()

    def current(self) -> tuple[Outage, ...]:
        """Services that are down now."""
        with self._guard:
            return self._watch.current()

    def _cleared_by(self, loop: str) -> list[str]:
        over = []
        for service, loops in list(self._met_by.items()):
            loops.discard(loop)
            if not loops:
                del self._met_by[service]
                over.append(service)
        return over
