"""Outbound rows in a SQLite file keep the contract, beside the inbox's table."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from msgx_adapters.inbox_sqlite import SqliteInbox
from msgx_adapters.outbound_sqlite import SqliteOutbound
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.outbound_contract import ZONE, OutboundContract


class Mailbox:
    """The owner: a connection of its own for each statement."""

    def __init__(self, path: Path) -> None:
        self.clock = ManualClock()
        self.path = path

    def put(self, text: str, inserted: str) -> int:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            cursor = connection.execute(
                "INSERT INTO COUTMSGS (COUTMSGS_CLOB_MSG, COUTMSGS_DATE_INSERTED, ROUTINGID)"
                " VALUES (?, ?, 'X')",
                (text, inserted),
            )
            return cursor.lastrowid or 0

    def rows(self) -> Sequence[tuple[int, str, str, str]]:
        with closing(sqlite3.connect(self.path)) as connection:
            return connection.execute(
                "SELECT COUTMSGS_ID, COUTMSGS_CLOB_MSG, COUTMSGS_DATE_INSERTED, ROUTINGID FROM COUTMSGS"
                " WHERE COUTMSGS_DATE_SENT IS NULL ORDER BY 1"
            ).fetchall()

    @contextmanager
    def outage(self) -> Iterator[None]:
        away = self.path.with_suffix(".away")
        self.path.rename(away)
        yield
        away.rename(self.path)


class TestSqliteOutbound(OutboundContract):
    @pytest.fixture
    def mailbox(self, tmp_path: Path) -> Mailbox:
        mailbox = Mailbox(tmp_path / "mailbox.db")
        SqliteInbox.open(mailbox.path, zone=ZONE, clock=mailbox.clock, create=True).close()
        return mailbox

    @pytest.fixture
    def outbound(self, mailbox: Mailbox) -> Iterator[SqliteOutbound]:
        with closing(SqliteOutbound.open(mailbox.path, zone=ZONE, clock=mailbox.clock)) as outbound:
            yield outbound
