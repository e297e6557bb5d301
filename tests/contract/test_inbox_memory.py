"""The mailbox in memory keeps the contract."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from msgx_adapters.inbox_memory import MemoryInbox, Row
from msgx_core.ports.codec import RawText
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.inbox_contract import ZERO_DATE, ZONE, InboxContract


class Mailbox:
    keeps_bytes = True
    empty_marks = ("", ZERO_DATE)

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.inbox = MemoryInbox(zone=ZONE, clock=self.clock)

    def _row(self, msg_id: int) -> Row:
        return next(row for row in self.inbox.rows() if row.msg_id == msg_id)

    def put(
        self,
        raw: RawText | None,
        *,
        msg_id: int | None = None,
        received: str | None = None,
        processed: str | None = None,
    ) -> int:
        if msg_id is None:
            msg_id = max((row.msg_id for row in self.inbox.rows()), default=0) + 1
        return self.inbox.insert(msg_id, raw, received=received, processed=processed)

    def delete(self, msg_id: int) -> None:
        self.inbox.delete(msg_id)

    def raw(self, msg_id: int) -> RawText | None:
        return self._row(msg_id).raw

    def received(self, msg_id: int) -> str | None:
        return self._row(msg_id).received

    def processed(self, msg_id: int) -> str | None:
        return self._row(msg_id).processed

    def refuse_mark(self, msg_id: int) -> None:
        self.inbox.refuse_marks[msg_id] = "locked by the owner"

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.inbox.outage = "cable cut"
        yield
        self.inbox.outage = None


class TestMemoryInbox(InboxContract):
    @pytest.fixture
    def mailbox(self) -> Mailbox:
        return Mailbox()

    @pytest.fixture
    def inbox(self, mailbox: Mailbox) -> MemoryInbox:
        return mailbox.inbox
