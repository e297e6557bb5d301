"""What may go wrong: each fault begins, lasts a while, and is healed."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import psycopg
from attrs import frozen
from confluent_kafka import KafkaError
from mysql.connector import Error as MysqlError

from services import mysql
from services.kafka import INIT_PRODUCER_ID, METADATA, PRODUCE
from services.postgres import connect
from soak.bench import Bench
from soak.crew import Crew, Daemon


@frozen
class Place:
    """What a fault can reach."""

    bench: Bench
    crew: Crew
    chance: random.Random


Heal = Callable[[], None]
Fault = Callable[[Place], Heal]


def nothing() -> None:
    """Nothing to heal: it was over at once."""


def store_frozen(at: Place) -> Heal:
    """SIGSTOP to PostgreSQL and all its processes."""
    at.bench.postgres.server.freeze()
    return at.bench.postgres.server.thaw


def store_killed(at: Place) -> Heal:
    """SIGKILL; it recovers from its log when it comes back."""
    at.bench.postgres.server.kill()
    return at.bench.postgres.server.start


def store_restarted(at: Place) -> Heal:
    """An ordinary restart."""
    at.bench.postgres.server.stop()
    at.bench.postgres.server.start()
    return nothing


def store_read_only(at: Place) -> Heal:
    """As behind an address that leads to a standby."""

    def turn(state: str) -> None:
        with connect(at.bench.postgres.url) as admin:
            admin.execute("SET default_transaction_read_only = off")
            admin.execute(f"ALTER SYSTEM SET default_transaction_read_only = {state}".encode())
            admin.execute("SELECT pg_reload_conf()")

    turn("on")
    return lambda: turn("off")


def store_connections_cut(at: Place) -> Heal:
    """Every session is ended, wherever it is in its statement; three times."""
    for _ in range(3):
        with connect(at.bench.postgres.url) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )
        time.sleep(0.2)
    return nothing


def store_locked(at: Place) -> Heal:
    """Somebody holds the row of the pipeline lock in a transaction of his own."""
    holder = psycopg.connect(at.bench.postgres.url, connect_timeout=5)
    holder.execute("SET lock_timeout = '3s'")
    try:
        holder.execute("SELECT * FROM msgx.PIPELINE_LOCK FOR UPDATE")
    except psycopg.Error:
        holder.close()
        return nothing

    def let_go() -> None:
        with suppress(psycopg.Error):
            holder.rollback()
        holder.close()

    return let_go


def mailbox_frozen(at: Place) -> Heal:
    """SIGSTOP to MariaDB."""
    at.bench.mysql.server.freeze()
    return at.bench.mysql.server.thaw


def mailbox_killed(at: Place) -> Heal:
    """SIGKILL; the owner connects anew."""
    at.bench.mysql.server.kill()

    def back() -> None:
        at.bench.mysql.server.start()
        at.bench.mailbox.reconnect()

    return back


def mailbox_read_only(at: Place) -> Heal:
    """Reading goes on, marks are refused."""
    _as_admin(at, "SET GLOBAL read_only = 1")
    return lambda: _as_admin(at, "SET GLOBAL read_only = 0")


def mailbox_connections_cut(at: Place) -> Heal:
    """All of our connections are ended; three times."""
    for _ in range(3):
        at.bench.mailbox.kill(at.bench.mailbox_url)
        time.sleep(0.2)
    return nothing


def mailbox_rows_locked(at: Place) -> Heal:
    """The owner holds rows that wait for their mark."""
    holder = mysql.connect(at.bench.mailbox.url)
    cursor = holder.cursor()
    cursor.execute("SET SESSION innodb_lock_wait_timeout = 2")
    cursor.execute("START TRANSACTION")
    with suppress(MysqlError):
        cursor.execute("SELECT CMINMSGS_ID FROM CMINMSGS ORDER BY CMINMSGS_ID DESC LIMIT 20 FOR UPDATE")
        cursor.fetchall()

    def let_go() -> None:
        with suppress(MysqlError):
            holder.rollback()
        with suppress(MysqlError):
            holder.close()

    return let_go


def cache_frozen(at: Place) -> Heal:
    """SIGSTOP to Redis."""
    at.bench.redis.server.freeze()
    return at.bench.redis.server.thaw


def cache_killed(at: Place) -> Heal:
    """SIGKILL; it comes back empty."""
    at.bench.redis.server.kill()
    return at.bench.redis.server.start


def cache_full(at: Place) -> Heal:
    """A memory limit below what it holds."""
    client: Any = at.bench.redis.client()
    client.config_set("maxmemory-policy", "noeviction")
    client.config_set("maxmemory", "1mb")
    return lambda: client.config_set("maxmemory", "0")


def cache_read_only(at: Place) -> Heal:
    """As a replica whose master is gone."""
    client: Any = at.bench.redis.client()
    client.config_set("replica-serve-stale-data", "yes")
    client.replicaof("127.0.0.1", 1)
    return lambda: client.replicaof("NO", "ONE")


def cache_emptied(at: Place) -> Heal:
    """FLUSHALL by somebody who did not know."""
    at.bench.redis.client().flushall()
    return nothing


def bus_down(at: Place) -> Heal:
    """All brokers refuse connections."""
    at.bench.kafka.down()
    return at.bench.kafka.up


def bus_one_broker_down(at: Place) -> Heal:
    """One broker of three."""
    broker = at.chance.randint(1, 3)
    at.bench.kafka.down(broker)
    return lambda: at.bench.kafka.up(broker)


def bus_slow(at: Place) -> Heal:
    """Answers come later than we wait for them."""
    at.bench.kafka.slow(at.chance.choice((800, 2_500)))
    return lambda: at.bench.kafka.slow(0)


def bus_errors(at: Place) -> Heal:
    """Retriable errors, cut connections, and one that ends a producer."""
    codes = (
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.REQUEST_TIMED_OUT,
        KafkaError.NOT_ENOUGH_REPLICAS,
        KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER,
        KafkaError._TRANSPORT,
    )
    request = at.chance.choice((PRODUCE, PRODUCE, METADATA, INIT_PRODUCER_ID))
    usable = codes if request == PRODUCE else codes[:2]
    at.bench.kafka.fail(request, *(at.chance.choice(usable) for _ in range(at.chance.randint(1, 8))))
    return lambda: at.bench.kafka.heal(request)


def leader_killed(at: Place) -> Heal:
    """SIGKILL to the daemon that holds the lease; started again later."""
    return _killed(at.crew.leader())


def any_killed(at: Place) -> Heal:
    """SIGKILL to one of them."""
    return _killed(at.chance.choice(at.crew.daemons))


def all_killed(at: Place) -> Heal:
    """SIGKILL to both at once."""
    for daemon in at.crew.daemons:
        daemon.kill()
    return at.crew.start


def leader_frozen(at: Place) -> Heal:
    """SIGSTOP to the holder: a stale leader when it wakes."""
    leader = at.crew.leader()
    leader.freeze()
    return leader.thaw


def leader_stopped(at: Place) -> Heal:
    """SIGTERM: it hands over and ends; started again later."""
    leader = at.crew.leader()
    leader.end()
    return leader.start


def _killed(daemon: Daemon) -> Heal:
    daemon.kill()
    return daemon.start


def _as_admin(at: Place, statement: str) -> None:
    admin = mysql.connect(at.bench.mysql.url)
    try:
        admin.cursor().execute(statement)
    finally:
        admin.close()


FAULTS: Mapping[str, Fault] = {
    fault.__name__.replace("_", "-"): fault
    for fault in (
        *(store_frozen, store_killed, store_restarted, store_read_only, store_connections_cut, store_locked),
        *(mailbox_frozen, mailbox_killed, mailbox_read_only, mailbox_connections_cut, mailbox_rows_locked),
        *(cache_frozen, cache_killed, cache_full, cache_read_only, cache_emptied),
        *(bus_down, bus_one_broker_down, bus_slow, bus_errors),
        *(leader_killed, any_killed, all_killed, leader_frozen, leader_stopped),
    )
}


@frozen
class Injected:
    """One fault that was put in, when, and for how long; `problem` when it could not be."""

    name: str
    at_s: float
    lasted_s: float
    problem: str | None = None


class Trouble:
    """Puts faults in, one at a time or two at once, until told to stop; every one is healed."""

    def __init__(self, place: Place, names: tuple[str, ...], pause_s: tuple[float, float]) -> None:
        self.injected: list[Injected] = []
        self._place = place
        self._names = names
        self._pause_s = pause_s
        self._began = time.monotonic()
        self._bag: list[str] = []

    def run(self, stopping: threading.Event) -> None:
        """Every fault comes before any comes again."""
        chance = self._place.chance
        while not stopping.wait(chance.uniform(*self._pause_s)):
            names = [self._next() for _ in range(2 if chance.random() < 0.25 else 1)]
            if len({name.partition("-")[0] for name in names}) < len(names):
                names = names[:1]
            self._inject(names, chance.uniform(0.3, 6.0), stopping)

    def _next(self) -> str:
        if not self._bag:
            self._bag = list(self._names)
            self._place.chance.shuffle(self._bag)
        return self._bag.pop()

    def _inject(self, names: list[str], lasting_s: float, stopping: threading.Event) -> None:
        began = time.monotonic()
        heals: list[tuple[str, Heal]] = []
        problems: dict[str, str] = {}
        for name in names:
            try:
                heals.append((name, FAULTS[name](self._place)))
            except Exception as error:
                problems[name] = f"{type(error).__name__}: {error}"
        stopping.wait(lasting_s)
        for name, heal in heals:
            try:
                heal()
            except Exception as error:
                problems[name] = f"not healed: {type(error).__name__}: {error}"
        lasted = time.monotonic() - began
        self.injected += [Injected(name, began - self._began, lasted, problems.get(name)) for name in names]
