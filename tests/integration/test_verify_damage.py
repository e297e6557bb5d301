"""Verification of a store whose values cannot be read: each is a difference, and the run goes on (D-36)."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from damage import ALONE, DAYS, fill
from embedded import System, closing_system
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.pipeline.differences import Difference
from msgx_core.ports.inspection import EVENTS, MESSAGES, WHOLE_TABLES, Column, Kind, Unreadable
from verified import Keeps, verified

TABLES = (*WHOLE_TABLES, MESSAGES, EVENTS)
NOT_TRIED = """FLIGHT_SCHD.FLID FLIGHT_RAW_SECTION.FLID FLIGHT_VERSION_FLOOR.FLID SCHD_GEN_FLID.FLID
MSG_EVENT.FLID PROC_STATE.MSG_ID PROC_STATE.APPLY_NO MSG_EVENT.EVENT_ID MSG_EVENT.MSG_ID OPS_AUDIT.AUDIT_ID
OPS_AUDIT.ACTION STORE_INFO.NAME PROC_STATE.TOUCHED FLIGHT_SCHD.TAG_ORDER""".split()
"""Numbers by which rows are found, and names that choose them; columns of another store."""
TABLE_OF = {"REF_MASTER": "REF_RECORD"}


@frozen
class Whole:
    """A system with something in every table, and its store file without any constraint."""

    system: System
    path: Path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    folder = tmp_path_factory.mktemp("damage")
    archive = FsspecArchive.in_folder(folder / "archive")
    with closing_system(folder / "store.db", config=DAYS, archive=archive, history=Keeps()) as system:
        system.start()
        fill(system.pipeline, system.clock, system.send)
        assert verified(system)[1] == []
        copy = folder / "loose.db"
        system.store.connection.run("VACUUM INTO :copy", {"copy": str(copy)})
        loosen(copy)
        yield Whole(system, copy)
    archive.close()


def loosen(path: Path) -> None:
    """Take every constraint away, as somebody does who makes a table anew by hand."""
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA legacy_alter_table = ON")
    for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        raw.execute(f"DROP TRIGGER {name}")
    for table in sorted({TABLE_OF.get(each.name, each.name) for each in TABLES}):
        raw.execute(f"ALTER TABLE {table} RENAME TO strict")
        raw.execute(f"CREATE TABLE {table} AS SELECT * FROM strict")
        raw.execute("DROP TABLE strict")
    raw.close()


BAD: dict[Kind, tuple[Any, ...]] = {
    Kind.NUMBER: (None, "five", b"\xff", 1.5),
    Kind.FLAG: (None, 2, "yes"),
    Kind.TEXT: (None, "\udcff", b"\xff"),
    Kind.INSTANT: (None, "yesterday", "2027-03-14T06:00:00", "2027-03-14T06:00:00Z", b"\xff", 7),
    Kind.DAY: (None, "2027-02-30", "20270314", "", 7),
    Kind.FIELDS: (None, "", "{", "[]", "7", '{"STND": 1.5}', '{"STND": null}', "[" * 5000, b"\xff"),
    Kind.NODE: (
        None,
        "{",
        "{}",
        "[]",
        '["A", "", {}, {}]',
        '["A", "", {"B": 1}, []]',
        '["\\ud800","",{},[]]',
    ),
    Kind.NUMBERS: (),
}


CASES = [
    (table.name, column.name)
    for table in TABLES
    for column in table.columns
    if f"{table.name}.{column.name}" not in NOT_TRIED
]


def column_of(table: str, name: str) -> Column:
    (found,) = [c for each in TABLES if each.name == table for c in each.columns if c.name == name]
    return found


@pytest.mark.parametrize(("table", "column"), CASES)
def test_a_value_that_cannot_be_read_is_named(whole: Whole, tmp_path: Path, table: str, column: str) -> None:
    """D-36: with its table and column, whatever it is; the run goes on to its end."""
    spec = column_of(table, column)
    for bad in BAD[spec.kind]:
        if bad is None and spec.optional:
            continue
        found = damaged(whole, tmp_path, table, column, bad)
        told = [each for each in found if each.table == table and names(each, column)]
        assert [each for each in told if isinstance(each.stored, Unreadable)], (bad, found)
        # A change elsewhere is found all the same.
        assert (str(ALONE), "STATE_VERSION") in {(each.key, each.field) for each in found}, (bad, found)


def names(found: Difference, column: str) -> bool:
    """Whether a difference is about that column; fields and raw sections go by their tag."""
    by_tag = {"CONTENT": "STND", "XML": "SRVT"}.get(column)
    return found.field.split()[0] in (column, by_tag)


def damaged(whole: Whole, folder: Path, table: str, column: str, bad: Any) -> list[Difference]:
    """What verification finds when one row of a table holds that."""
    if bad == "\udcff":
        return changed(whole, folder, table, column, "CAST(x'ff' AS TEXT)")
    return changed(whole, folder, table, column, "?", bad)


def changed(whole: Whole, folder: Path, table: str, column: str, value: str, *given: Any) -> list[Difference]:
    """What verification finds when one row of a table holds that, and another flight is changed too."""
    copy = folder / "copy.db"
    shutil.copy(whole.path, copy)
    raw = sqlite3.connect(copy, isolation_level=None)
    name = TABLE_OF.get(table, table)
    where = f"rowid IN (SELECT rowid FROM {name} WHERE {ROWS.get(table, '1')} LIMIT 1)"
    sql = f"UPDATE {name} SET {column} = {value.format(column)} WHERE {where}"
    done = raw.execute(sql, given)
    assert done.rowcount == 1
    raw.execute("UPDATE FLIGHT_SCHD SET STATE_VERSION = 99 WHERE FLID = ?", (ALONE,))
    raw.close()
    store = SqliteStore.open(copy)
    try:
        return verified(whole.system, store=store)[1]
    finally:
        store.close()


ROWS = {
    "STORE_INFO": "NAME LIKE 'pin.policy%'",
    "COUNTERS": "NAME = 'apply_no'",
    "OPS_AUDIT": "ACTION = 'recover_versions'",
    "FLIGHT_SCHD": "FLID = 1",
    "MSG_EVENT": "TARGET = 'KAFKA:msg'",
}
