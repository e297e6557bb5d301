"""The servers that airports run, each a private one, and an installation of msgx on them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from attrs import define, field

from msgx_cli import Msgx, environment
from services.base import NotHere, PrivateServer, unavailable, wait_until
from services.kafka import PrivateKafka, create_topics, private_kafka, read
from services.mysql import Database, PrivateMysql, database_on, private_mysql
from services.postgres import PrivatePostgres, private_postgres
from services.redis import PrivateRedis, private_redis

T = TypeVar("T")
TOPICS = ("KAFKA_MSG", "KAFKA_SCHD")

# Short enough that a frozen server is noticed within a test.
TIMEOUTS = {
    "MSGX_TIMEOUTS_MAILBOX": "2s",
    "MSGX_TIMEOUTS_STORE": "2s",
    "MSGX_TIMEOUTS_STORE_STATEMENT": "2s",
    "MSGX_TIMEOUTS_CACHE": "1s",
    "MSGX_TIMEOUTS_BUS": "2s",
}


@define
class RealSet:
    """Private servers and a folder whose configuration names them."""

    folder: Path
    postgres: PrivatePostgres
    mysql: PrivateMysql
    mailbox: Database
    redis: PrivateRedis
    kafka: PrivateKafka
    more: Mapping[str, str] = field(factory=dict)

    @property
    def servers(self) -> Mapping[str, PrivateServer]:
        """The servers by the name under which an outage is reported."""
        return {
            "store": self.postgres.server,
            "mailbox": self.mysql.server,
            "cache": self.redis.server,
            "bus": self.kafka.server,
        }

    @property
    def env(self) -> dict[str, str]:
        """The settings, as an operator would give them."""
        return {
            "MSGX_AIRPORT_CODE": "KMG",
            "MSGX_STORE_URL": f"{self.postgres.url}?schema=msgx",
            "MSGX_MAILBOX_URL": self.mailbox.url,
            "MSGX_CACHE_URL": self.redis.url,
            "MSGX_BUS_URL": self.kafka.url,
            "MSGX_PIPELINE_POLL_INTERVAL": "50ms",
            "MSGX_PIPELINE_POLL_INTERVAL_IDLE": "200ms",
            "MSGX_PIPELINE_BACKFILL_INTERVAL": "200ms",
            "MSGX_SCHD_FLUSH_INTERVAL": "200ms",
            **self.more,
        }

    def msgx(self) -> Msgx:
        """The command line on this set; migrated."""
        return RealMsgx(self.folder, self.env)

    def topic(self, name: str) -> list[tuple[str | None, Any]]:
        """Keys and parsed values of a topic, read by a client that is not ours."""
        return read(self.kafka.servers, name)

    def marks(self) -> dict[int, str | None]:
        """The processing time of each mailbox row, as the mailbox has it."""
        rows = self.mailbox.run("SELECT CMINMSGS_ID, CMINMSGS_DATE_PROCESSED FROM CMINMSGS")
        return {int(row[0]): None if row[1] is None else row[1].decode() for row in rows}

    def sql(self, statement: str) -> list[dict[str, Any]]:
        """Rows of the store through a client that is not ours."""
        from services.postgres import Tables

        tables = Tables(f"{self.postgres.url}?schema=msgx")
        try:
            return tables.rows(statement)
        finally:
            tables.close()

    @contextmanager
    def daemon(self, name: str = "daemon", **more: str) -> Iterator[subprocess.Popen[bytes]]:
        """`msgx run` as a process, its log in the folder; killed at the end if it still runs."""
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "msgx_app", "run", "--json"],
                cwd=self.folder,
                env=environment(**{**self.env, **more}),
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.wait(10)

    def log(self, name: str = "daemon") -> list[dict[str, Any]]:
        """The events that a daemon has logged."""
        text = (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    def wait_idle(self, timeout_s: float = 150.0) -> None:
        """Until every mailbox row is marked and every event sent."""

        def idle() -> bool:
            open_events = self.sql("SELECT COUNT(*) AS N FROM MSG_EVENT WHERE STATUS = 'PENDING'")
            return all(self.marks().values()) and open_events[0]["N"] == 0

        wait_until(idle, "the pipeline is not done", timeout_s)


class RealMsgx(Msgx):
    """`Msgx` with the settings of a real set."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        super().__init__(folder)
        object.__setattr__(self, "_settings", dict(env))

    def __call__(self, *args: str | Path | int, stdin: bytes = b"", **env: str) -> Any:
        settings: dict[str, str] = getattr(self, "_settings")  # noqa: B009
        return super().__call__(*args, stdin=stdin, **{**settings, **env})


def _here(service: str, make: Callable[[], AbstractContextManager[T]], keep: ExitStack) -> T:
    try:
        return keep.enter_context(make())
    except NotHere as why:
        unavailable(service, str(why))


@contextmanager
def real_set(folder: Path, **more: str) -> Iterator[RealSet]:
    """All four servers, empty, and the store migrated; skips by name where one cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as keep:
        postgres = _here("PostgreSQL", private_postgres, keep)
        mysql = _here("MySQL", private_mysql, keep)
        mailbox = keep.enter_context(database_on(mysql.url))
        redis = _here("Redis", private_redis, keep)
        kafka = _here("Kafka", private_kafka, keep)
        create_topics(kafka.servers, TOPICS)
        made = RealSet(folder, postgres, mysql, mailbox, redis, kafka, more)
        made.msgx().ok("migrate")
        yield made


__all__ = ["TIMEOUTS", "TOPICS", "RealMsgx", "RealSet", "real_set"]
