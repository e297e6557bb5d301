"""A MySQL mailbox that is frozen, killed, locked or read-only: outages, told apart and survived (D-04)."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest

from msgx_adapters.inbox_mysql import MysqlInbox
from msgx_adapters.outbound_mysql import MysqlOutbound
from msgx_core.errors import Transient
from msgx_core.ports.inbox import MarkResult
from msgx_core.testing.clock import ManualClock
from services.base import wait_until
from services.mysql import (
    RIGHTS,
    Database,
    PrivateMysql,
    connect,
    database_on,
    private_mysql,
)

ZONE = ZoneInfo("Asia/Shanghai")
NOON = datetime(2021, 1, 23, 4, 0, tzinfo=UTC)
SENDER = "INSERT ON {}.CMINMSGS"


def opened(url: str, timeout_s: float = 2.0) -> MysqlInbox:
    return MysqlInbox.open(url, zone=ZONE, clock=ManualClock(NOON), timeout_s=timeout_s)


def outbound(url: str) -> MysqlOutbound:
    return MysqlOutbound.open(url, zone=ZONE, clock=ManualClock(NOON), timeout_s=1)


def put(server: Database, many: int = 1) -> list[int]:
    return [server.insert("INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES ('<MSG/>')") for _ in range(many)]


@contextmanager
def within(limit_s: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < limit_s


def calls_of(inbox: MysqlInbox, msg_id: int) -> list[Callable[[], Any]]:
    return [
        lambda: inbox.scan(0, 10),
        lambda: inbox.received_at([msg_id]),
        lambda: inbox.fetch(msg_id),
        lambda: inbox.mark([(msg_id, NOON)]),
        lambda: inbox.send("<MSG/>"),
        inbox.ping,
    ]


@pytest.fixture(scope="module")
def private() -> Iterator[PrivateMysql]:
    with private_mysql() as private:
        yield private


@pytest.fixture
def server(private: PrivateMysql) -> Iterator[Database]:
    with database_on(private.url) as server:
        yield server


def test_a_frozen_server_holds_nobody_up(private: PrivateMysql, server: Database) -> None:
    """R-123: services.md: each wait ends at the timeout; afterwards everything goes on by itself."""
    (msg_id,) = put(server)
    url = server.user(*RIGHTS, SENDER)
    with closing(opened(url, timeout_s=1)) as inbox, closing(outbound(url)) as out:
        out.insert("before", "R")
        inbox.send("<MSG/>")
        private.server.freeze()
        try:
            more: list[Callable[[], Any]] = [
                lambda: out.insert("x", "R"),
                lambda: out.inserted_since(NOON),
                lambda: opened(url, 1),
            ]
            for call in [*calls_of(inbox, msg_id), *more]:
                with within(1.8), pytest.raises(Transient) as caught:
                    call()
                assert caught.value.service == "mailbox"
        finally:
            private.server.thaw()
        # What the server had been sent it does when it is back.
        assert {msg_id + 1} <= set(inbox.scan(0, 10))
        assert inbox.mark([(msg_id, NOON)])[msg_id] in (MarkResult.WRITTEN, MarkResult.ALREADY_MARKED)
        assert out.insert("after", "R") > 1


def test_a_server_that_freezes_in_the_middle(private: PrivateMysql, server: Database) -> None:
    """Inside a transaction: no rollback is waited for; the server makes it when it is back."""
    (msg_id,) = put(server)
    with closing(opened(server.user(*RIGHTS))) as inbox, closing(connect(server.url)) as owner:
        owner.start_transaction()
        with closing(owner.cursor()) as cursor:
            cursor.execute("UPDATE CMINMSGS SET CMINMSGS_STATUS = 'X'")
        timer = threading.Timer(0.4, private.server.freeze)
        timer.start()
        try:
            with within(3), pytest.raises(Transient, match="no answer in time"):
                inbox.mark([(msg_id, NOON)])
        finally:
            timer.join()
            private.server.thaw()
        owner.rollback()
        fate = inbox.mark([(msg_id, NOON)])[msg_id]
        assert fate in (MarkResult.WRITTEN, MarkResult.ALREADY_MARKED)


def test_a_killed_server_comes_back(private: PrivateMysql) -> None:
    with database_on(private.url) as before:
        put(before)
        url = before.user(*RIGHTS, SENDER)
        inbox = opened(url)
        try:
            private.server.kill()
            for call in calls_of(inbox, 1):
                with within(1), pytest.raises(Transient, match=r"2003|2006|2013|2055"):
                    call()
        finally:
            private.server.start()
            before.reconnect()
        with closing(inbox):
            assert inbox.scan(0, 10) == [1]
            assert inbox.mark([(1, NOON)]) == {1: MarkResult.WRITTEN}


def test_a_connection_that_was_ended_while_idle_costs_nothing(server: Database) -> None:
    """`wait_timeout`, a proxy, a DBA: a new connection, no outage; also for what may not be done twice."""
    url = server.user(*RIGHTS, SENDER)
    with closing(opened(url)) as inbox, closing(outbound(url)) as out:
        first, out_first = inbox.send("<MSG/>"), out.insert("x", "R")
        for call in calls_of(inbox, first):
            assert server.kill(url) >= 1
            call()
        assert server.value("SELECT COUNT(*) FROM CMINMSGS") == "2"
        server.kill(url)
        assert out.insert("y", "R") == out_first + 1


def test_a_connection_that_is_ended_in_the_middle(server: Database) -> None:
    """While a mark waits for a lock: it is tried again, and the owner's own mark is respected."""
    ids = put(server, 2)
    url = server.user(*RIGHTS)
    with closing(opened(url)) as inbox, closing(connect(server.url)) as owner:
        inbox.mark([(ids[1], NOON)])
        owner.start_transaction()
        with closing(owner.cursor()) as cursor:
            cursor.execute("UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = '2020-02-02 02:02:02' LIMIT 1")
        results: dict[int, Any] = {}
        thread = threading.Thread(target=lambda: results.update(inbox.mark([(ids[0], NOON)])))
        thread.start()
        waits = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'UPDATE %' AND USER = %s"
        wait_until(lambda: bool(server.run(waits, urlsplit(url).username)), "no mark is waiting")
        server.kill(url)
        owner.commit()
        thread.join()
    assert results == {ids[0]: MarkResult.ALREADY_MARKED}


def test_a_read_only_server_is_an_outage_of_writing(private: PrivateMysql, server: Database) -> None:
    """A failover in progress: reading goes on, marks and requests wait."""
    ids = put(server, 3)
    url = server.user(*RIGHTS)
    with closing(opened(url)) as inbox, closing(outbound(url)) as out:
        server.run("SET GLOBAL read_only = 1")
        try:
            with pytest.raises(Transient, match="1290"):
                inbox.mark([(msg_id, NOON) for msg_id in ids])
            with pytest.raises(Transient, match="1290"):
                out.insert("x", "R")
            assert inbox.scan(0, 10) == ids
        finally:
            server.run("SET GLOBAL read_only = 0")
        assert set(inbox.mark([(msg_id, NOON) for msg_id in ids]).values()) == {MarkResult.WRITTEN}


def test_a_locked_row_harms_no_other(server: Database) -> None:
    """D-26: it is the one that is tried again later."""
    ids = put(server, 20)
    with closing(opened(server.user(*RIGHTS))) as inbox, closing(connect(server.url)) as owner:
        owner.start_transaction()
        with closing(owner.cursor()) as cursor:
            cursor.execute(f"UPDATE CMINMSGS SET CMINMSGS_STATUS = 'X' WHERE CMINMSGS_ID = {ids[7]}")
        with within(4):
            results = dict(inbox.mark([(msg_id, NOON) for msg_id in ids]))
        held = results.pop(ids[7])
        assert isinstance(held, Exception)
        assert not isinstance(held, Transient)
        assert "1205" in str(held)
        assert set(results.values()) == {MarkResult.WRITTEN}
        assert inbox.scan(0, 100) == [ids[7]]
        owner.rollback()
        assert inbox.mark([(ids[7], NOON)]) == {ids[7]: MarkResult.WRITTEN}


@pytest.mark.parametrize(
    "lock",
    ["LOCK TABLES CMINMSGS WRITE", "SELECT CMINMSGS_ID FROM CMINMSGS FOR UPDATE"],
    ids=["table", "rows"],
)
def test_when_everything_is_locked_the_mailbox_is(server: Database, lock: str) -> None:
    """Bounded in time, however many rows there are; nothing is counted against them."""
    ids = put(server, 200)
    with closing(opened(server.user(*RIGHTS))) as inbox:
        with closing(connect(server.url)) as owner:
            owner.start_transaction()
            with closing(owner.cursor()) as cursor:
                cursor.execute(lock)
                cursor.fetchall()
            with within(6), pytest.raises(Transient, match="1205"):
                inbox.mark([(msg_id, NOON) for msg_id in ids])
            if lock.startswith("LOCK"):
                with within(2.5), pytest.raises(Transient, match="1205"):
                    inbox.scan(0, 10)
        assert set(inbox.mark([(msg_id, NOON) for msg_id in ids]).values()) == {MarkResult.WRITTEN}
