"""A crash in the middle of any transaction leaves nothing of it, and all is done once (R-449, D-03)."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from crashing.departures import compare
from crashing.matrix import KINDS, recovered, undisturbed
from crashing.state import State
from embedded import SimulatedCrash
from msgx_adapters.store_sqlite.connection import NO_PARAMS, Connection, Params
from msgx_core.pipeline.steps import Step, no_step

SOON = {
    "SCHD single day",
    "SCHD code share moves",
    "FDEL main flight",
    "FLOP GTDT",
    "reference GLST",
    "RESP for days of which one is empty",
    "too large for the bus",
    "mark refused past R",
    "a child leaves, its main flight stays",
    "old rows leave",
    "replay after a fix",
    "killed in its try",
}


class Interrupted(Connection):
    """Tells of each statement that writes, before it runs."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.on_statement: Callable[[str], None] = no_step
        super().__init__(raw)

    def run(self, sql: str, params: Params = NO_PARAMS) -> int:
        """Run a statement."""
        self.on_statement(sql)
        return super().run(sql, params)

    def run_many(self, sql: str, params: Iterable[Params]) -> int:
        """Run a statement for each."""
        self.on_statement(sql)
        return super().run_many(sql, params)

    def last_id(self, sql: str, params: Params) -> int:
        """Run an insert."""
        self.on_statement(sql)
        return super().last_id(sql, params)

    def rows(self, sql: str, params: Params = NO_PARAMS) -> list[dict[str, Any]]:
        """Rows of a query, or of what a statement has changed."""
        if "RETURNING" in sql.upper():
            self.on_statement(sql)
        return super().rows(sql, params)


def interrupted(name: str, number: int) -> tuple[str, State] | None:
    """The statement before which the process was gone, and what was left; None: so many do not run."""
    world = undisturbed(name).before.copy(Interrupted)
    connection = world.connection
    assert isinstance(connection, Interrupted)
    left = number

    def step(name: str) -> None:
        """Not in quiet phases."""

    def statement(sql: str) -> None:
        nonlocal left
        if bench.on_step is not step:
            return
        left -= 1
        if left == -1:
            raise SimulatedCrash(" ".join(sql.split())[:80])

    try:
        bench = world.bench()
        bench.on_step, connection.on_statement = step, statement
        at = recovered(bench)
        return (at[0], world.state()) if at else None
    finally:
        world.close()


@pytest.mark.parametrize(
    "name", [pytest.param(k.name, marks=[] if k.name in SOON else pytest.mark.deep) for k in KINDS]
)
def test_a_crash_before_every_statement(name: str) -> None:
    """R-449, INV-3, INV-4: no half transaction, whichever it was; the end is that of an undisturbed run."""
    problems, number = {}, 0
    while (found := interrupted(name, number)) is not None:
        wrong = compare(found[1], undisturbed(name).state, _boundary(found[1]))
        if wrong:
            problems[f"{number}: {found[0]}"] = wrong
        number += 1
    assert number > 5
    assert problems == {}


def _boundary(found: State) -> Step:
    """The boundary behind us, as far as one matters for what may differ."""
    lost = any(row["REASON"] == "send-lost" for row in found["store"]["REQ_TRACK"])
    told = [row for row in found["store"]["OPS_ALERT"] if row["CODE"] == "CACHE_LOST"]
    return Step.SEND_BEGUN if lost else Step.CACHE_LOST if len(told) > 1 else Step.ARCHIVED
