"""A bus on a mock cluster, and what its tests say again and again."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from attrs import frozen

from msgx_adapters.bus_kafka import KafkaBus
from msgx_core.errors import Transient
from msgx_core.ports.bus import BusRecord, Delivery
from services.kafka import MockCluster, read, topic_name

TIMEOUT_S = 2.0
MAX_BYTES = 100_000
OK = Delivery()


@frozen
class Bench:
    """A cluster, a topic and a bus."""

    cluster: MockCluster
    topic: str
    bus: KafkaBus

    def records(self, *values: int, key: str | None = "1") -> list[BusRecord]:
        return [BusRecord(self.topic, key, str(value).encode()) for value in values]

    def publish(self, *values: int) -> Sequence[Delivery]:
        return self.bus.publish(self.records(*values))

    def arrived(self) -> list[Any]:
        return [value for _, value in read(self.cluster.servers, self.topic)]


@contextmanager
def benched(
    cluster: MockCluster, options: str = "linger.ms=20", timeout_s: float = TIMEOUT_S
) -> Iterator[Bench]:
    """A bench that puts a batch of one partition into one request.

    The mock brokers do not compare sequence numbers as Kafka does. When one of two requests fails and is
    sent again while the other one goes on, Kafka refuses the other; they take it, and the client, which
    trusts them, confirms a record that is lost.
    """
    topic = topic_name()
    cluster.create(topic)
    url = f"kafka://{cluster.servers}?{options}"
    bus = KafkaBus.open(url, max_bytes=MAX_BYTES, timeout_s=timeout_s, topics=[topic])
    bench = Bench(cluster, topic, bus)
    try:
        yield bench
    finally:
        bus.close()


def relayed(bus: KafkaBus, records: Sequence[BusRecord]) -> None:
    """Sent again and again, as a relay does, until all of it is confirmed."""
    for _ in range(20):
        try:
            assert list(bus.publish(records)) == [OK] * len(records)
        except Transient:
            time.sleep(0.2)
        else:
            return
    pytest.fail("never confirmed")


def in_order(values: Sequence[int]) -> bool:
    """Whether nothing older comes behind something newer; the same again is at-least-once."""
    return list(values) == sorted(values)
