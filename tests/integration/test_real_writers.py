"""Others write to the store beside the daemon, and brokers refuse: events keep their order (D-27, D-28)."""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from confluent_kafka import KafkaError

from msgx_adapters.store_postgres import PostgresStore
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.ports.operations import MessageFilter
from msgx_core.testing.builders import AUDIT, request
from real_set import TOPICS, RealSet, real_set
from services import postgres
from services.kafka import PRODUCE, mock_cluster, read
from wire import flop, gate

PUT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (%s, NOW())"
MESSAGES = 400
FLIGHTS = 8


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSet]:
    with real_set(tmp_path_factory.mktemp("real")) as made:
        yield made


def send(real: RealSet, first_flid: int) -> list[int]:
    """Changes of some flights, among them messages that end DEAD; the ids."""
    raws = [flop(first_flid + n % FLIGHTS, "GTDT", gate(f"B{n % 90 + 10}")) for n in range(MESSAGES)]
    raws = [raw if n % 40 else b"<MSG>" for n, raw in enumerate(raws)]
    return [real.mailbox.insert(PUT, raw.decode()) for raw in raws]


@contextmanager
def beside(*works: Callable[[], None]) -> Iterator[None]:
    """Each of these again and again, in a thread of its own, while the context lasts; none may fail."""
    stop = threading.Event()

    def loop(work: Callable[[], None]) -> None:
        while not stop.is_set():
            work()

    with ThreadPoolExecutor(len(works)) as threads:
        running = [threads.submit(loop, work) for work in works]
        try:
            yield
        finally:
            stop.set()
    for one in running:
        one.result()


def operator(store: PostgresStore) -> Callable[[], None]:
    """Someone at a console: closes alerts, replays what is dead, asks for data."""

    def work() -> None:
        now = datetime.now(UTC)
        store.raise_alert(Alert(AlertCode.OUTAGE, detail="a drain met one"), now)
        store.acknowledge([row["ALERT_ID"] for row in store.alerts(limit=100)], AUDIT, now)
        dead = store.messages(MessageFilter(state="DEAD"))
        store.replay([row["MSG_ID"] for row in dead], [], AUDIT, now)
        store.create_request(request(), AUDIT, now)
        time.sleep(0.05)

    return work


def test_event_ids_are_consecutive_in_commit_order(real: RealSet) -> None:
    """R-353, D-27: an operator, foreign transactions and a reader beside; no snapshot ever shows a gap."""
    store = PostgresStore.open(f"{real.postgres.url}?schema=msgx")
    foreign, reader = postgres.connect(real.postgres.url), postgres.connect(real.postgres.url)
    foreign.execute("CREATE TABLE public.BAGS (N bigint)")
    gaps: list[Any] = []

    def unrelated() -> None:
        with foreign.transaction():
            foreign.execute("INSERT INTO public.BAGS SELECT COALESCE(MAX(N), 0) + 1 FROM public.BAGS")
            time.sleep(0.01)

    def watch() -> None:
        ids = "SELECT COUNT(*), MAX(EVENT_ID) FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:msg'"
        count, highest = reader.execute(ids).fetchall()[0]
        if count != (highest or 0):
            gaps.append((count, highest))

    with real.daemon(), beside(operator(store), unrelated, watch):
        send(real, 1_000)
        real.wait_idle()
    store.close()
    foreign.close()
    reader.close()
    assert gaps == []
    actions = {row["ACTION"] for row in real.sql("SELECT DISTINCT ACTION FROM OPS_AUDIT")}
    assert actions >= {"replay", "create_request", "acknowledge"}
    rows = real.sql(
        "SELECT E.EVENT_ID, P.APPLY_NO FROM MSG_EVENT E JOIN PROC_STATE P USING (MSG_ID)"
        " WHERE E.TARGET = 'KAFKA:msg' ORDER BY E.EVENT_ID"
    )
    assert [row["EVENT_ID"] for row in rows] == list(range(1, MESSAGES - MESSAGES // 40 + 1))
    assert [row["APPLY_NO"] for row in rows] == sorted(row["APPLY_NO"] for row in rows)
    in_order(real, real.topic("KAFKA_MSG"), 1_000)


def test_events_of_a_flight_arrive_in_order_although_some_are_refused(real: RealSet) -> None:
    """R-350, D-28: a refused event is sent again and not overtaken; one that is given up lets the next go."""
    chance, refused = random.Random(5), set[int]()
    with mock_cluster() as cluster:
        for topic in TOPICS:
            cluster.create(topic)

        def refuse() -> None:
            cluster.heal(PRODUCE)
            cluster.fail(PRODUCE, *[KafkaError.INVALID_RECORD] * (chance.choice([0, 4, 8]) if refused else 8))
            waiting = real.sql("SELECT EVENT_ID FROM MSG_EVENT WHERE STATUS = 'PENDING' AND ATTEMPTS > 0")
            refused.update(row["EVENT_ID"] for row in waiting)
            time.sleep(0.1)

        # Longer batches: these brokers do not compare sequence numbers as Kafka does.
        bus = {"MSGX_BUS_URL": f"kafka://{cluster.servers}?linger.ms=20"}
        retry = {"MSGX_EVENT_MAX_ATTEMPTS": "3", "MSGX_EVENT_BACKOFF": "100ms 300ms"}
        with real.daemon("refused", **bus, **retry), beside(refuse):
            send(real, 2_000)
            real.wait_idle()
        arrived = read(cluster.servers, "KAFKA_MSG")
    ends = real.sql("SELECT EVENT_ID, STATUS FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' AND FLID >= 2000")
    assert refused & {row["EVENT_ID"] for row in ends if row["STATUS"] == "SENT"}
    in_order(real, arrived, 2_000)


def in_order(real: RealSet, arrived: list[tuple[str | None, Any]], first_flid: int) -> None:
    """What was sent has arrived, per flight by EVENT_ID; the same again is at-least-once.

    Only the flights of this test count: what another one left on the store is sent meanwhile too.
    """
    ours, seen = {str(first_flid + n) for n in range(FLIGHTS)}, defaultdict[str | None, list[int]](list)
    for key, value in arrived:
        if key in ours:
            seen[key].append(value["EVENT_ID"])
    assert set(seen) == ours
    for ids in seen.values():
        assert ids == sorted(ids)
    sent = real.sql(
        "SELECT EVENT_ID FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' AND STATUS = 'SENT'"
        f" AND FLID BETWEEN {first_flid} AND {first_flid + FLIGHTS - 1}"
    )
    assert {i for ids in seen.values() for i in ids} >= {row["EVENT_ID"] for row in sent}
