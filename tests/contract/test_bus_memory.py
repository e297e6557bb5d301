"""The bus in memory keeps the contract."""

import itertools
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from msgx_adapters.bus_memory import MemoryBus
from msgx_core.testing.bus_contract import BusContract


class Broker:
    def __init__(self) -> None:
        self.bus = MemoryBus()
        self._names = (f"topic-{n}" for n in itertools.count())

    def topic(self) -> str:
        return next(self._names)

    def records(self, topic: str) -> Sequence[tuple[str | None, Any]]:
        return [(r.key, json.loads(r.value)) for r in self.bus.records if r.topic == topic]

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.bus.outage = "cable cut"
        yield
        self.bus.outage = None


class TestMemoryBus(BusContract):
    @pytest.fixture
    def broker(self) -> Broker:
        return Broker()

    @pytest.fixture
    def bus(self, broker: Broker) -> MemoryBus:
        return broker.bus
