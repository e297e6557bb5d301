"""Verification, column by column: each is vouched for, or is listed here and in `docs/evidence.md` (D-36).

The columns are those of the declared schema: a new one is tried like all others, and fails until somebody
has decided about it.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from damage import DAYS, fill
from embedded import closing_system
from msgx_adapters.archive_fsspec import FsspecArchive
from tampered import KINDS, NOTHING_OF, ROOT, TABLES, Kind, Whole, loosen, more
from verified import Keeps, verified


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:
    folder = tmp_path_factory.mktemp("columns")
    archive = FsspecArchive.in_folder(folder / "archive")
    with closing_system(folder / "store.db", config=DAYS, archive=archive, history=Keeps()) as system:
        system.start()
        fill(system.pipeline, system.clock, system.send)
        ids = more(system)
        assert verified(system)[1] == []
        copy = folder / "loose.db"
        system.store.connection.run("VACUUM INTO :copy", {"copy": str(copy)})
        loosen(copy)
        yield Whole(system, copy, ids)
    archive.close()


FOUND_BY = ("MSG_ID", "FLID", "EVENT_ID", "AUDIT_ID", "TARGET")
"""What rows are found by: without it a row is not there, and no table lets it be."""
OTHERS = {"STATE": ("PENDING", "SUCCEEDED", "SKIPPED", "DEAD"), "TARGET": ("KAFKA:msg", "KAFKA:schd")}
OTHERS |= {"STATUS": ("PENDING", "SENT", "DEAD", "DISCARDED")}
BY_HAND = {("notice, dead", "STATUS", "'DISCARDED'")}
"""What an operator may do; the audit says who did."""
FLIGHT_STATES = ("ACTIVE", "DELETED")


def values(kind: Kind, column: str) -> list[str]:
    """What a hand could put there instead, each as SQL: another one of the same kind, and nothing at all."""
    if column in OTHERS and (kind.table, column) != ("OPS_AUDIT", "TARGET"):
        legal = FLIGHT_STATES if kind.table == "FLIGHT_SCHD" else OTHERS[column]
        return [f"'{each}'" for each in legal]
    if TABLES[kind.table][column] == "INTEGER":
        return [f"COALESCE({column}, 0) + 1", "NULL"]
    if column.endswith(("_AT", "_UNTIL")):
        now = f"COALESCE({column}, '2027-03-19T00:00:00.000000+00:00')"
        return [f"strftime('%Y-%m-%dT%H:%M:%f000+00:00', {now}, '+1 second')", "NULL"]
    if column == "OPERATION_DAY":
        return [f"date({column}, '+1 day')", "NULL"]
    if column == "CONTENT":
        return [f"json_set({column}, '$.STND', '999')", "NULL"]
    if column == "PAYLOAD":
        return ["replace(PAYLOAD, '1', '7')", "PAYLOAD || ' '", "NULL"]
    return [f"COALESCE({column}, '') || 'x'", "NULL"]


def stands(whole: Whole, kind: Kind, column: str) -> str:
    """What is there, as SQL."""
    raw = sqlite3.connect(whole.path)
    ((value,),) = raw.execute(f"SELECT quote({column}) FROM {kind.table} WHERE {whole.row(kind)}").fetchall()
    raw.close()
    return str(value)


@pytest.mark.parametrize("name", KINDS)
def test_another_value_in_any_column_is_told(whole: Whole, tmp_path: Path, name: str) -> None:
    """D-36: or the column is listed as one of which nothing is known, and then nothing is told of it."""
    kind = KINDS[name]
    missed: list[tuple[object, ...]] = []
    known: list[tuple[object, ...]] = []
    for column in TABLES[kind.table]:
        if column == "EPOCH":
            continue
        for value in values(kind, column):
            if value == "NULL" and column in FOUND_BY:
                continue
            change = f"UPDATE {kind.table} SET {column} = {value} WHERE {whole.row(kind)}"
            if became(whole, tmp_path, f"{change} RETURNING quote({column})") == stands(whole, kind, column):
                continue
            found = whole.tampered(tmp_path, change)
            is_unknown = column in kind.unknown.split()
            if not found and not is_unknown and (name, column, value) not in BY_HAND:
                missed.append((column, value))
            if found and is_unknown and value != "NULL":
                known.append((column, value, [(each.key, each.field) for each in found]))
    assert not missed + known, "\n".join(map(str, missed + known))


def became(whole: Whole, folder: Path, change: str) -> str:
    """What a change leaves in its column."""
    copy = folder / "tried.db"
    shutil.copy(whole.path, copy)
    raw = sqlite3.connect(copy, isolation_level=None)
    ((value,),) = raw.execute(change).fetchall()
    raw.close()
    return str(value)


@pytest.mark.parametrize("name", KINDS)
def test_a_row_that_is_missing_is_told(whole: Whole, tmp_path: Path, name: str) -> None:
    """D-36: or age can have taken it, and nothing is told."""
    kind = KINDS[name]
    found = whole.tampered(tmp_path, f"DELETE FROM {kind.table} WHERE {whole.row(kind)}")
    assert bool(found) is not kind.lost, found


KEYS = {
    "PROC_STATE": "MSG_ID = 777, IDENTITY_KEY = NULL, APPLY_NO = APPLY_NO + 1000",
    "FLIGHT_SCHD": "FLID = 777",
    "FLIGHT_RAW_SECTION": "FLID = 777",
    "FLIGHT_VERSION_FLOOR": "FLID = 777",
    "SCHD_GEN": "OPERATION_DAY = '2027-03-30'",
    "SCHD_GEN_FLID": "FLID = 777",
    "SENDER_MARK": "SNDR = 'NOBODY'",
    "REF_RECORD": "RKEY = 'ZZ', ORDINAL = ORDINAL + 100",
    "MSG_EVENT": "EVENT_ID = EVENT_ID + 1000, FLID = 777",
    "STORE_INFO": "NAME = NAME || 'x'",
    "COUNTERS": "NAME = NAME || 'x'",
    "OPS_AUDIT": "TARGET = 777",
}
HARMLESS = {"failed", "waiting", "id", "sent once more", "put back", "let in again", "dead", "identity"}
"""A message that waits is not decided yet; a pin that nothing names, and what people say they did."""


@pytest.mark.parametrize("name", [name for name in KINDS if name not in HARMLESS])
def test_a_row_that_is_one_too_many_is_told(whole: Whole, tmp_path: Path, name: str) -> None:
    """D-36: a copy of a row under another key."""
    kind = KINDS[name]
    made = f"INSERT INTO {kind.table} SELECT * FROM {kind.table} WHERE {whole.row(kind)}"
    last = f"rowid = (SELECT MAX(rowid) FROM {kind.table})"
    assert whole.tampered(tmp_path, made, f"UPDATE {kind.table} SET {KEYS[kind.table]} WHERE {last}") != []


def test_each_table_is_decided_about() -> None:
    """D-36: by rows of a kind, or as one of which nothing is compared."""
    assert sorted({*NOTHING_OF, *(kind.table for kind in KINDS.values())}) == sorted(TABLES)
    for kind in KINDS.values():
        assert set(kind.unknown.split()) <= TABLES[kind.table].keys()


def test_what_is_not_compared_is_written_down() -> None:
    """D-36: `docs/evidence.md` names every table, and each column of which nothing is known."""
    text = (ROOT / "docs" / "evidence.md").read_text(encoding="utf-8")
    rows = [row for row in text.splitlines() if row.startswith("|")]
    missing = []
    for table in TABLES:
        shown = "REF_MASTER" if table == "REF_RECORD" else table
        said = " ".join(row for row in rows if re.search(rf"`{shown}`", row.split("|")[1]))
        unknown = {
            column for kind in KINDS.values() if kind.table == table for column in kind.unknown.split()
        }
        missing += [f"{table}.{column}" for column in sorted(unknown) if f"`{column}`" not in said]
        missing += [] if said else [table]
    assert missing == []


def test_there_is_a_row_of_each_kind(whole: Whole) -> None:
    """What is tried is there to be tried."""
    raw = sqlite3.connect(whole.path)
    for name, kind in KINDS.items():
        assert raw.execute(f"SELECT 1 FROM {kind.table} WHERE {whole.row(kind)}").fetchall(), name
    raw.close()
