"""A simulation of 1 to 32 pipelines on one PostgreSQL: where it bends.

Each pipeline is a pgbench that runs the floor's three transactions in a database of its own. `database`: one
right after the other, what the server can do. `pipelines`: with a pause in each message as long as msgx
itself needs beside the server, as if each were a daemon on a machine of its own. pgbench and the server share
this machine's cores.
"""

from __future__ import annotations

import time
from typing import Any

from bench import floor
from bench.frame import pgbench
from bench.frame.context import Context
from bench.frame.databases import run
from bench.frame.rounds import Spread
from bench.frame.targets import Row
from bench.pipeline import drain

_BENT = 0.8
"""Of the rate that a pipeline has alone."""

_SCRIPT = """\\set n :n % {messages} + 1
SELECT floor.BIND(:n);
{pause}
SELECT floor.APPLY(:n);
SELECT floor.FINISH(:n);
"""


def measure(context: Context) -> list[Row]:
    """Both curves; reported, there is no target."""
    prepared, sizes = context.prepared, context.sizes
    own_us = _own_us(context)
    databases = context.servers.databases
    # The messages are gone through again and again, so versions do not only rise.
    template = databases.made(
        "scale", lambda url: run(url, "ALTER TABLE msgx.FLIGHT_SCHD DISABLE TRIGGER USER"), prepared.floor
    )
    stores = [databases.create("scale", template) for _ in range(max(sizes.scale_pipelines))]
    curves: dict[str, list[dict[str, Any]]] = {"database": [], "pipelines": []}
    for name, pause_us in (("database", 0), ("pipelines", own_us)):
        for many in sizes.scale_pipelines:
            context.say(f"  {name}: {many}")
            curves[name].append(_point(context, stores[:many], pause_us))
    for store in (*stores, template):
        databases.drop(store)
    bend = _bend(curves["pipelines"])
    details = {"curves": curves, "own_us": own_us, "bent_below": _BENT, "most_per_s": _most(curves)}
    what = f"pipelines on one server before each falls below {_BENT:.0%} of its rate alone"
    return [Row("scale", what, Spread.of(bend), unit="pipelines", details=details)]


def _own_us(context: Context) -> int:
    """What a message takes in msgx beside what it takes in the server."""
    prepared = context.prepared
    whole = drain(context, prepared.base, context.stock.flops(prepared.messages), prepared.first).rate
    return max(0, round(1e6 / whole - 1e6 / floor.rate(context, prepared)))


def _point(context: Context, stores: list[str], pause_us: int) -> dict[str, Any]:
    pause = f"\\sleep {pause_us} us" if pause_us else ""
    text = _SCRIPT.format(messages=context.prepared.messages, pause=pause)
    script = pgbench.script(context.folder, "scale", text)
    databases = context.servers.databases
    seconds = str(max(1, round(context.sizes.scale_s)))
    running = [pgbench.start(databases.url(name), script, "-T", seconds, "-D", "n=0") for name in stores]
    found = [pgbench.finish(process) for process in running]
    time.sleep(0.2)
    return {
        "pipelines": len(stores),
        "per_s": round(sum(one.rate for one in found), 1),
        "each_per_s": round(sum(one.rate for one in found) / len(found), 1),
        "message_ms": round(sum(one.latency_ms for one in found) / len(found), 3),
    }


def _bend(points: list[dict[str, Any]]) -> float:
    """The most pipelines of which each still has nearly its rate alone."""
    alone = points[0]["each_per_s"]
    return float(max(p["pipelines"] for p in points if p["each_per_s"] >= _BENT * alone))


def _most(curves: dict[str, list[dict[str, Any]]]) -> dict[str, float]:
    return {name: max(point["per_s"] for point in points) for name, points in curves.items()}
