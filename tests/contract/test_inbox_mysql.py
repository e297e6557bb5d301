"""The mailbox in MySQL keeps the contract; what needs no INSERT also with the rights of production."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from msgx_adapters.inbox_mysql import MysqlInbox
from msgx_core.ports.codec import RawText
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.inbox_contract import ZERO_DATE, ZONE, InboxContract, MarkCases
from services.mysql import RIGHTS, Database, database


class Mailbox:
    """The owner, on a connection of its own."""

    keeps_bytes = False
    empty_marks = (ZERO_DATE,)

    def __init__(self, server: Database, *rights: str) -> None:
        self.clock = ManualClock()
        self.server = server
        self.url = server.user(*rights)

    def _cell(self, column: str, msg_id: int) -> str | None:
        return self.server.value(f"SELECT {column} FROM CMINMSGS WHERE CMINMSGS_ID = %s", msg_id)

    def put(
        self,
        raw: RawText | None,
        *,
        msg_id: int | None = None,
        received: str | None = None,
        processed: str | None = None,
    ) -> int:
        new = self.server.insert(
            "INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED,"
            " CMINMSGS_DATE_PROCESSED, CMINMSGS_STATUS) VALUES (%s, %s, %s, %s, 'NEW')",
            *(msg_id, raw, received, processed),
        )
        return msg_id or new

    def delete(self, msg_id: int) -> None:
        self.server.run("DELETE FROM CMINMSGS WHERE CMINMSGS_ID = %s", msg_id)

    def raw(self, msg_id: int) -> RawText | None:
        return self._cell("CMINMSGS_CLOB_MSG", msg_id)

    def received(self, msg_id: int) -> str | None:
        return self._cell("CMINMSGS_DATE_RECEIVED", msg_id)

    def processed(self, msg_id: int) -> str | None:
        return self._cell("CMINMSGS_DATE_PROCESSED", msg_id)

    def refuse_mark(self, msg_id: int) -> None:
        self.server.run(
            f"CREATE TRIGGER refuse BEFORE UPDATE ON CMINMSGS FOR EACH ROW IF old.CMINMSGS_ID = {msg_id}"
            " THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'not this one'; END IF"
        )

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.server.lock_out(self.url)
        yield
        self.server.let_in(self.url)


def opened(mailbox: Mailbox) -> MysqlInbox:
    return MysqlInbox.open(mailbox.url, zone=ZONE, clock=mailbox.clock)


class TestMysqlInbox(InboxContract):
    @pytest.fixture
    def mailbox(self) -> Iterator[Mailbox]:
        with database() as server:
            yield Mailbox(server, *RIGHTS, "INSERT ON {}.CMINMSGS")

    @pytest.fixture
    def inbox(self, mailbox: Mailbox) -> Iterator[MysqlInbox]:
        with closing(opened(mailbox)) as inbox:
            yield inbox


class TestWithTheRightsOfProduction(MarkCases):
    """Reading and marking with SELECT and UPDATE of one column, as `grants.sql` has it."""

    @pytest.fixture
    def mailbox(self) -> Iterator[Mailbox]:
        with database() as server:
            yield Mailbox(server, *RIGHTS)

    @pytest.fixture
    def inbox(self, mailbox: Mailbox) -> Iterator[MysqlInbox]:
        with closing(opened(mailbox)) as inbox:
            yield inbox
