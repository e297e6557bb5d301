"""What a leader that was stopped had sent to the mailbox arrives after the takeover (D-34)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from instances import Instance, Watched, flids, watched_set
from services.base import wait_until
from services.holding import HoldingProxy, holding_proxy
from wire import adft, flop, fltr, gate

PUT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES (%s)"


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    with watched_set(tmp_path_factory.mktemp("real")) as made:
        yield made


@contextmanager
def leader_behind_a_proxy(watched: Watched) -> Iterator[tuple[Instance, Instance, HoldingProxy]]:
    """The active one, which reaches the mailbox through the proxy, and the standby, which does not."""
    url = urlsplit(watched.mailbox_user())
    with holding_proxy(str(url.hostname), int(url.port or 0)) as (proxy, port):
        behind = url._replace(netloc=url.netloc.replace(f":{url.port}", f":{port}")).geturl()
        with watched.daemon(behind) as leader:
            wait_until(leader.holds, "it does not become active", 60)
            with watched.daemon() as standby:
                wait_until(lambda: bool(standby.said("standby")), "nobody stands by", 60)
                yield leader, standby, proxy
                for process in (leader.process, standby.process):
                    process.terminate()
                    assert process.wait(10) == 0


def stopped_with(leader: Instance, standby: Instance, proxy: HoldingProxy) -> None:
    """The statement is on its way, its sender is stopped, the other takes over, the statement arrives."""
    assert proxy.caught.wait(20)
    leader.freeze()
    wait_until(standby.holds, "nobody takes over")
    wait_until(lambda: bool(standby.said("lease-taken")), "it does not say so")
    proxy.release()
    time.sleep(0.5)


def test_a_mark_that_arrives_after_the_takeover_changes_nothing(watched: Watched) -> None:
    """R-144: it is for the new holder to set, when the claim of the old one has run out."""
    flid = next(flids)
    with leader_behind_a_proxy(watched) as (leader, standby, proxy):
        watched.real.mailbox.insert(PUT, adft(fltr(flid)).decode())
        watched.real.wait_idle()
        proxy.hold(b"UPDATE")
        msg_id = watched.real.mailbox.insert(PUT, flop(flid, "GTDT", gate("B1")).decode())
        stopped_with(leader, standby, proxy)
        assert watched.real.marks()[msg_id] is None
        leader.wake()
        wait_until(lambda: bool(leader.said("standby")), "it does not step down")
        assert watched.real.marks()[msg_id] is None
        watched.all_is_well()
        (row,) = watched.real.sql(f"SELECT BACKFILL_ATTEMPTS FROM PROC_STATE WHERE MSG_ID = {msg_id}")
        assert row["BACKFILL_ATTEMPTS"] == 0


def test_a_request_that_arrives_after_the_takeover_is_not_sent(watched: Watched) -> None:
    """D-32: the new holder has looked, has not found it, and has told so: then it must not go out."""
    real = watched.real
    with leader_behind_a_proxy(watched) as (leader, standby, proxy):
        proxy.hold(b"INSERT INTO")
        real.msgx().ok("request", "schedule", "2027-03-14", "--reason", "test")
        stopped_with(leader, standby, proxy)
        requests = "SELECT STATE, REASON FROM REQ_TRACK"
        lost = [{"STATE": "FAILED", "REASON": "send-lost"}]
        wait_until(lambda: real.sql(requests) == lost, "the new holder does not look for it")
        assert real.mailbox.run("SELECT * FROM COUTMSGS") == []
        leader.wake()
        wait_until(lambda: bool(leader.said("standby")), "it does not step down")
        time.sleep(0.5)
        assert real.mailbox.run("SELECT * FROM COUTMSGS") == []
        assert real.sql(requests) == lost
