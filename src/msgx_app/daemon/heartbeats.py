"""When each loop last did its work, and how often it failed: for health and metrics."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import datetime

from attrs import evolve, frozen


@frozen
class Beat:
    """One loop: its last success, its successful steps, and what went wrong.

    `waits` counts steps that met a service that did not answer, `errors` those that raised something
    nobody expected; `problem` says what is wrong now, None after a success. `again`: the last step found so
    much to do that the next one follows at once.
    """

    last_success_at: datetime | None = None
    steps: int = 0
    waits: int = 0
    errors: int = 0
    problem: str | None = None
    again: bool = False


class Heartbeats:
    """Beats by the name of the loop. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._beats: dict[str, Beat] = {}

    def expect(self, name: str) -> None:
        """A loop of that name has been started; it has not succeeded yet."""
        with self._guard:
            self._beats.setdefault(name, Beat())

    def succeeded(self, name: str, at: datetime, *, again: bool = False) -> None:
        """A step ended well."""
        with self._guard:
            beat = self._beats.get(name, Beat())
            self._beats[name] = evolve(
                beat, last_success_at=at, steps=beat.steps + 1, problem=None, again=again
            )

    def waited(self, name: str, problem: str) -> None:
        """A step met a service that did not answer."""
        with self._guard:
            beat = self._beats.get(name, Beat())
            self._beats[name] = evolve(beat, waits=beat.waits + 1, problem=problem)

    def erred(self, name: str, problem: str) -> None:
        """A step raised what it should not."""
        with self._guard:
            beat = self._beats.get(name, Beat())
            self._beats[name] = evolve(beat, errors=beat.errors + 1, problem=problem)

    def view(self) -> Mapping[str, Beat]:
        """All beats as they are now."""
        with self._guard:
            return dict(self._beats)
