"""One schedule as large as they get, from the mailbox to its terminal state: all new, and all changed."""

from __future__ import annotations

import json
import re
import subprocess
from typing import Any

from bench import ROOT
from bench.big_bare import Bare, bare_of
from bench.frame.context import Context
from bench.frame.machine import command
from bench.frame.product import claim_cache, environment, fill, mailbox, settings_of
from bench.frame.rounds import Spread, in_turn, ratios
from bench.frame.targets import Row, Target
from msgx_app.simulator import big_schedule

NEW, CHANGED = Target.at_most(2.5), Target.at_most(3.0)
MEMORY_MB = Target.at_most(200)
_TIME = re.compile(rb"(\d\d[A-Z]{3}\d\d\d\d\d)(\d)(?=<)")


def measure(context: Context) -> list[Row]:
    """Pairs with the bare way, each on a copy of the same database; and the peak of memory above idle."""
    databases = context.servers.databases
    raw = big_schedule(context.sizes.big_flights, context.sizes.big_bytes)
    again = changed(raw)
    empty = databases.made("empty", lambda url: fill(url, []))
    full = databases.made("full", lambda url: fill(url, [raw]))
    context.say("  what is written, found out under audit")
    new, memory_new = _compared(context, "big-new", empty, bare_of(context.servers, empty, raw), 1, NEW)
    same, memory_changed = _compared(
        context, "big-changed", full, bare_of(context.servers, full, again), 2, CHANGED
    )
    memory = Row(
        "big-memory",
        "peak memory above idle, the worse of both",
        max((memory_new, memory_changed), key=lambda spread: spread.median),
        MEMORY_MB,
        unit="MB",
        details={"new_mb": _rounded(memory_new.values), "changed_mb": _rounded(memory_changed.values)},
    )
    return [new, same, memory]


def changed(raw: bytes) -> bytes:
    """The same flights with another last minute in each time, and the next `SEQN`."""
    other = _TIME.sub(lambda found: found[1] + b"%d" % (9 - int(found[2])), raw)
    return other.replace(b"<SEQN>1<", b"<SEQN>2<", 1)


def _compared(
    context: Context, name: str, template: str, bare: Bare, msg_id: int, target: Target
) -> tuple[Row, Spread]:
    servers = context.servers
    memory: list[float] = []

    def ours(_: int) -> float:
        found = _product(context, template, bare.raw, msg_id)
        memory.append(found["above_idle_mb"])
        return float(found["seconds"])

    def reference(_: int) -> float:
        with servers.redis.client() as cache:
            cache.flushall()
        with servers.databases.copy(template) as url:
            return bare.run(url, servers.redis.url)

    pairs = in_turn(context.sizes.rounds, ours, reference)
    details = {
        "ours_s": _rounded([pair.ours for pair in pairs]),
        "bare_s": _rounded([pair.reference for pair in pairs]),
        "bytes": len(bare.raw),
        "flights": context.sizes.big_flights,
        "copied_mb": round(sum(len(table.data) for table in bare.tables) / 1e6, 1),
        "deleted_rows": sum(len(table.doomed) for table in bare.tables),
    }
    what = "seconds from mailbox to terminal state, by iterparse + COPY + Redis"
    return Row(name, what, ratios(pairs), target, details=details), Spread.of(*memory)


def _product(context: Context, template: str, raw: bytes, msg_id: int) -> Any:
    servers = context.servers
    with servers.databases.copy(template) as url, mailbox(servers, [raw], msg_id) as box:
        claim_cache(servers, url)
        settings = settings_of(servers, url, box, MSGX_BUS_URL="memory:")
        run = subprocess.run(
            command("-m", "bench.big_child"),
            env={**environment(settings), "PYTHONPATH": str(ROOT)},
            cwd=context.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    if run.returncode:
        raise RuntimeError(f"the process with the schedule: {run.stderr.strip()[-1000:]}")
    return json.loads(run.stdout)


def _rounded(values: Any) -> list[float]:
    return [round(value, 3) for value in values]
