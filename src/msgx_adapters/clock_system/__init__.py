"""The clock of the machine (R-077)."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Implements `Clock` with the wall clock and the monotonic counter of this machine. Thread-safe."""

    def now(self) -> datetime:
        """The current instant: aware, UTC, microseconds."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Seconds since an arbitrary start of the machine; never goes back."""
        return time.monotonic()


__all__ = ["SystemClock"]
