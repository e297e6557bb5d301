"""Two daemons on one store, on the real set: one at a time works, whatever happens to the other (D-34)."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from instances import Watched, flids, wait_for_lock, watched_set
from services import mysql, postgres
from services.base import wait_until
from wire import adft, flop, fltr, gate

PUT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES (%s)"


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched_set(tmp_path_factory.mktemp("real")) as made:
        yield made


@contextmanager
def traffic(watched: Watched) -> Iterator[None]:
    """Upstream writes changes of twenty flights while the context lasts."""
    first, stop = next(flids), threading.Event()

    def write() -> None:
        with closing(mysql.connect(watched.real.mailbox.url)) as owner, closing(owner.cursor()) as cursor:
            for number in itertools.takewhile(lambda _: not stop.wait(0.015), itertools.count()):
                raw = flop(first + number % 20, "GTDT", gate(f"B{number % 90 + 10}"))
                cursor.execute(PUT, (raw.decode(),))

    upstream = threading.Thread(target=write)
    upstream.start()
    try:
        yield
    finally:
        stop.set()
        upstream.join()


def test_the_standby_takes_over_after_a_kill(watched: Watched) -> None:
    """R-033: within 5 s with the default lease; `status` names the holder."""
    with watched.pair() as (active, standby):
        with traffic(watched):
            epoch = watched.works()
            assert active.is_named()
            active.process.kill()
            watched.works(epoch + 1, 5.0)
        assert standby.is_named()
        watched.all_is_well()


def test_sigterm_under_load_hands_over_at_once(watched: Watched) -> None:
    """D-34: exit 0 within 10 s, the lease released: the standby does not wait for its expiry."""
    with watched.pair(MSGX_LEASE_EXPIRY="30s") as (active, standby):
        with traffic(watched):
            epoch = watched.works()
            active.process.terminate()
            assert active.process.wait(10) == 0
            assert [line["event"] for line in watched.real.log(active.name)][-2:] == [
                "lease-released",
                "stopped",
            ]
            watched.works(epoch + 1, 3.0)
        assert not standby.said("lease-taken")[0]["unclean"]
        watched.all_is_well()


@pytest.mark.parametrize("seconds", [15, pytest.param(60, marks=pytest.mark.deep)])
def test_a_leader_frozen_under_traffic_stands_by_when_it_wakes(watched: Watched, seconds: int) -> None:
    """D-34: SIGSTOP while the other works, SIGCONT; and it is there when the other one dies."""
    with watched.pair() as (active, standby):
        with traffic(watched):
            epoch = watched.works()
            active.freeze()
            watched.works(epoch + 1)
            time.sleep(seconds - 2)  # it took the other one longer to take over
        watched.all_is_well()
        watched.steps_down(active, standby)
        with traffic(watched):
            epoch = watched.works(epoch + 1)
            standby.process.kill()
            watched.works(epoch + 1)
        watched.all_is_well()


def test_a_leader_that_wakes_among_its_own_claims(watched: Watched) -> None:
    """D-34: under traffic, a second after the takeover: what it was about to mark is not its own any more."""
    with watched.pair() as (active, standby):
        with traffic(watched):
            epoch = watched.works()
            active.freeze()
            watched.works(epoch + 1)
            active.wake()
            wait_until(lambda: bool(active.said("standby")), "it does not step down")
        assert standby.is_named()
        watched.all_is_well()


@pytest.mark.parametrize("fate", ["committed", "rolled back", "not sent"])
def test_a_leader_frozen_in_the_midst_of_step_one(watched: Watched, fate: str) -> None:
    """D-34, D-02: the server ends the statement, or refuses it when it comes late; applied once."""
    real = watched.real
    statement, flid = "2s" if fate == "rolled back" else "60s", next(flids)
    blocked, table = ("read", "FLIGHT_SCHD") if fate == "not sent" else ("apply_one", "COUNTERS")
    with watched.pair(MSGX_TIMEOUTS_STORE_STATEMENT=statement, MSGX_LEASE_EXPIRY="2s") as (active, standby):
        real.mailbox.insert(PUT, adft(fltr(flid)).decode())
        epoch = watched.works()
        with postgres.connect(real.postgres.url) as outside:
            outside.autocommit = False
            outside.execute(f"LOCK TABLE msgx.{table}")
            inside = real.mailbox.insert(PUT, flop(flid, "GTDT", gate("B1")).decode())
            wait_for_lock(real, blocked)
            active.freeze()
            if fate == "committed":
                wait_for_lock(real, "acquire_lease")
            else:
                wait_until(standby.holds, "step 1 is not given up")
            if fate == "not sent":
                wait_for_lock(real, blocked, 2)
                standby.freeze()
            outside.rollback()
        if fate == "not sent":
            # It has read, and knows nothing of the takeover: the fence alone is in its way.
            active.wake()
            wait_until(lambda: bool(active.said("standby")), "it does not step down")
            standby.wake()
        real.mailbox.insert(PUT, flop(flid, "GTDT", gate("B2")).decode())
        watched.all_is_well()
        (write,) = real.sql(f"SELECT EPOCH FROM watch.WRITES WHERE APPLIED > 0 AND MSG_ID = {inside}")
        assert (write["EPOCH"] == epoch) == (fate == "committed")
        watched.steps_down(active, standby)
        assert '"STATE_VERSION":3' in str(real.redis.client().get(f"msgx:flight:{flid}")).replace(" ", "")
