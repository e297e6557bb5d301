"""From the commit in the mailbox to the flight in Redis and to the broker's acknowledgement, one by one."""

from __future__ import annotations

import random
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from bench.frame.context import Context
from bench.frame.databases import rows
from bench.frame.product import claim_cache, daemon, mailbox, settings_of, until
from bench.frame.rounds import Spread
from bench.frame.targets import Condition, Row, Target
from services.mysql import Database

POLL_MS = 100
TARGET = Target.at_most(POLL_MS + 50)
_PER_S = 10.0
_WARM_UP = 10
_FLID = re.compile(rb"<FLID>\s*0*(\d+)\s*</FLID>")
_SETTINGS = {
    "MSGX_PIPELINE_POLL_INTERVAL": f"{POLL_MS}ms",
    "MSGX_PIPELINE_POLL_INTERVAL_IDLE": f"{POLL_MS}ms",
}


def measure(context: Context) -> list[Row]:
    """Arrivals by chance, ten a second on average, each about another flight."""
    servers = context.servers
    messages = _one_a_flight(context, int(context.sizes.latency_s * _PER_S) + _WARM_UP)
    first = context.prepared.first
    with servers.databases.copy(context.prepared.base) as url, mailbox(servers, [], first) as box:
        claim_cache(servers, url)
        with daemon(settings_of(servers, url, box, **_SETTINGS), context.folder), _visible(context) as seen:
            until(lambda: _is_active(url), "the daemon is not active")
            committed = _arrive(box, messages)
            until(lambda: _sent(url, first) >= len(messages), "events are not sent", 60.0)
            acknowledged = _acknowledged(url, first)
    flids = [_flid(raw) for raw in messages]
    counted = range(_WARM_UP, len(messages))
    in_cache = [(seen[flids[n]] - committed[n]) * 1000 for n in counted if flids[n] in seen]
    at_broker = [
        (acknowledged[first + n] - committed[n]) * 1000 for n in counted if first + n in acknowledged
    ]
    return [
        _row("latency-cache", "mailbox commit to the flight in Redis", in_cache, len(counted)),
        _row("latency-broker", "mailbox commit to the broker's acknowledgement", at_broker, len(counted)),
    ]


def _row(name: str, what: str, found_ms: list[float], wanted: int) -> Row:
    spread = Spread.of(*found_ms)
    details = {
        "messages": len(found_ms),
        "median_ms": round(spread.median, 1),
        "p90_ms": round(spread.part(0.9), 1),
        "poll_ms": POLL_MS,
        "sorted_ms": [round(value, 1) for value in sorted(found_ms)],
    }
    whole = Condition("every message was seen", len(found_ms) == wanted)
    return Row(name, what, spread, TARGET, unit="ms", statistic="p99", conditions=(whole,), details=details)


def _one_a_flight(context: Context, wanted: int) -> list[bytes]:
    """Messages about different flights, so that each can be told by its key."""
    found: dict[int, bytes] = {}
    for raw in context.stock.flops(wanted * 20):
        found.setdefault(_flid(raw), raw)
    return list(found.values())[:wanted]


def _flid(raw: bytes) -> int:
    found = _FLID.search(raw)
    if found is None:
        raise ValueError("a FLOP without FLID")
    return int(found[1])


def _arrive(box: Database, messages: list[bytes]) -> list[float]:
    """Put them in at random moments; when each was committed."""
    chance = random.Random(1)
    committed = []
    due = time.monotonic()
    for raw in messages:
        due += chance.expovariate(_PER_S)
        time.sleep(max(0.0, due - time.monotonic()))
        box.insert(
            "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (%s, NOW())",
            raw.decode(),
        )
        committed.append(time.time())
    return committed


@contextmanager
def _visible(context: Context) -> Iterator[Mapping[int, float]]:
    """When each flight came into Redis first, as Redis itself tells it."""
    seen: dict[int, float] = {}
    with context.servers.redis.client() as watcher:
        watcher.config_set("notify-keyspace-events", "K$")
        told = watcher.pubsub(ignore_subscribe_messages=True)
        told.psubscribe("__keyspace@0__:msgx:flight:*")

        def listen() -> None:
            while not stopping.is_set():
                message = told.get_message(timeout=0.2)
                if message is not None:
                    seen.setdefault(int(message["channel"].rpartition(":")[2]), time.time())

        stopping = threading.Event()
        listener = threading.Thread(target=listen, daemon=True)
        listener.start()
        try:
            yield seen
        finally:
            stopping.set()
            listener.join(5)
            told.close()


def _is_active(url: str) -> bool:
    return bool(rows(url, "SELECT 1 FROM msgx.LEASE WHERE HOLDER IS NOT NULL AND EXPIRES_AT > now()"))


def _sent(url: str, first: int) -> int:
    statement = (
        "SELECT COUNT(*) FROM msgx.MSG_EVENT WHERE TARGET = 'KAFKA:msg' AND MSG_ID >= %s AND STATUS = 'SENT'"
    )
    ((sent,),) = rows(url, statement, (first,))
    return int(sent)


def _acknowledged(url: str, first: int) -> dict[int, float]:
    """By message: when msgx had the confirmation of its event."""
    statement = (
        "SELECT MSG_ID, EXTRACT(EPOCH FROM SENT_AT)::float8 FROM msgx.MSG_EVENT"
        " WHERE TARGET = 'KAFKA:msg' AND MSG_ID >= %s AND STATUS = 'SENT'"
    )
    return dict(rows(url, statement, (first,)))
