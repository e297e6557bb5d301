"""How long each loop waits, and that the pump gets ready exactly once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from msgx_adapters.inbox_memory import MemoryInbox
from msgx_adapters.store_sqlite import SqliteStore
from msgx_app.container import Container
from msgx_app.daemon.loops import LONGEST_WAIT_S, Poller, PumpSteps, needs_of, parts_of
from msgx_core.errors import Transient
from msgx_core.ports import LeaseGrant
from processes import memory_settings, served
from wire import fltr, schedule


@pytest.fixture
def container() -> Iterator[Container]:
    with served(memory_settings()) as daemon:
        yield daemon.container


@pytest.fixture
def grant(container: Container) -> LeaseGrant:
    return container.store.acquire_lease("test", 60.0)


def test_poller_slows_down_while_nothing_is_new(container: Container, grant: LeaseGrant) -> None:
    news: list[str] = []
    poller = Poller(container, 0.2, 2.0, lambda: news.append("new"), lambda: False)
    assert [poller.step() for _ in range(6)] == [0.2, 0.4, 0.8, 1.6, 2.0, 2.0]
    container.inbox.send(schedule("DNLD", [fltr(1)]))
    assert poller.step() == 0.2
    assert news == ["new"]
    assert poller.step() == 0.4
    assert news == ["new"]


def test_idle_interval_below_the_interval_is_no_trap(container: Container, grant: LeaseGrant) -> None:
    poller = Poller(container, 0.5, 0.1, lambda: None, lambda: False)
    assert [poller.step() for _ in range(3)] == [0.5, 0.5, 0.5]


def test_pump_goes_on_at_once_and_waits_until_due(container: Container, grant: LeaseGrant) -> None:
    pump = PumpSteps(container, grant, lambda: False, lambda: None)
    assert pump.step() == LONGEST_WAIT_S
    container.inbox.send(schedule("DNLD", [fltr(1)]))
    container.pipeline.intake.scan()
    now = container.clock.now()
    container.store.fail(1, "INFRA", "cache-rejected", None, now + timedelta(seconds=0.5), now)
    assert 0.01 <= pump.step() <= 0.5
    container.store.fail(1, "INFRA", "cache-rejected", None, now + timedelta(hours=1), now)
    assert pump.step() == LONGEST_WAIT_S
    container.store.fail(1, "INFRA", "cache-rejected", None, now, now)
    assert pump.step() == 0.0
    assert container.store.counts().messages == {"SUCCEEDED": 1}


def test_suspicion_survives_an_outage_during_the_preparation(
    container: Container, grant: LeaseGrant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an unclean end the head is suspect, also when the cache is down at first (D-05)."""
    unclean = LeaseGrant(granted=True, view=grant.view, unclean=True)
    pump = PumpSteps(container, unclean, lambda: False, lambda: None)
    ensure = type(container.pipeline.cache_keeper).ensure

    def down(keeper: object) -> int | None:
        raise Transient("cache", "down")

    monkeypatch.setattr(type(container.pipeline.cache_keeper), "ensure", down)
    for _ in range(2):
        with pytest.raises(Transient):
            pump.step()
    monkeypatch.setattr(type(container.pipeline.cache_keeper), "ensure", ensure)
    pump.step()
    assert container.pipeline.pump.suspect


def test_parts_of_a_live_and_of_a_shadow_instance(container: Container, grant: LeaseGrant) -> None:
    assert isinstance(container.inbox, MemoryInbox)
    assert isinstance(container.store, SqliteStore)
    parts = parts_of(container, grant, news=lambda: None, stopping=lambda: False)
    assert [part.name for part in parts] == [
        "lease",
        "poller",
        "pump",
        "relay-msg",
        "relay-schd",
        "jobs",
        "ops-jobs",
        "retention",
        "write-back",
    ]
    assert all(part.step() >= 0 for part in parts)
    assert parts[0].longest_pause_s == 1.0
    assert needs_of(parts)["mailbox"] == {"poller", "pump", "jobs", "write-back"}
    assert needs_of(parts)["bus"] == {"relay-msg", "relay-schd"}


def test_notices_are_told_of_once_the_pump_has_come_to_the_end(
    container: Container, grant: LeaseGrant
) -> None:
    """A flight that changes alone is published at once; in a backlog the relay keeps its own time."""
    told: list[int] = []
    pump = PumpSteps(container, grant, lambda: False, lambda: told.append(1))
    pump.step()
    for flid in (1, 2, 3):
        container.inbox.send(schedule("DNLD", [fltr(flid)]))
    container.pipeline.intake.scan()
    while pump.step() == 0.0:
        assert told == []
    assert told == [1]
    pump.step()
    assert told == [1]
