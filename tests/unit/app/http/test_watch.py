"""Whether services answer: what is told is of now, or says of when it is."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from msgx_app.answers.services import Answer, Asked
from msgx_app.http import watch
from msgx_app.http.office import Office
from msgx_app.http.watch import Services
from msgx_app.settings import Settings
from msgx_core.ports import Clock
from msgx_core.testing.clock import ManualClock

AT = datetime(2027, 3, 14, 6, 30, tzinfo=UTC)


class Bus:
    """A service that is asked; it hangs until `speaks`."""

    def __init__(self) -> None:
        self.error: str | None = None
        self.asked = 0
        self.speaks = threading.Event()
        self.speaks.set()

    def ask_all(self, settings: Settings, clock: Clock, opened: ExitStack) -> Asked:
        """In place of the one that opens everything."""
        self.asked += 1
        self.speaks.wait(10.0)
        return Asked((Answer("bus", "kafka:", self.error, at=clock.now()),), store=None, inbox=None)


@pytest.fixture
def bus(monkeypatch: pytest.MonkeyPatch) -> Bus:
    made = Bus()
    monkeypatch.setattr(watch, "ask_all", made.ask_all)
    return made


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(AT)


@pytest.fixture
def services(clock: ManualClock) -> Services:
    return Services(cast("Office", SimpleNamespace(clock=clock, settings=None)))


def test_an_old_answer_is_not_given_as_that_of_now(services: Services, bus: Bus, clock: ManualClock) -> None:
    """Who asks every five minutes is told of an outage at once, not five minutes later."""
    assert services.answers()[0].error is None
    bus.error = "refused"
    later = timedelta(minutes=5)
    clock.advance(later)
    (answer,) = services.answers()
    assert (answer.error, answer.at) == ("refused", AT + later)
    assert answer.row["AT"] == AT + later


def test_who_asks_often_is_told_the_same(services: Services, bus: Bus, clock: ManualClock) -> None:
    services.answers()
    clock.advance(timedelta(seconds=watch.SERVICES_KEPT_S - 0.1))
    assert services.answers()[0].at == AT
    assert bus.asked == 1


def test_a_service_that_hangs_is_waited_for_once(
    services: Services, bus: Bus, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the last answer is told, with its time; who comes later does not wait again."""
    services.answers()
    bus.speaks.clear()
    monkeypatch.setattr(watch, "ANSWER_S", 0.05)
    clock.advance(timedelta(minutes=5))
    assert services.answers()[0].at == AT
    monkeypatch.setattr(threading.Event, "wait", _nobody_waits)
    clock.advance(timedelta(seconds=1))
    assert services.answers()[0].at == AT
    assert bus.asked == 2
    bus.speaks.set()


def _nobody_waits(event: threading.Event, timeout: float | None = None) -> bool:
    raise AssertionError("waited again")
