"""What every clock does (R-077, D-45).

class TestMyClock(ClockContract):
    @pytest.fixture
    def clock(self): ...
    @pytest.fixture
    def real(self): ...
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol

import pytest

from msgx_core.ports.clock import Clock
from msgx_core.testing.contract import Contract

_TOLERANCE = timedelta(seconds=2)


class Time(Protocol):
    """The time that the clock under test should show, by other means."""

    def now(self) -> datetime:
        """The instant."""
        ...

    def pass_s(self, seconds: float) -> None:
        """Let time pass."""
        ...


class ClockContract(Contract):
    """Cases for a `Clock`."""

    @pytest.fixture
    def clock(self) -> Clock:
        """The clock under test."""
        raise NotImplementedError

    @pytest.fixture
    def real(self) -> Time:
        """The time that it should show."""
        raise NotImplementedError

    def test_now_is_an_instant_in_utc(self, clock: Clock) -> None:
        """R-077: aware, UTC, so that no comparison depends on the machine's zone."""
        assert clock.now().tzinfo is UTC

    def test_now_is_the_time(self, clock: Clock, real: Time) -> None:
        """R-077: now as other means see it, before and after time has passed."""
        assert abs(clock.now() - real.now()) < _TOLERANCE
        real.pass_s(0.05)
        assert abs(clock.now() - real.now()) < _TOLERANCE

    def test_the_monotonic_counter_counts_seconds(self, clock: Clock, real: Time) -> None:
        """D-45: waits and durations are measured in seconds."""
        before = clock.monotonic_s()
        real.pass_s(0.05)
        assert 0.049 <= clock.monotonic_s() - before < _TOLERANCE.total_seconds()

    def test_the_monotonic_counter_never_goes_back(self, clock: Clock) -> None:
        """D-45."""
        readings = [clock.monotonic_s() for _ in range(1_000)]
        assert readings == sorted(readings)
