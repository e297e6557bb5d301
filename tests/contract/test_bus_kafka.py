"""The bus on Kafka keeps the contract: on the mock cluster, and on a broker process or your cluster.

Your cluster is `MSGX_TEST_KAFKA`, a `kafka://` URL; topics `msgx-test-…` are made there.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from attrs import frozen

from msgx_adapters.bus_kafka import KafkaBus
from msgx_core.testing.bus_contract import BusContract
from services.base import NotHere, PrivateServer, unavailable
from services.kafka import (
    KAFKA,
    MockCluster,
    create_topics,
    mock_cluster,
    private_kafka,
    read,
    servers_of,
    topic_name,
)

TIMEOUT_S = 2.0
MAX_BYTES = 1_000_000


def opened(url: str) -> Iterator[KafkaBus]:
    bus = KafkaBus.open(url, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S)
    yield bus
    bus.close()


@frozen
class Mock:
    """Brokers that go down and come up."""

    cluster: MockCluster

    def topic(self) -> str:
        name = topic_name()
        self.cluster.create(name)
        return name

    def records(self, topic: str) -> Sequence[tuple[str | None, Any]]:
        return read(self.cluster.servers, topic)

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.cluster.down()
        yield
        self.cluster.up()


@pytest.fixture(scope="module")
def cluster() -> Iterator[MockCluster]:
    with mock_cluster() as made:
        yield made


class TestKafkaBusOnMock(BusContract):
    @pytest.fixture
    def broker(self, cluster: MockCluster) -> Mock:
        return Mock(cluster)

    @pytest.fixture
    def bus(self, broker: Mock) -> Iterator[KafkaBus]:
        yield from opened(f"kafka://{broker.cluster.servers}")


@frozen
class Broker:
    """A broker of ours is frozen in an outage: connections stay open, nothing answers."""

    url: str
    server: PrivateServer | None

    def topic(self) -> str:
        name = topic_name()
        create_topics(servers_of(self.url), [name])
        return name

    def records(self, topic: str) -> Sequence[tuple[str | None, Any]]:
        return read(servers_of(self.url), topic)

    @contextmanager
    def outage(self) -> Iterator[None]:
        if self.server is None:
            pytest.skip("your cluster is not ours to stop")
        self.server.freeze()
        yield
        self.server.thaw()


@pytest.fixture(scope="module")
def a_broker() -> Iterator[Broker]:
    if KAFKA.variable in os.environ:
        with KAFKA.found() as url:
            yield Broker(url, None)
        return
    try:
        with private_kafka() as made:
            yield Broker(made.url, made.server)
    except NotHere as why:
        unavailable("Kafka", str(why))


class TestKafkaBusOnBroker(BusContract):
    @pytest.fixture
    def broker(self, a_broker: Broker) -> Broker:
        return a_broker

    @pytest.fixture
    def bus(self, broker: Broker) -> Iterator[KafkaBus]:
        yield from opened(broker.url)
