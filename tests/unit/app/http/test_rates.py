"""How often a client may ask, and how much is remembered of clients."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from msgx_app.http.rates import BURST, MAX_CLIENTS, Rates
from msgx_core.testing.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2027, 3, 14, tzinfo=UTC))


def test_a_burst_then_the_rate(clock: ManualClock) -> None:
    rates = Rates(clock, 10.0)
    assert [rates.wait_s("a") for _ in range(int(10 * BURST))] == [0.0] * int(10 * BURST)
    assert rates.wait_s("a") == pytest.approx(0.1)
    clock.advance(timedelta(seconds=0.1))
    assert rates.wait_s("a") == 0.0
    assert rates.wait_s("a") > 0


def test_clients_do_not_count_for_one_another(clock: ManualClock) -> None:
    rates = Rates(clock, 1.0)
    while rates.wait_s("a") == 0:
        pass
    assert rates.wait_s("b") == 0.0


def test_requests_under_way(clock: ManualClock) -> None:
    rates = Rates(clock, 10.0)
    assert rates.enter("a", 2)
    assert rates.enter("a", 2)
    assert not rates.enter("a", 2)
    rates.leave("a")
    assert rates.enter("a", 2)
    rates.leave("nobody")


def test_only_so_many_clients_are_remembered(clock: ManualClock) -> None:
    """A flood from everywhere does not fill the memory."""
    rates = Rates(clock, 1.0)
    for number in range(MAX_CLIENTS * 3):
        rates.wait_s(f"10.0.{number // 256}.{number % 256}")
    assert len(rates._buckets) == MAX_CLIENTS
