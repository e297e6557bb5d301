"""The mailbox in a SQLite file keeps the contract."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from msgx_adapters.inbox_sqlite import SqliteInbox
from msgx_core.ports.codec import RawText
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.inbox_contract import ZERO_DATE, ZONE, InboxContract


class Mailbox:
    """The owner: a connection of its own for each statement, with the names of the real table."""

    keeps_bytes = True
    empty_marks = ("", ZERO_DATE)

    def __init__(self, path: Path) -> None:
        self.clock = ManualClock()
        self.path = path

    def _run(self, sql: str, *values: object) -> tuple[int | None, list[Any]]:
        with closing(sqlite3.connect(self.path, timeout=10)) as connection, connection:
            cursor = connection.execute(sql, values)
            return cursor.lastrowid, cursor.fetchall()

    def _value(self, column: str, msg_id: int) -> Any:
        _, rows = self._run(f"SELECT {column} FROM CMINMSGS WHERE CMINMSGS_ID = ?", msg_id)
        return rows[0][0]

    def put(
        self,
        raw: RawText | None,
        *,
        msg_id: int | None = None,
        received: str | None = None,
        processed: str | None = None,
    ) -> int:
        new_id, _ = self._run(
            "INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED,"
            " CMINMSGS_DATE_PROCESSED, CMINMSGS_STATUS) VALUES (?, ?, ?, ?, 'NEW')",
            *(msg_id, raw, received, processed),
        )
        assert new_id is not None
        return new_id

    def delete(self, msg_id: int) -> None:
        self._run("DELETE FROM CMINMSGS WHERE CMINMSGS_ID = ?", msg_id)

    def raw(self, msg_id: int) -> RawText | None:
        value: RawText | None = self._value("CMINMSGS_CLOB_MSG", msg_id)
        return value

    def received(self, msg_id: int) -> str | None:
        value: str | None = self._value("CMINMSGS_DATE_RECEIVED", msg_id)
        return value

    def processed(self, msg_id: int) -> str | None:
        value: str | None = self._value("CMINMSGS_DATE_PROCESSED", msg_id)
        return value

    def refuse_mark(self, msg_id: int) -> None:
        self._run(
            f"CREATE TRIGGER refuse BEFORE UPDATE ON CMINMSGS WHEN old.CMINMSGS_ID = {msg_id}"
            " BEGIN SELECT RAISE(ROLLBACK, 'not this one'); END"
        )

    @contextmanager
    def outage(self) -> Iterator[None]:
        away = self.path.with_suffix(".away")
        self.path.rename(away)
        yield
        away.rename(self.path)


class TestSqliteInbox(InboxContract):
    @pytest.fixture
    def mailbox(self, tmp_path: Path) -> Mailbox:
        return Mailbox(tmp_path / "mailbox.db")

    @pytest.fixture
    def inbox(self, mailbox: Mailbox) -> Iterator[SqliteInbox]:
        with closing(SqliteInbox.open(mailbox.path, zone=ZONE, clock=mailbox.clock, create=True)) as inbox:
            yield inbox
