"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualClock:
    """Implements `Clock`; time passes by `advance` alone.

    `set` moves the wall clock only, as an operator or a time server does, back as well: durations do not
    change by it.
    """

    def __init__(self, start: datetime = datetime(2021, 1, 23, 4, 0, tzinfo=UTC)) -> None:
        self._now = _instant(start)
        self._monotonic_s = 0.0

    def now(self) -> datetime:
        """The instant it was set or advanced to, UTC."""
        return self._now

    def monotonic_s(self) -> float:
        """Seconds advanced so far."""
        return self._monotonic_s

    def set(self, at: datetime) -> None:
        """Put the wall clock at an instant."""
        self._now = _instant(at)

    def advance(self, seconds: float | timedelta) -> datetime:
        """Let time pass; returns the new instant."""
        step = seconds if isinstance(seconds, timedelta) else timedelta(seconds=seconds)
        if step < timedelta(0):
            raise ValueError("time does not go back; use set() for the wall clock")
        self._now += step
        self._monotonic_s += step.total_seconds()
        return self._now


def _instant(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    return at.astimezone(UTC)
