"""The pipeline on the real set, from the mailbox to the terminal state, beside the floor."""

from __future__ import annotations

import time

from attrs import frozen

from bench import floor
from bench.frame.context import Context
from bench.frame.databases import rows
from bench.frame.machine import memory_mb
from bench.frame.prepared import Prepared
from bench.frame.product import claim_cache, daemon, fates, is_terminal, mailbox, rate, settings_of, until
from bench.frame.rounds import in_turn, ratios
from bench.frame.targets import Condition, Row, Target
from services.mysql import Database

TARGET = 0.75


@frozen
class Drained:
    """One run of the daemon over a full mailbox.

    `events_left` and `marks_left` are open when the last message ends, `settle_s` is how long they take;
    `connections` to PostgreSQL and resident memory are those of the daemon then.
    """

    rate: float
    events_left: int
    marks_left: int
    settle_s: float
    succeeded: int
    connections: int
    memory_mb: float


def drain(context: Context, template: str, messages: list[bytes], first: int) -> Drained:
    """The daemon with everything in it, on a copy of `template`, over these messages."""
    servers = context.servers
    with servers.databases.copy(template) as url, mailbox(servers, messages, first) as box:
        claim_cache(servers, url)
        return drained(context, url, box, first, first + len(messages) - 1)


def drained(context: Context, url: str, box: Database, first: int, last: int) -> Drained:
    """The daemon on this store and mailbox until everything is sent and marked."""
    with daemon(settings_of(context.servers, url, box), context.folder) as process:
        until(lambda: is_terminal(url, last), f"message {last} has not ended")
        ended = time.monotonic()
        events, marks = _events_left(url), _marks_left(box)
        until(lambda: _events_left(url) == 0 and _marks_left(box) == 0, "events or marks are left")
        settle_s = time.monotonic() - ended
        connections, memory = _connections(url), memory_mb("VmRSS", process.pid)
    succeeded = fates(url, first, last).get("SUCCEEDED", 0)
    return Drained(rate(url, first, last), events, marks, settle_s, succeeded, connections, memory)


def measure(context: Context) -> list[Row]:
    """Pairs of the pipeline and the floor."""
    prepared = context.prepared
    messages = context.stock.flops(prepared.messages)
    runs: list[Drained] = []

    def ours(_: int) -> float:
        runs.append(drain(context, prepared.base, messages, prepared.first))
        return runs[-1].rate

    pairs = in_turn(context.sizes.rounds, ours, lambda _: floor.rate(context, prepared))
    return [
        Row(
            "pipeline",
            "FLOP messages a second, mailbox to terminal state, by the floor's",
            ratios(pairs),
            Target(TARGET),
            conditions=keeping_up(context, prepared, runs),
            details={
                "ours_per_s": [round(pair.ours) for pair in pairs],
                "floor_per_s": [round(pair.reference) for pair in pairs],
                "events_left": [one.events_left for one in runs],
                "marks_left": [one.marks_left for one in runs],
                "settle_s": [round(one.settle_s, 2) for one in runs],
                "connections": max(one.connections for one in runs),
                "memory_mb": max(round(one.memory_mb) for one in runs),
            },
        )
    ]


def keeping_up(context: Context, prepared: Prepared, runs: list[Drained]) -> tuple[Condition, ...]:
    """Every message had its effect; relays and write-back are done soon after the last one."""
    limit_s = context.sizes.settle_s
    return (
        Condition("every message succeeded", all(one.succeeded == prepared.messages for one in runs)),
        Condition(
            f"all sent and marked within {limit_s:g} s of the last message",
            all(one.settle_s <= limit_s for one in runs),
        ),
    )


def _events_left(url: str) -> int:
    ((left,),) = rows(url, "SELECT COUNT(*) FROM msgx.MSG_EVENT WHERE STATUS = 'PENDING'")
    return int(left)


def _connections(url: str) -> int:
    """Those of the daemon: all but the one that asks."""
    statement = (
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
        " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
    )
    ((many,),) = rows(url, statement)
    return int(many)


def _marks_left(box: Database) -> int:
    return int(box.value("SELECT COUNT(*) FROM CMINMSGS WHERE CMINMSGS_DATE_PROCESSED IS NULL") or 0)
