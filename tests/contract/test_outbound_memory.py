"""Outbound rows in memory keep the contract."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from msgx_adapters.outbound_memory import MemoryOutbound
from msgx_core.testing.clock import ManualClock
from msgx_core.testing.outbound_contract import ZONE, OutboundContract


class Mailbox:
    def __init__(self) -> None:
        self.clock = ManualClock()
        self.outbound = MemoryOutbound(zone=ZONE, clock=self.clock)

    def put(self, text: str, inserted: str) -> int:
        return self.outbound.put(text, inserted)

    def rows(self) -> Sequence[tuple[int, str, str, str]]:
        return [(row.row_id, row.text, row.inserted, row.routing_id) for row in self.outbound.rows()]

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.outbound.outage = "cable cut"
        yield
        self.outbound.outage = None


class TestMemoryOutbound(OutboundContract):
    @pytest.fixture
    def mailbox(self) -> Mailbox:
        return Mailbox()

    @pytest.fixture
    def outbound(self, mailbox: Mailbox) -> MemoryOutbound:
        return mailbox.outbound
