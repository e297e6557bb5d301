"""Brokers that fail under load: what passes, what refuses one record, what kills a producer (D-04, D-28)."""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from attrs import frozen
from confluent_kafka import KafkaError

from msgx_adapters.bus_kafka import KafkaBus
from msgx_core.model.events import EventStatus
from processes import Served, memory_settings, served, wait_for
from services.kafka import METADATA, PRODUCE, MockCluster, make_fatal, mock_cluster, read, topic_name
from under_load import beside
from wire import flop, gate

FLIGHTS = 8
PASSING = (
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_ENOUGH_REPLICAS,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError._TRANSPORT,
)
REFUSING = (KafkaError.INVALID_RECORD, KafkaError.UNKNOWN)


@frozen
class Airport:
    """A daemon whose bus is a mock cluster, and who sends it messages."""

    cluster: MockCluster
    daemon: Served
    msg: str
    sent: list[int]

    def one_more(self) -> None:
        """Another change of one of a few flights."""
        flid = 100 + len(self.sent) % FLIGHTS
        raw = flop(flid, "GTDT", gate(f"G{len(self.sent)}"))
        self.sent.append(self.daemon.container.inbox.send(raw))

    def producer(self) -> Any:
        """The producer of the daemon's bus."""
        bus = self.daemon.container.bus
        assert isinstance(bus, KafkaBus)
        return bus._courier._producer


@pytest.fixture
def airport() -> Iterator[Airport]:
    with mock_cluster() as cluster:
        msg, schd = topic_name(), topic_name()
        cluster.create(msg)
        cluster.create(schd)
        settings = memory_settings(
            **{
                "msgx.bus.url": f"kafka://{cluster.servers}",
                "msgx.kafka.topic.msg": msg,
                "msgx.kafka.topic.schd": schd,
                "msgx.timeouts.bus": "2s",
                "msgx.event.backoff": "50ms, 50ms, 50ms, 50ms, 50ms, 50ms, 50ms",
            }
        )
        with served(settings) as daemon:
            daemon.start()
            yield Airport(cluster, daemon, msg, [])


def check(airport: Airport, *, counted: bool) -> None:
    """Every notice is sent and on the topic; per flight, what is new comes in order (R-350)."""
    store = airport.daemon.container.store

    def done() -> bool:
        counts = store.counts()
        ended = sum(counts.messages.get(state, 0) for state in ("SUCCEEDED",))
        waiting = sum(
            counts.events.get(target, {}).get("PENDING", 0) for target in ("KAFKA:msg", "KAFKA:schd")
        )
        return ended == len(airport.sent) and waiting == 0

    wait_for("all is sent", done, within_s=40)
    events = store.events(target="KAFKA:msg", limit=100_000)
    assert {row["STATUS"] for row in events} == {EventStatus.SENT.value}
    assert (airport.daemon.tally.total("msgx.event.refused") > 0) == counted
    seen: defaultdict[str | None, list[int]] = defaultdict(list)
    for key, value in read(airport.cluster.servers, airport.msg):
        if value["EVENT_ID"] not in seen[key]:
            seen[key].append(value["EVENT_ID"])
    assert all(ids == sorted(ids) for ids in seen.values())
    assert sorted(i for ids in seen.values() for i in ids) == [row["EVENT_ID"] for row in events]


def passing(airport: Airport, chance: random.Random) -> None:
    """Errors that are retried, cut connections, brokers away, moved leaders, slow answers."""
    cluster = airport.cluster
    faults: list[Callable[[], object]] = [
        lambda: cluster.fail(PRODUCE, *chance.choices(PASSING, k=3)),
        lambda: cluster.fail(METADATA, KafkaError.LEADER_NOT_AVAILABLE),
        lambda: cluster.lead(airport.msg, chance.randrange(4), chance.randrange(1, 4)),
        lambda: cluster.slow(100),
        cluster.down,
    ]
    for fault in faults:
        fault()
        time.sleep(0.4)
        cluster.up()
        cluster.slow(0)


def refusing(airport: Airport, chance: random.Random) -> None:
    """Errors that are one record's own: it is tried again, and no later one of its flight goes before it."""
    for _ in range(5):
        airport.cluster.fail(PRODUCE, *chance.choices(REFUSING, k=8))
        time.sleep(0.2)
    airport.cluster.heal(PRODUCE)


def fatal(airport: Airport, chance: random.Random) -> None:
    """Errors that a producer does not survive: another one goes on."""
    for _ in range(4):
        make_fatal(airport.producer())
        time.sleep(chance.uniform(0.2, 0.5))


@pytest.mark.parametrize(
    ("faults", "counted"),
    [(passing, False), (refusing, True), (fatal, False)],
    ids=["retriable", "refused", "fatal"],
)
def test_brokers_fail_under_load(
    airport: Airport, faults: Callable[[Airport, random.Random], None], counted: bool
) -> None:
    """D-28, R-350, R-355: nothing is lost, nothing overtakes, and only what refused a record is counted."""
    with beside(airport.one_more, 0.01):
        wait_for("the first is through", lambda: airport.daemon.container.store.counts().messages)
        faults(airport, random.Random(1))
    check(airport, counted=counted)
