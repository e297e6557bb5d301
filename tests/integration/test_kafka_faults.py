"""The bus when brokers fail, refuse, are slow or away, as the mock cluster can be told (D-04, D-28)."""

import random
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from attrs import frozen
from confluent_kafka import KafkaError

from msgx_adapters.bus_kafka import KafkaBus
from msgx_core.errors import ConfigError, Transient
from msgx_core.ports.bus import BusRecord, Delivery
from services.base import NotHere, unavailable
from services.kafka import (
    INIT_PRODUCER_ID,
    PRODUCE,
    MockCluster,
    PrivateKafka,
    create_topics,
    make_fatal,
    mock_cluster,
    private_kafka,
    read,
    topic_name,
)

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
def benched(cluster: MockCluster, options: str = "", timeout_s: float = TIMEOUT_S) -> Iterator[Bench]:
    topic = topic_name()
    cluster.create(topic)
    url = f"kafka://{cluster.servers}{options}"
    bus = KafkaBus.open(url, max_bytes=MAX_BYTES, timeout_s=timeout_s, topics=[topic])
    bench = Bench(cluster, topic, bus)
    try:
        yield bench
    finally:
        bus.close()


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with mock_cluster() as made:
        yield made


@pytest.fixture
def bench(cluster: MockCluster) -> Iterator[Bench]:
    with benched(cluster) as made:
        made.bus.publish([BusRecord(made.topic, "warm", b"0")])
        yield made


def in_order(values: Sequence[int]) -> bool:
    """Whether nothing older comes behind something newer; the same again is at-least-once."""
    return list(values) == sorted(values)


@pytest.mark.parametrize(
    "errors",
    [
        (KafkaError.NOT_LEADER_FOR_PARTITION,),
        (KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_ENOUGH_REPLICAS),
        (KafkaError.REQUEST_TIMED_OUT,),
        (KafkaError._TRANSPORT, KafkaError._TRANSPORT),
        (KafkaError.KAFKA_STORAGE_ERROR,),
    ],
)
def test_what_passes_is_retried_in_here(bench: Bench, errors: tuple[int, ...]) -> None:
    """R-355: nobody notices, nothing is doubled."""
    bench.cluster.fail(PRODUCE, *errors)
    assert bench.publish(1, 2, 3) == [OK] * 3
    assert bench.publish(4) == [OK]
    assert [v for v in bench.arrived() if v] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KafkaError.MSG_SIZE_TOO_LARGE, "too-large"),
        (KafkaError.INVALID_RECORD, "refused:INVALID_RECORD"),
        (KafkaError.UNKNOWN, "refused:UNKNOWN"),
    ],
)
def test_a_refusal_stays_with_its_record(bench: Bench, error: int, code: str) -> None:
    """D-26: the broker refuses a batch for one record of it. `flush()` alone would have been success."""
    bench.cluster.fail(PRODUCE, error, error)
    assert bench.publish(1, 2, 3) == [Delivery(code), OK, OK]
    bench.cluster.heal(PRODUCE)
    assert [v for v in bench.arrived() if v] == [2, 3]
    assert bench.publish(4) == [OK]


def test_a_refused_record_does_not_go_behind_a_later_one(bench: Bench) -> None:
    """The contract: records of a key arrive in their order, those that arrive."""
    with benched(bench.cluster, "?batch.num.messages=1&max.in.flight=1") as single:
        single.bus.publish([BusRecord(single.topic, "warm", b"0")])
        single.cluster.fail(PRODUCE, KafkaError.INVALID_RECORD)
        assert single.publish(1, 2) == [Delivery("refused:INVALID_RECORD"), OK]
        assert [v for v in single.arrived() if v] == [2]


@pytest.mark.parametrize("error", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.UNKNOWN_TOPIC_OR_PART])
def test_a_topic_that_refuses_all_is_an_outage(bench: Bench, error: int) -> None:
    """D-04: nothing is counted, the cause is named, and all go out when it is put right."""
    bench.cluster.fail(PRODUCE, *[error] * 60)
    with pytest.raises(Transient, match=f"{bench.topic}: . of 2 records not confirmed") as caught:
        bench.publish(1, 2)
    assert bench.cluster.servers in str(caught.value)
    bench.cluster.heal(PRODUCE)
    assert bench.publish(1, 2) == [OK, OK]
    assert in_order(bench.arrived())


def test_what_is_too_large_for_us_never_travels(bench: Bench) -> None:
    """D-29: among small ones, and in company of one that just fits."""
    large = BusRecord(bench.topic, "1", b'"' + b"x" * (MAX_BYTES - 2) + b'"')
    larger = BusRecord(bench.topic, "1", b'"' + b"x" * (MAX_BYTES - 1) + b'"')
    small = bench.records(1, 2, 3)
    sent = [small[0], larger, small[1], large, larger, small[2]]
    assert bench.bus.publish(sent) == [OK, Delivery("too-large"), OK, OK, Delivery("too-large"), OK]
    assert [v if isinstance(v, int) else len(v) for v in bench.arrived() if v] == [1, 2, MAX_BYTES - 2, 3]


def test_a_short_outage_is_waited_for(bench: Bench) -> None:
    """Brokers away for less than the timeout."""
    bench.cluster.down()
    back = threading.Timer(0.4, bench.cluster.up)
    back.start()
    assert bench.publish(1, 2, 3) == [OK] * 3
    back.join()
    assert [v for v in bench.arrived() if v] == [1, 2, 3]


def test_a_long_outage_leaves_nothing_behind(bench: Bench) -> None:
    """D-28: what was given up is not sent later by itself, and a retry is not overtaken."""
    bench.cluster.down()
    start = time.monotonic()
    with pytest.raises(Transient, match="3 of 3"):
        bench.publish(1, 2, 3)
    assert time.monotonic() - start < TIMEOUT_S + 0.5
    bench.cluster.up()
    bench.bus.ping()
    time.sleep(1)
    assert [v for v in bench.arrived() if v] == []
    assert bench.publish(1, 2, 3) == [OK] * 3
    assert [v for v in bench.arrived() if v] == [1, 2, 3]


@pytest.mark.parametrize("hurry", [False, True])
def test_what_was_only_slow_is_doubled_in_order(bench: Bench, hurry: bool) -> None:
    """Given up in flight by the client's own timeout, or (hurry) by ours: there twice, and in order."""
    if hurry:
        bench.bus._timeout_s = 0.3
    bench.cluster.slow(3_000)
    with pytest.raises(Transient):
        bench.publish(1, 2)
    bench.cluster.slow(0)
    bench.bus._timeout_s = TIMEOUT_S
    for values in [(1, 2), (3,), (4,)]:
        assert bench.publish(*values) == [OK] * len(values)
    assert [v for v in bench.arrived() if v] == [1, 2, 1, 2, 3, 4]


def test_the_producer_is_kept_through_outages(bench: Bench) -> None:
    """Its producer id and epoch are what makes a broker refuse leftovers."""
    producer = bench.bus._courier._producer
    bench.cluster.down()
    with pytest.raises(Transient):
        bench.publish(1)
    bench.cluster.up()
    bench.publish(1)
    assert bench.bus._courier._producer is producer


def test_one_broker_away_is_an_outage_of_the_batch(bench: Bench) -> None:
    """The contract: nothing is known about the batch; sent again, each key is in order."""
    bench.cluster.down(2)
    batch = [BusRecord(bench.topic, str(key), b"1") for key in range(20)]
    with pytest.raises(Transient, match="of 20 records not confirmed"):
        bench.bus.publish(batch)
    bench.cluster.up(2)
    assert bench.bus.publish(batch) == [OK] * 20
    assert bench.bus.publish([BusRecord(bench.topic, str(key), b"2") for key in range(20)]) == [OK] * 20
    found = read(bench.cluster.servers, bench.topic)
    for key in range(20):
        values = [value for k, value in found if k == str(key)]
        assert set(values) == {1, 2}
        assert in_order(values)


def test_a_fatal_error_is_survived_with_a_new_producer(bench: Bench) -> None:
    """Issue 3: it goes on at the first event that is not confirmed."""
    assert bench.publish(1) == [OK]
    make_fatal(bench.bus._courier._producer)
    with pytest.raises(Transient, match="_FATAL"):
        bench.publish(2, 3)
    assert bench.publish(2, 3) == [OK, OK]
    assert [v for v in bench.arrived() if v] == [1, 2, 3]


def test_what_is_in_flight_at_a_fatal_error_is_waited_for(bench: Bench) -> None:
    """So that nothing of the old producer is left when a new one goes on."""
    bench.cluster.slow(500)
    told = threading.Timer(0.2, lambda: make_fatal(bench.bus._courier._producer))
    told.start()
    assert bench.publish(1) == [OK]
    told.join()
    bench.cluster.slow(0)
    assert bench.publish(2, 3) == [OK, OK]
    assert [v for v in bench.arrived() if v] == [1, 2, 3]


def test_no_right_to_be_idempotent_is_an_outage(cluster: MockCluster) -> None:
    """Fatal from the beginning, until someone gives us the right."""
    cluster.fail(INIT_PRODUCER_ID, *[KafkaError.CLUSTER_AUTHORIZATION_FAILED] * 3)
    with benched(cluster) as bench:
        with pytest.raises(Transient, match=r"(?i)cluster authorization failed"):
            bench.publish(1)
        cluster.heal(INIT_PRODUCER_ID)
        assert bench.publish(1) == [OK]


def test_a_queue_that_is_full_is_waited_for(cluster: MockCluster) -> None:
    with benched(cluster, "?queue.buffering.max.messages=7") as bench:
        assert bench.publish(*range(200)) == [OK] * 200
        assert bench.arrived() == list(range(200))
        cluster.down()
        with pytest.raises(Transient, match="of 200"):
            bench.publish(*range(200))


def test_closing_does_not_wait_for_brokers_that_are_away(bench: Bench) -> None:
    """Issue 3: the daemon ends in 10 s."""
    bench.cluster.down()
    caught: list[Transient] = []

    def publish() -> None:
        try:
            bench.publish(1)
        except Transient as error:
            caught.append(error)

    thread = threading.Thread(target=publish)
    thread.start()
    time.sleep(0.2)
    start = time.monotonic()
    bench.bus.close()
    assert time.monotonic() - start < TIMEOUT_S + 0.5
    thread.join()
    assert len(caught) == 1


def test_the_topics_are_checked(bench: Bench) -> None:
    """Issue 3: a clear message names topic and brokers."""
    bench.bus.check_topics()
    for error, says in [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "is not for this account"),
        (KafkaError.UNKNOWN_TOPIC_OR_PART, "make it first"),
    ]:
        bench.cluster.fail_topic(bench.topic, error)
        with pytest.raises(ConfigError, match=f"{bench.topic} on {bench.cluster.servers} .*{says}"):
            bench.bus.check_topics()
    bench.cluster.fail_topic(bench.topic, 0)
    bench.cluster.down()
    with pytest.raises(Transient, match=bench.cluster.servers):
        bench.bus.check_topics()


@pytest.mark.parametrize("seed", range(3))
def test_order_holds_whatever_happens(bench: Bench, seed: int) -> None:
    """D-28: a relay's batches, one event per flight in flight, through random faults."""
    chance = random.Random(seed)
    bench.bus._timeout_s = 1.0
    faults = [
        lambda: bench.cluster.fail(PRODUCE, KafkaError._TRANSPORT, KafkaError.NOT_LEADER_FOR_PARTITION),
        lambda: bench.cluster.fail(PRODUCE, KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER),
        lambda: bench.cluster.fail(PRODUCE, KafkaError.INVALID_RECORD, KafkaError.INVALID_RECORD),
        lambda: bench.cluster.lead(bench.topic, chance.randrange(4), chance.randrange(1, 4)),
        lambda: bench.cluster.slow(1_200),
        lambda: bench.cluster.down(chance.choice([-1, 1, 2])),
        lambda: make_fatal(bench.bus._courier._producer),
    ]
    next_event = dict.fromkeys(map(str, range(6)), 1)
    for _ in range(12):
        if chance.random() < 0.5:
            chance.choice(faults)()
        batch = [BusRecord(bench.topic, key, str(n).encode()) for key, n in next_event.items()]
        try:
            results = bench.bus.publish(batch)
        except Transient:
            bench.cluster.up()
            bench.cluster.slow(0)
            continue
        for record, result in zip(batch, results, strict=True):
            next_event[str(record.key)] += result.ok
    found = read(bench.cluster.servers, bench.topic)
    for key, n in next_event.items():
        values = [value for k, value in found if k == key]
        assert in_order(values)
        assert {*range(1, n)} <= {*values} <= {*range(1, n + 1)}


@pytest.fixture
def kafka() -> Iterator[PrivateKafka]:
    try:
        with private_kafka() as made:
            yield made
    except NotHere as why:
        unavailable("Kafka", str(why))


def test_a_broker_process_is_killed_and_comes_back(kafka: PrivateKafka) -> None:
    """D-04, on a real process, which forgets its topics: that is an outage too until they are made."""
    topic = topic_name()
    bus = KafkaBus.open(kafka.url, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, topics=[topic])
    create_topics(kafka.servers, [topic])
    bus.check_topics()
    sent = [BusRecord(topic, "1", b"1"), BusRecord(topic, "1", b"2")]
    assert bus.publish(sent) == [OK, OK]
    kafka.server.kill()
    for call in (lambda: bus.publish(sent), bus.ping, bus.check_topics):
        with pytest.raises(Transient, match=kafka.servers):
            call()
    kafka.server.start()
    create_topics(kafka.servers, [topic])
    assert bus.publish(sent) == [OK, OK]
    assert read(kafka.servers, topic) == [("1", 1), ("1", 2)]
    bus.close()
