"""Outages as several loops see them: over when every loop that met one has got through again (D-04)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from msgx_core.errors import Transient
from msgx_core.model.outage import Outage
from msgx_core.pipeline.outages import OutageWatch


def _nobody() -> None:
    pass


class SharedOutages:
    """`OutageWatch` under a lock, for the loops of a daemon.

    A cache that answers reads and refuses writes would be up and down by turns if any success ended its
    outage: so a loop ends only what it reported itself. What a holder before has left on is over when each
    loop that needs the service (`needs`, by service) has got through once: what the outage held up is the
    first thing that these do. `on_recovery` is called when an outage is over, `on_news` when there is
    something to `tell`; both without the lock.
    """

    def __init__(
        self,
        watch: OutageWatch,
        on_recovery: Callable[[], None] = _nobody,
        on_news: Callable[[], None] = _nobody,
        needs: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self._watch = watch
        self._on_recovery = on_recovery
        self._on_news = on_news
        self._needs = {} if needs is None else needs
        self._guard = threading.Lock()
        self._met_by: dict[str, set[str]] = {}
        self._through: set[str] = set()

    def failed(self, loop: str, error: Transient) -> None:
        """A step of `loop` met a service that does not answer.

        Who meets another service does not wait for the store any more; renewing the lease, each second, does
        while that is down. Otherwise a loop that is held up elsewhere would keep the store's outage on.
        """
        with self._guard:
            known = error.service in self._met_by
            self._met_by.setdefault(error.service, set()).add(loop)
            self._watch.failed(error)
            over = self._cleared_by(loop, "store") if error.service != "store" else []
            self._watch.answered(*over)
        if over or not known:
            self._on_news()

    def succeeded(self, loop: str) -> None:
        """A step of `loop` got through."""
        with self._guard:
            self._through.add(loop)
            over = self._cleared_by(loop)
            if over:
                self._watch.answered(*over)
            left = self._end_left()
        if over:
            self._on_recovery()
        if over or left:
            self._on_news()

    def current(self) -> tuple[Outage, ...]:
        """Services that are down now."""
        with self._guard:
            return self._watch.current()

    def tell(self) -> None:
        """Write what has begun and ended since; for one thread. Raises `Transient("store", …)`, `Fenced`."""
        self._watch.look(self._guard)
        with self._guard:
            self._end_left()
        self._watch.tell(self._guard)

    def _cleared_by(self, loop: str, *only: str) -> list[str]:
        over = []
        for service, loops in list(self._met_by.items()):
            if only and service not in only:
                continue
            loops.discard(loop)
            if not loops:
                del self._met_by[service]
                over.append(service)
        return over

    def _end_left(self) -> bool:
        over = [s for s in self._watch.left() if self._needs.get(s, frozenset()) <= self._through]
        self._watch.answered(*over)
        return bool(over)
