"""Outbound rows in MySQL keep the contract, with the rights of production."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager

import pytest

from msgx_adapters.outbound_mysql import MysqlOutbound
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.outbound_contract import ZONE, OutboundContract
from services.mysql import RIGHTS, Database, database


class Mailbox:
    """The owner, on a connection of its own."""

    def __init__(self, server: Database) -> None:
        self.clock = ManualClock()
        self.server = server
        self.url = server.user(*RIGHTS)

    def put(self, text: str, inserted: str) -> int:
        return self.server.insert(
            "INSERT INTO COUTMSGS (COUTMSGS_CLOB_MSG, COUTMSGS_DATE_INSERTED, ROUTINGID)"
            " VALUES (%s, %s, 'X')",
            *(text, inserted),
        )

    def rows(self) -> Sequence[tuple[int, str, str, str]]:
        rows = self.server.run(
            "SELECT COUTMSGS_ID, COUTMSGS_CLOB_MSG, COUTMSGS_DATE_INSERTED, ROUTINGID FROM COUTMSGS"
            " WHERE COUTMSGS_DATE_SENT IS NULL AND COUTMSGS_FLAG = 0 ORDER BY 1"
        )
        return [(int(row[0]), row[1].decode(), row[2].decode(), row[3].decode()) for row in rows]

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.server.lock_out(self.url)
        yield
        self.server.let_in(self.url)


class TestMysqlOutbound(OutboundContract):
    @pytest.fixture
    def mailbox(self) -> Iterator[Mailbox]:
        with database() as server:
            yield Mailbox(server)

    @pytest.fixture
    def outbound(self, mailbox: Mailbox) -> Iterator[MysqlOutbound]:
        with closing(MysqlOutbound.open(mailbox.url, zone=ZONE, clock=mailbox.clock)) as outbound:
            yield outbound
