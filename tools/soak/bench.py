"""The servers of a soak, all its own, with everything that a fault needs to reach them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import psycopg
from attrs import Factory, define
from confluent_kafka import Consumer
from mysql.connector import Error as MysqlError

from msgx_cli import Msgx
from real_set import TIMEOUTS, TOPICS, RealMsgx
from services.kafka import MockCluster, mock_cluster
from services.mysql import RIGHTS, Database, PrivateMysql, database_on, private_mysql
from services.postgres import PrivatePostgres, connect, private_postgres
from services.redis import PrivateRedis, private_redis

SCHEMA = "msgx"
ZONE = "Asia/Shanghai"


@define
class Bench:
    """PostgreSQL, MariaDB and Redis as processes, Kafka as librdkafka's mock cluster in this process.

    The cluster forgets nothing while its brokers are away, so order and completeness can be looked at. `bus`
    has every record by topic, in the order of its partition, as a client that is not ours has read it.
    """

    folder: Path
    postgres: PrivatePostgres
    mysql: PrivateMysql
    mailbox: Database
    mailbox_url: str
    redis: PrivateRedis
    kafka: MockCluster
    bus: Collector

    @property
    def store_url(self) -> str:
        """The store as msgx is told of it."""
        return f"{self.postgres.url}?schema={SCHEMA}"

    @property
    def env(self) -> Mapping[str, str]:
        """The settings, as an operator would give them."""
        return {
            "MSGX_AIRPORT_CODE": "KMG",
            "MSGX_AIRPORT_TIMEZONE": ZONE,
            "MSGX_STORE_URL": self.store_url,
            "MSGX_MAILBOX_URL": self.mailbox_url,
            "MSGX_CACHE_URL": self.redis.url,
            "MSGX_BUS_URL": f"kafka://{self.kafka.servers}",
            "MSGX_FLOP_WHITELIST": "extended",
            "MSGX_PIPELINE_POLL_INTERVAL": "50ms",
            "MSGX_PIPELINE_POLL_INTERVAL_IDLE": "200ms",
            "MSGX_PIPELINE_BACKFILL_INTERVAL": "200ms",
            "MSGX_SCHD_FLUSH_INTERVAL": "200ms",
            **TIMEOUTS,
        }

    def msgx(self) -> Msgx:
        """The command line on this bench."""
        return RealMsgx(self.folder, self.env)

    def rows(self, statement: str) -> list[dict[str, Any]]:
        """Rows of the store through a client that is not ours."""
        with connect(self.postgres.url) as asked:
            asked.execute(f"SET search_path = {SCHEMA}".encode())
            cursor = asked.execute(statement.encode())
            names = [column.name.upper() for column in cursor.description or ()]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def marks(self) -> dict[int, str | None]:
        """The processing time of each mailbox row, as the mailbox has it."""
        rows = self.mailbox.run("SELECT CMINMSGS_ID, CMINMSGS_DATE_PROCESSED FROM CMINMSGS")
        return {int(row[0]): None if row[1] is None else row[1].decode() for row in rows}

    def cached(self) -> dict[str, str]:
        """Every key of the cache that holds a flight, with its text."""
        client: Any = self.redis.client()
        keys = sorted(client.scan_iter("msgx:flight:*", count=1_000))
        return {key: text for key in keys if (text := client.get(key)) is not None}

    def idle(self) -> bool:
        """Whether every mailbox row is marked, every event sent, and every outage over."""
        with suppress(psycopg.Error, MysqlError):
            open_ones = self.rows(
                "SELECT (SELECT COUNT(*) FROM MSG_EVENT WHERE STATUS = 'PENDING')"
                " + (SELECT COUNT(*) FROM OPS_ALERT WHERE CODE = 'OUTAGE' AND ENDED_AT IS NULL) AS N"
            )
            return open_ones[0]["N"] == 0 and all(self.marks().values())
        return False


@define
class Collector:
    """Reads the topics all the time, so that nothing is lost to the cluster's own retention."""

    servers: str
    records: dict[str, list[tuple[str | None, bytes]]] = Factory(lambda: {topic: [] for topic in TOPICS})
    stopping: threading.Event = Factory(threading.Event)
    last_read_s: float = 0.0

    def run(self) -> None:
        """Until told to stop; outages of the cluster are waited for."""
        config = {
            "bootstrap.servers": self.servers,
            "group.id": "soak",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
            "log_level": 0,
            "reconnect.backoff.max.ms": 500,
        }
        with Consumer(config) as consumer:
            consumer.subscribe(list(TOPICS))
            while not self.stopping.is_set():
                message = consumer.poll(0.2)
                if message is None or message.error() is not None:
                    continue
                self.last_read_s = time.monotonic()
                key = message.key()
                self.records[message.topic() or ""].append(
                    (None if key is None else key.decode(), message.value() or b"")
                )

    def settle(self, quiet_s: float = 3.0, timeout_s: float = 60.0) -> None:
        """Wait until nothing more comes."""
        end = time.monotonic() + timeout_s
        while time.monotonic() < end and time.monotonic() - self.last_read_s < quiet_s:
            time.sleep(0.1)


@contextmanager
def bench(folder: Path) -> Iterator[Bench]:
    """All servers, empty, and the store migrated. `services.base.NotHere` when one cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as keep:
        postgres = keep.enter_context(private_postgres())
        mysql = keep.enter_context(private_mysql())
        mailbox = keep.enter_context(database_on(mysql.url))
        cache = keep.enter_context(private_redis())
        kafka = keep.enter_context(mock_cluster())
        for topic in TOPICS:
            kafka.create(topic)
        collector = Collector(kafka.servers)
        reader = threading.Thread(target=collector.run, name="collector", daemon=True)
        reader.start()
        keep.callback(reader.join, 10)
        keep.callback(collector.stopping.set)
        made = Bench(folder, postgres, mysql, mailbox, mailbox.user(*RIGHTS), cache, kafka, collector)
        made.msgx().ok("migrate")
        yield made
