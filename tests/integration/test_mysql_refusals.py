"""A MySQL mailbox that lets nobody in, or less than before: outages that name the reason (D-04)."""

from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from msgx_adapters.inbox_mysql import MysqlInbox
from msgx_adapters.outbound_mysql import MysqlOutbound
from msgx_core.errors import Transient
from msgx_core.testing.clock import ManualClock
from services.mysql import (
    RIGHTS,
    Database,
    database,
    user_in,
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


def calls_of(inbox: MysqlInbox, msg_id: int) -> list[Callable[[], Any]]:
    return [
        lambda: inbox.scan(0, 10),
        lambda: inbox.received_at([msg_id]),
        lambda: inbox.fetch(msg_id),
        lambda: inbox.mark([(msg_id, NOON)]),
        lambda: inbox.send("<MSG/>"),
        inbox.ping,
    ]


def test_no_more_connections_is_an_outage() -> None:
    """D-04, class 53 and its relatives: here the user's own limit, reached by the first connection."""
    with database() as server:
        (msg_id,) = put(server)
        url = server.user(*RIGHTS)
        server.run(f"GRANT USAGE ON *.* TO {user_in(url)} WITH MAX_USER_CONNECTIONS 1")
        with closing(opened(url)) as inbox:
            assert inbox.scan(0, 10) == [msg_id]
            with pytest.raises(Transient, match=r"1203|1226"):
                inbox.mark([(msg_id, NOON)])


def test_rights_that_are_taken_away_are_an_outage() -> None:
    """After the start: somebody is at work on the server."""
    with database() as server:
        (msg_id,) = put(server)
        url = server.user(*RIGHTS, SENDER)
        with closing(opened(url)) as inbox, closing(outbound(url)) as out:
            server.run("RENAME TABLE CMINMSGS TO AWAY")
            for call in calls_of(inbox, msg_id):
                with pytest.raises(Transient, match=r"1146|1142"):
                    call()
            server.run("RENAME TABLE AWAY TO CMINMSGS")
            inbox.ping()
            server.run(f"REVOKE INSERT ON {server.name}.COUTMSGS FROM {user_in(url)}")
            with pytest.raises(Transient, match=r"needs INSERT on msgx\.mailbox\.table\.outbound"):
                out.insert("x", "R")


def test_a_password_that_is_wrong_waits_for_somebody_to_put_it_right() -> None:
    """D-04: SQLSTATE class 28."""
    with database() as server:
        url = server.user(*RIGHTS)
        with pytest.raises(Transient, match="1045") as caught:
            opened(url.replace("@127", "x@127"))
        assert "ss:/" not in str(caught.value)
