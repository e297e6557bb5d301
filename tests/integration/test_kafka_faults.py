"""The bus when brokers fail or refuse, as the mock cluster can be told, and when a real one dies (D-04)."""

import threading
import time
from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import KafkaError

from msgx_adapters.bus_kafka import KafkaBus
from msgx_core.errors import ConfigError, Transient
from msgx_core.ports.bus import BusRecord, Delivery
from services.base import NotHere, unavailable
from services.kafka import (
    PRODUCE,
    MockCluster,
    PrivateKafka,
    create_topics,
    mock_cluster,
    private_kafka,
    read,
    topic_name,
    topics,
)
from services.kafka_bench import MAX_BYTES, OK, TIMEOUT_S, Bench, benched, relayed


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with mock_cluster() as made:
        yield made


@pytest.fixture
def bench(cluster: MockCluster) -> Iterator[Bench]:
    with benched(cluster) as made:
        made.bus.publish([BusRecord(made.topic, "warm", b"0")])
        yield made


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
def test_a_refusal_stays_with_its_record(cluster: MockCluster, error: int, code: str) -> None:
    """D-26: the broker refuses a batch for one record of it. `flush()` alone would have been success."""
    with benched(cluster) as bench:
        bench.publish(0)
        bench.cluster.fail(PRODUCE, error, error)
        assert bench.publish(1, 2, 3) == [Delivery(code), OK, OK]
        bench.cluster.heal(PRODUCE)
        assert [v for v in bench.arrived() if v] == [2, 3]
        assert bench.publish(4) == [OK]


def test_a_refused_record_does_not_go_behind_a_later_one(bench: Bench) -> None:
    """The contract: records of a key arrive in their order, those that arrive."""
    with benched(bench.cluster, "batch.num.messages=1&max.in.flight=1") as single:
        single.bus.publish([BusRecord(single.topic, "warm", b"0")])
        single.cluster.fail(PRODUCE, KafkaError.INVALID_RECORD)
        assert single.publish(1, 2) == [Delivery("refused:INVALID_RECORD"), OK]
        assert [v for v in single.arrived() if v] == [2]


@pytest.mark.parametrize("error", [KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.UNKNOWN_TOPIC_OR_PART])
def test_a_topic_that_refuses_all_is_an_outage(cluster: MockCluster, error: int) -> None:
    """D-04: nothing is counted, the cause is named, and all go out when it is put right."""
    with benched(cluster, "linger.ms=20&topic.metadata.refresh.interval.ms=300") as bench:
        assert bench.publish(0) == [OK]
        bench.cluster.fail(PRODUCE, *[error] * 60)
        with pytest.raises(Transient, match=f"{bench.topic}: . of 2 records not confirmed") as caught:
            bench.publish(1, 2)
        assert bench.cluster.servers in str(caught.value)
        bench.cluster.heal(PRODUCE)
        relayed(bench.bus, bench.records(1, 2))
        assert [v for v in bench.arrived() if v] == [1, 2]


def test_what_is_too_large_for_us_never_travels(bench: Bench) -> None:
    """D-29: among small ones, and in company of one that just fits."""
    large = BusRecord(bench.topic, "1", b'"' + b"x" * (MAX_BYTES - 2) + b'"')
    larger = BusRecord(bench.topic, "1", b'"' + b"x" * (MAX_BYTES - 1) + b'"')
    small = bench.records(1, 2, 3)
    sent = [small[0], larger, small[1], large, larger, small[2]]
    assert bench.bus.publish(sent) == [OK, Delivery("too-large"), OK, OK, Delivery("too-large"), OK]
    assert [v if isinstance(v, int) else len(v) for v in bench.arrived() if v] == [1, 2, MAX_BYTES - 2, 3]


def test_a_short_outage_is_waited_for(cluster: MockCluster) -> None:
    """Brokers away for less than the timeout."""
    with benched(cluster, timeout_s=15.0) as bench:
        cluster.down()
        back = threading.Timer(0.4, cluster.up)
        back.start()
        assert bench.publish(1, 2, 3) == [OK] * 3
        back.join()
        assert bench.arrived() == [1, 2, 3]


def test_a_queue_that_is_full_is_waited_for(cluster: MockCluster) -> None:
    with benched(cluster, "queue.buffering.max.messages=7") as bench:
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


def test_a_closed_bus_asks_nobody(bench: Bench) -> None:
    """Also one that has asked before."""
    bench.bus.check_topics()
    bench.bus.close()
    for call in (bench.bus.check_topics, bench.bus.ping):
        with pytest.raises(Transient, match="closed"):
            call()


@pytest.fixture
def kafka() -> Iterator[PrivateKafka]:
    try:
        with private_kafka() as made:
            yield made
    except NotHere as why:
        unavailable("Kafka", str(why))


def test_asking_for_a_topic_does_not_make_it(kafka: PrivateKafka) -> None:
    """Issue 3: this broker makes topics for any producer that names one, with partitions nobody chose."""
    topic = topic_name()
    with closing(KafkaBus.open(kafka.url, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, topics=[topic])) as bus:
        bus.ping()
        start = time.monotonic()
        with pytest.raises(ConfigError, match=f"{topic} on {kafka.servers} cannot be used: make it first"):
            bus.check_topics()
        assert time.monotonic() - start < TIMEOUT_S
        assert topics(kafka.servers) == set()
        create_topics(kafka.servers, [topic])
        bus.check_topics()
        assert topics(kafka.servers) == {topic}


def test_a_broker_process_is_killed_and_comes_back(kafka: PrivateKafka) -> None:
    """D-04, on a real process, which comes back without its topics and without knowing our producer."""
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
    relayed(bus, sent)
    assert read(kafka.servers, topic) == [("1", 1), ("1", 2)]
    bus.close()
