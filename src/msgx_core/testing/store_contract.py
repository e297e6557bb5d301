"""Base of the store suites: the fixtures that an adapter brings, and helpers.

A subclass module supplies three fixtures:

* `store`: a fresh, empty `Store` that holds no lease;
* `another`: a function that opens one more `Store` object on the data of a given one;
* `oracle`: an `Oracle` on the data of `store`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import pytest

from msgx_core.ports import Store
from msgx_core.testing.contract import Contract

Another = Callable[[Store], Store]

TABLES = (
    "PROC_STATE MSG_EVENT FLIGHT_SCHD FLIGHT_RAW_SECTION FLIGHT_VERSION_FLOOR SCHD_GEN SCHD_GEN_FLID "
    "SENDER_MARK REF_MASTER REQ_TRACK CACHE_PENDING OPS_ALERT OPS_AUDIT OPS_JOB OPS_OUTAGE "
    "SCHD_SNAP_LOG COUNTERS"
).split()
"""Tables and views that every SQL store has under these names, with the column names of the design."""


class Oracle(Protocol):
    """The data by other means than the store's code, so that a broken put and a broken get cannot agree."""

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows of a query; column names in upper case."""
        ...

    def run(self, sql: str) -> None:
        """Run one statement and commit."""
        ...

    def content(self, flid: int) -> Mapping[str, Any]:
        """What the tables hold of a flight's fields: texts, numbers, objects, lists of objects."""
        ...


class StoreContract(Contract):
    """Base of the store suites."""

    @pytest.fixture
    def held(self, store: Store) -> Store:
        """The store with the lease."""
        assert store.acquire_lease("holder", 60.0).granted
        return store


def one(oracle: Oracle, sql: str) -> dict[str, Any]:
    """The only row of a query."""
    rows = oracle.rows(sql)
    assert len(rows) == 1, rows
    return rows[0]


def message(oracle: Oracle, msg_id: int) -> dict[str, Any]:
    """A row of `PROC_STATE`."""
    return one(oracle, f"SELECT * FROM PROC_STATE WHERE MSG_ID = {msg_id}")


def count(oracle: Oracle, table: str, where: str = "1 = 1") -> int:
    """How many rows."""
    return int(one(oracle, f"SELECT COUNT(*) AS N FROM {table} WHERE {where}")["N"])


def everything(oracle: Oracle) -> dict[str, list[dict[str, Any]]]:
    """All rows of all tables."""
    return {table: sorted(oracle.rows(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


def msg_event_ids(oracle: Oracle) -> list[int]:
    """All `EVENT_ID`s of `msg`, ascending."""
    rows = oracle.rows("SELECT EVENT_ID FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' ORDER BY EVENT_ID")
    return [row["EVENT_ID"] for row in rows]
