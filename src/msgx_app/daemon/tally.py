"""Telemetry that is also looked at: counts by name and label, and the last events, kept in memory."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime

from attrs import frozen

from msgx_core.ports import Clock, Silent, Telemetry


@frozen
class Told:
    """An event as it was told."""

    at: datetime
    name: str
    fields: Mapping[str, object]


class Tally:
    """Implements `Telemetry`: passes everything on to `behind` and remembers it. Thread-safe."""

    def __init__(self, clock: Clock, behind: Telemetry | None = None, *, events: int = 100) -> None:
        self._clock = clock
        self._behind = Silent() if behind is None else behind
        self._guard = threading.Lock()
        self._counts: dict[str, Counter[frozenset[tuple[str, str]]]] = {}
        self._events: deque[Told] = deque(maxlen=events)

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        """Add to a counter."""
        with self._guard:
            self._counts.setdefault(name, Counter())[frozenset(labels.items())] += n
        self._behind.count(name, n, **labels)

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """Pass on."""
        self._behind.observe(name, value, **labels)

    def event(self, name: str, /, **fields: object) -> None:
        """Remember and pass on."""
        with self._guard:
            self._events.append(Told(self._clock.now(), name, fields))
        self._behind.event(name, **fields)

    def stage(self, name: str, /, **fields: object) -> AbstractContextManager[None]:
        """Pass on."""
        return self._behind.stage(name, **fields)

    def total(self, name: str) -> int:
        """A counter, whatever its labels."""
        with self._guard:
            return sum(self._counts.get(name, Counter()).values())

    def by(self, name: str, label: str) -> dict[str, int]:
        """A counter by the values of one label, without zeros."""
        found: Counter[str] = Counter()
        with self._guard:
            for labels, n in self._counts.get(name, Counter()).items():
                found[dict(labels).get(label, "")] += n
        return {value: n for value, n in sorted(found.items()) if n}

    def events(self) -> Sequence[Told]:
        """The last events, oldest first."""
        with self._guard:
            return tuple(self._events)
