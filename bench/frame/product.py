"""msgx under measurement: the daemon as an operator runs it, and its parts in this process."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.frame.databases import rows
from bench.frame.machine import command
from bench.frame.servers import Servers
from msgx_app.container import Container, open_container
from msgx_app.settings import load_settings
from msgx_core.ports import Clock
from msgx_core.ports.telemetry import Silent
from services.base import free_port
from services.mysql import Database, database_on

BASE = {
    "MSGX_AIRPORT_CODE": "KMG",
    # So that each FLOP of the simulator has an effect.
    "MSGX_FLOP_WHITELIST": "extended",
    # As in production; in the embedded set each message would be a file as well.
    "MSGX_ARCHIVE_URL": "off",
}
IN_MEMORY = {"MSGX_MAILBOX_URL": "memory:", "MSGX_CACHE_URL": "memory:", "MSGX_BUS_URL": "memory:"}
LONGEST_WAIT_S = 900.0


class Stuck(Exception):
    """What was waited for did not come."""


def environment(settings: Mapping[str, str]) -> dict[str, str]:
    """The process's environment with these settings of msgx and no others."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("MSGX_")}
    return {**own, **BASE, **settings}


@contextmanager
def in_process(
    settings: Mapping[str, str], *, create: bool = False, clock: Clock | None = None
) -> Iterator[Container]:
    """The parts, open, with the lease held; nothing runs by itself."""
    loaded = load_settings(None, {**BASE, **settings}, {})
    with open_container(loaded.settings, create=create, clock=clock, telemetry=Silent()) as container:
        grant = container.pipeline.start("bench", lease_expiry_s=3600.0)
        if not grant.granted:
            raise Stuck(f"the lease is with {grant.view.holder}")
        try:
            yield container
        finally:
            container.store.release_lease()


def fill(url: str, messages: Sequence[bytes]) -> None:
    """A store in the database at `url` that has had these messages, all relayed and written back."""
    with in_process({**IN_MEMORY, "MSGX_STORE_URL": url}, create=True) as container:
        container.inbox.send_many(list(messages))
        container.pipeline.drain()


@contextmanager
def mailbox(servers: Servers, messages: Sequence[bytes], first_id: int) -> Iterator[Database]:
    """A mailbox in MySQL whose rows begin at `first_id`."""
    with database_on(servers.mysql.url) as found:
        found.run(f"ALTER TABLE CMINMSGS AUTO_INCREMENT = {first_id}")
        send(found, messages)
        yield found


def send(box: Database, messages: Sequence[bytes]) -> None:
    """Rows as the owner writes them, in one transaction."""
    box.run("START TRANSACTION")
    for raw in messages:
        box.insert(
            "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (%s, NOW())",
            raw.decode(),
        )
    box.run("COMMIT")


def settings_of(servers: Servers, store_url: str, box: Database, **more: str) -> dict[str, str]:
    """The settings of the real set."""
    return {
        "MSGX_STORE_URL": store_url,
        "MSGX_MAILBOX_URL": box.url,
        "MSGX_CACHE_URL": servers.redis.url,
        "MSGX_BUS_URL": f"kafka://{servers.kafka.servers}",
        "MSGX_HTTP_BIND": f"127.0.0.1:{free_port()}",
        **more,
    }


def claim_cache(servers: Servers, store_url: str) -> None:
    """An empty cache that is this store's own: nothing is rebuilt, and every write is a new one."""
    ((store_id,),) = rows(store_url, "SELECT VALUE FROM msgx.STORE_INFO WHERE NAME = 'id'")
    with servers.redis.client() as cache:
        cache.flushall()
        cache.set("msgx:store", store_id)


@contextmanager
def daemon(settings: Mapping[str, str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`msgx run`; its log is in the folder. Stopped at the end, killed when it does not stop."""
    with ExitStack() as keep:
        log = keep.enter_context((folder / "daemon.log").open("ab"))
        process = subprocess.Popen(
            command("-m", "msgx_app", "run", "--json"),
            cwd=folder,
            env=environment(settings),
            stdout=log,
            stderr=log,
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(10)


def until(
    ready: Callable[[], bool], what: str, timeout_s: float = LONGEST_WAIT_S, pause_s: float = 0.05
) -> float:
    """Wait; how many seconds it took. Raises `Stuck`."""
    began = time.monotonic()
    while not ready():
        if time.monotonic() - began > timeout_s:
            raise Stuck(f"{what} after {timeout_s} s")
        time.sleep(pause_s)
    return time.monotonic() - began


def is_terminal(url: str, msg_id: int) -> bool:
    """Whether a message has ended. Order is strict: then all before it have."""
    found = rows(url, "SELECT STATE FROM msgx.PROC_STATE WHERE MSG_ID = %s", (msg_id,))
    return bool(found) and found[0][0] in ("SUCCEEDED", "SKIPPED", "DEAD")


def rate(url: str, first: int, last: int) -> float:
    """Messages a second between the ends of two messages, by the times that msgx wrote."""
    statement = (
        "SELECT EXTRACT(EPOCH FROM MAX(FINISHED_AT) - MIN(FINISHED_AT))::float8 FROM msgx.PROC_STATE"
        " WHERE MSG_ID IN (%s, %s)"
    )
    ((seconds,),) = rows(url, statement, (first, last))
    return (last - first) / float(seconds)


def fates(url: str, first: int, last: int) -> dict[str, int]:
    """How many messages ended in which state."""
    statement = "SELECT STATE, COUNT(*) FROM msgx.PROC_STATE WHERE MSG_ID BETWEEN %s AND %s GROUP BY 1"
    return dict(rows(url, statement, (first, last)))
