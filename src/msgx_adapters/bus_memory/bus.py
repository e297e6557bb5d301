"""The event bus in memory: for tests and embedding, with outages and refusals on demand (IMP §8)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from typing import NoReturn

from msgx_core.errors import Transient
from msgx_core.ports.bus import BusRecord, Delivery


class MemoryBus:
    """Implements `Bus`. Thread-safe; a batch is published as one.

    `records` is what was taken, in order. While `outage` has a text, every call but `close` raises
    `Transient` with it. `refuse` gives a code for a record that the bus shall not take, else None.
    """

    def __init__(
        self, *, max_bytes: int = 1_000_000, refuse: Callable[[BusRecord], str | None] | None = None
    ) -> None:
        self.max_bytes = max_bytes
        self.refuse = refuse
        self.outage: str | None = None
        self.records: list[BusRecord] = []
        self._guard = threading.Lock()
        self._closed = False

    def publish(self, records: Sequence[BusRecord]) -> Sequence[Delivery]:
        """Take the records; results in their order."""
        with self._guard:
            self._answer()
            codes = [self._refusal(record) for record in records]
            self.records += [record for record, code in zip(records, codes, strict=True) if code is None]
        return [Delivery(code) for code in codes]

    def check_topics(self) -> None:
        """Topics make themselves here."""

    def ping(self) -> None:
        """Return, unless there is an outage."""
        with self._guard:
            self._answer()

    def close(self) -> None:
        """Answer no more. Idempotent."""
        with self._guard:
            self._closed = True

    def of(self, topic: str) -> tuple[BusRecord, ...]:
        """What a topic has, in order, for inspection."""
        with self._guard:
            return tuple(record for record in self.records if record.topic == topic)

    def _answer(self) -> None:
        if self.outage is not None:
            raise Transient("bus", self.outage)
        if self._closed:
            raise Transient("bus", "closed")

    def _refusal(self, record: BusRecord) -> str | None:
        if len(record.value) > self.max_bytes:
            return "too-large"
        try:
            json.loads(record.value.decode(), parse_constant=_no_constant)
        except (ValueError, RecursionError):
            return "refused:not-json"
        return self.refuse(record) if self.refuse else None


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
