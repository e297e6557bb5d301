"""Order per key whatever happens: outages, slow brokers, fatal errors (D-28, issue 3)."""

import random
import threading
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaError

from msgx_core.errors import Transient
from msgx_core.ports.bus import BusRecord
from services.kafka import INIT_PRODUCER_ID, PRODUCE, MockCluster, make_fatal, mock_cluster, read
from services.kafka_bench import OK, TIMEOUT_S, Bench, benched, in_order


@pytest.fixture
def cluster() -> Iterator[MockCluster]:
    with mock_cluster() as made:
        yield made


@pytest.fixture
def bench(cluster: MockCluster) -> Iterator[Bench]:
    with benched(cluster) as made:
        made.bus.publish([BusRecord(made.topic, "warm", b"0")])
        yield made


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


DEEP = [pytest.param(seed, marks=pytest.mark.deep) for seed in range(3, 40)]


@pytest.mark.parametrize("seed", [0, 1, 2, *DEEP])
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
