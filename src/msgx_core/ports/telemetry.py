"""The telemetry port: counts, durations and structured events; never fails, decides nothing."""

from __future__ import annotations

from typing import Protocol


class Telemetry(Protocol):
    """Names are dotted (`msgx.intake.inserted`); labels are few and bounded."""

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        """Add to a counter."""
        ...

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """Record one value of a distribution, for durations in seconds."""
        ...

    def event(self, name: str, /, **fields: object) -> None:
        """Write a structured log line: a stable name and fields (`msg_id`, `flid`, `identity`)."""
        ...


class Silent:
    """Telemetry that goes nowhere."""

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        """Nothing."""

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """Nothing."""

    def event(self, name: str, /, **fields: object) -> None:
        """Nothing."""
