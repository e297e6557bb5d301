"""Turns minutes and seconds of the simulated stretch into the local times of the wire."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from attrs import frozen

from msgx_app.simulator.plan import SimulationPlan

# Not strftime: its month names follow the locale.
MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")


@frozen
class Clock:
    """The start of the stretch (UTC) and the zone in which the airport tells the time."""

    start: datetime
    zone: ZoneInfo

    @classmethod
    def of(cls, plan: SimulationPlan) -> Clock:
        """The clock that reads 00:00 of the plan's day, local time, at second 0."""
        zone = ZoneInfo(plan.timezone)
        return cls(datetime.combine(plan.day, time(0), zone).astimezone(UTC), zone)

    def local(self, seconds: float) -> datetime:
        """The local time so many seconds after the start."""
        return (self.start + timedelta(seconds=int(seconds))).astimezone(self.zone)

    def wire(self, minute: float) -> str:
        """A flight time, `DDMMMYYHHMM`, so many minutes after the start (may be negative)."""
        return _flight_time(self, int(minute))

    def dttm(self, seconds: float) -> str:
        """The time of `META/DTTM`, `YYYYMMDDHHMMSS`."""
        t = self.local(seconds)
        return f"{t.year:04d}{t.month:02d}{t.day:02d}{t.hour:02d}{t.minute:02d}{t.second:02d}"


@lru_cache(maxsize=65_536)
def _flight_time(clock: Clock, minute: int) -> str:
    t = clock.local(minute * 60)
    return f"{t.day:02d}{MONTHS[t.month - 1]}{t.year % 100:02d}{t.hour:02d}{t.minute:02d}"


def duration(minutes: int) -> str:
    """A duration, `HHMM`."""
    return f"{minutes // 60:02d}{minutes % 60:02d}"
