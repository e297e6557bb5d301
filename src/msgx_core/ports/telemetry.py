"""The telemetry port: counts, durations, stages and structured events; never fails, decides nothing."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Telemetry(Protocol):
    """Names are dotted (`msgx.intake.inserted`); labels are few and bounded (`ports.metrics` lists all)."""

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        """Add to a counter."""
        ...

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """Record one value of a distribution, for durations in seconds."""
        ...

    def event(self, name: str, /, **fields: object) -> None:
        """Write a structured log line: a stable name and fields (`msg_id`, `flid`, `identity`)."""
        ...

    def stage(self, name: str, /, **fields: object) -> AbstractContextManager[None]:
        """Around one piece of work of a stage (`ports.metrics.STAGES`): counted, timed, traced.

        `fields` go with every event inside it in the same thread, so that a message's id is in each of its
        log lines. What the work raises passes through; it is no success of the stage.
        """
        ...


class Silent:
    """Telemetry that goes nowhere."""

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        """Nothing."""

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """Nothing."""

    def event(self, name: str, /, **fields: object) -> None:
        """Nothing."""

    def stage(self, name: str, /, **fields: object) -> AbstractContextManager[None]:
        """Nothing around the work."""
        return nullcontext()
