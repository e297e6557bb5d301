"""The machine's clock keeps the contract."""

import time
from datetime import UTC, datetime

import pytest

from msgx_adapters.clock_system import SystemClock
from msgx_core.testing.clock_contract import ClockContract


class Machine:
    def now(self) -> datetime:
        return datetime.fromtimestamp(time.time_ns() / 1e9, UTC)

    def pass_s(self, seconds: float) -> None:
        time.sleep(seconds)


class TestSystemClock(ClockContract):
    @pytest.fixture
    def clock(self) -> SystemClock:
        return SystemClock()

    @pytest.fixture
    def real(self) -> Machine:
        return Machine()
