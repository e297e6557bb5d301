"""The clock of tests keeps the contract as well."""

from datetime import UTC, datetime, timedelta

import pytest

from msgx_core.testing.clock import ManualClock
from msgx_core.testing.clock_contract import ClockContract

START = datetime(2021, 1, 23, 4, 0, tzinfo=UTC)


class Hand:
    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._passed = timedelta(0)

    def now(self) -> datetime:
        return START + self._passed

    def pass_s(self, seconds: float) -> None:
        self._passed += timedelta(seconds=seconds)
        self._clock.advance(seconds)


class TestManualClock(ClockContract):
    @pytest.fixture
    def clock(self) -> ManualClock:
        return ManualClock(START)

    @pytest.fixture
    def real(self, clock: ManualClock) -> Hand:
        return Hand(clock)


def test_setting_it_moves_the_wall_clock_only() -> None:
    """D-45: a corrected clock changes no duration."""
    clock = ManualClock(START)
    clock.set(START - timedelta(hours=1))
    assert clock.now() == START - timedelta(hours=1)
    assert clock.monotonic_s() == 0
    assert clock.advance(90) == clock.now() == START - timedelta(minutes=58, seconds=30)
    assert clock.monotonic_s() == 90


def test_it_refuses_what_is_no_time() -> None:
    clock = ManualClock(START)
    with pytest.raises(ValueError, match="time zone"):
        clock.set(datetime(2021, 1, 23))
    with pytest.raises(ValueError, match="back"):
        clock.advance(-1)
