"""The lease of a one-shot command: taken, waited for, renewed, given up; and signals that ask (D-34)."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import pytest

from msgx_adapters.store_sqlite import SqliteStore
from msgx_app.cli.supervise import Interrupted, LeaseBusy, holder_name, lease_held, stop_on_signals
from msgx_app.container import Container
from processes import memory_settings, served, wait_for


@pytest.fixture
def container() -> Iterator[Container]:
    with served(memory_settings(**{"msgx.lease.expiry": "200ms", "msgx.lease.renew": "50ms"})) as daemon:
        yield daemon.container


@pytest.fixture
def other(container: Container) -> SqliteStore:
    assert isinstance(container.store, SqliteStore)
    return SqliteStore(container.store.connection)


def test_held_for_its_time_and_given_up(container: Container) -> None:
    with lease_held(container, "me") as grant:
        assert grant.granted
        assert not grant.unclean
        epoch = container.store.lease().epoch
        time.sleep(0.5)
        view = container.store.lease()
        assert (view.holder, view.epoch) == ("me", epoch)
        assert view.expires_in_s > 0
    assert container.store.lease().holder is None


def test_given_up_after_an_error_too(container: Container) -> None:
    with pytest.raises(ValueError, match="what"), lease_held(container, "me"):
        raise ValueError("what")
    assert container.store.lease().holder is None


def test_lease_of_a_killed_one_is_waited_for(container: Container, other: SqliteStore) -> None:
    assert other.acquire_lease("killed", 0.2).granted
    told: list[str] = []
    with lease_held(container, "me", waiting=told.append) as grant:
        assert grant.unclean
    assert told == ["killed"]


def test_busy_when_it_is_renewed(container: Container, other: SqliteStore) -> None:
    assert other.acquire_lease("daemon", 60).granted
    started = time.monotonic()
    with pytest.raises(LeaseBusy) as busy, lease_held(container, "me"):
        pass
    assert busy.value.holder == "daemon"
    assert busy.value.expires_in_s > 50
    assert time.monotonic() - started < 2
    assert container.store.lease().holder == "daemon"


def test_waiting_can_be_stopped(container: Container, other: SqliteStore) -> None:
    assert other.acquire_lease("daemon", 60).granted
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted), lease_held(container, "me", stop=stop):
        pass


def test_taken_over_it_does_not_give_up_the_others_lease(container: Container, other: SqliteStore) -> None:
    with lease_held(container, "me"):
        # The same name, as a restarted container with the same host name and pid would have.
        assert other.acquire_lease("me", 60).granted
        time.sleep(0.2)
    assert container.store.lease().holder == "me"


def test_first_signal_asks_and_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stop_on_signals() as stop:
        os.kill(os.getpid(), signal.SIGTERM)
        wait_for("the signal", stop.is_set, within_s=2)
        # A second one would end this process.
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGTERM) is before


def test_outside_the_main_thread_signals_are_left_alone() -> None:
    seen: list[bool] = []

    def elsewhere() -> None:
        with stop_on_signals() as stop:
            seen.append(stop.is_set())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(5)
    assert seen == [False]


def test_holder_name_says_host_process_and_command() -> None:
    host, pid, command, _ = holder_name("drain").rsplit(":", 3)
    assert host
    assert (pid, command) == (str(os.getpid()), "drain")


def test_two_processes_of_one_name_are_two_holders() -> None:
    """D-34: containers may share host name and pid."""
    names = {holder_name("run") for _ in range(20)}
    assert len(names) == 20
    assert all(f":{os.getpid()}:run:" in name for name in names)
