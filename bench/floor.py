"""The floor of a message in PostgreSQL: that it writes what the product writes, and what it costs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.frame import pgbench
from bench.frame.context import Context
from bench.frame.databases import run
from bench.frame.prepared import Prepared, contents, sql
from bench.frame.rounds import Spread, in_turn, ratios
from bench.frame.targets import Condition, Row, Target

SCRIPT = """\\set n :n + 1
SELECT floor.BIND(:n);
SELECT floor.APPLY(:n);
SELECT floor.FINISH(:n);
"""
_BARE = """UPDATE bare SET v = v + 1;
UPDATE bare SET v = v + 1;
UPDATE bare SET v = v + 1;
"""


def rate(context: Context, prepared: Prepared) -> float:
    """Messages a second of the floor, over all that wait, on pages of its own."""
    with context.servers.databases.copy(prepared.floor) as url:
        return pgbench.times(url, _script(context.folder), prepared.messages, ("n=0",)).rate


def measure(context: Context) -> list[Row]:
    """Whether the floor is one, and how far it is above three bare commits."""
    prepared = context.prepared
    written, conditions = same_rows(context, prepared)
    pairs = in_turn(context.sizes.rounds, lambda _: rate(context, prepared), lambda _: _bare_rate(context))
    details = {
        "floor_per_s": [round(pair.ours) for pair in pairs],
        "bare_per_s": [round(pair.reference) for pair in pairs],
        "messages": prepared.messages,
    }
    floor = Row(
        "floor",
        "rows written by the floor, by those that the product writes",
        Spread.of(written),
        Target.at_most(1.0),
        conditions=conditions,
        details=details,
    )
    bare = Row("floor-bare", "floor by three bare one-row commits", ratios(pairs), details=details)
    return [floor, bare]


def same_rows(context: Context, prepared: Prepared) -> tuple[float, tuple[Condition, ...]]:
    """Run the floor under audit; how much it wrote by what the product wrote, and how they compare."""
    with context.servers.databases.copy(prepared.floor) as url:
        run(url, sql("audit"))
        pgbench.times(url, _script(context.folder), prepared.messages, ("n=0",))
        found = contents(url)
    wanted = prepared.rows
    differing = [name for name in wanted["tables"] if wanted["tables"][name] != found["tables"].get(name)]
    differing = [name for name in differing if name != "lease"]
    conditions = (
        Condition(_said("the same rows in every table", differing), not differing),
        Condition("the same writes in the same three commits", wanted["writes"] == found["writes"]),
        Condition("three commits a message", len(found["writes"]) == 3 * prepared.messages),
    )
    return sum(map(len, found["writes"])) / sum(map(len, wanted["writes"])), conditions


def _said(what: str, differing: list[Any]) -> str:
    return f"{what}, but for {', '.join(differing)}" if differing else what


def _script(folder: Path) -> Path:
    return pgbench.script(folder, "floor", SCRIPT)


def _bare_rate(context: Context) -> float:
    databases = context.servers.databases
    name = databases.create("bare")
    try:
        run(
            databases.url(name),
            "CREATE TABLE bare (v bigint) WITH (fillfactor = 10); INSERT INTO bare VALUES (0)",
        )
        run(databases.admin, "CHECKPOINT")
        path = pgbench.script(context.folder, "bare", _BARE)
        return pgbench.times(databases.url(name), path, context.sizes.bare_commits).rate
    finally:
        databases.drop(name)
