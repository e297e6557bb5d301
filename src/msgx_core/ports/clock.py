"""The clock port: all time is injected, the lease alone excepted (R-077, D-45)."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time and a monotonic counter for durations."""

    def now(self) -> datetime:
        """The current instant: aware, UTC, microseconds."""
        ...

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start; never goes back. For durations only."""
        ...
