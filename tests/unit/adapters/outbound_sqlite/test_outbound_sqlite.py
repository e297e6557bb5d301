"""What is particular to outbound rows in a SQLite file, and in memory."""

import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from msgx_adapters.outbound_memory import MemoryOutbound
from msgx_adapters.outbound_sqlite import Columns, SqliteOutbound
from msgx_core.errors import ConfigError, Rejected, Transient
from msgx_core.testing.clock import ManualClock

ZONE = ZoneInfo("Asia/Shanghai")
NOON = datetime(2021, 1, 23, 4, 0, tzinfo=UTC)


def opened(path: Path, *, create: bool = False, timeout_s: float = 0.2) -> SqliteOutbound:
    return SqliteOutbound.open(path, zone=ZONE, clock=ManualClock(NOON), create=create, timeout_s=timeout_s)


def run(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(sql).fetchall()


def test_missing_files_and_tables_name_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"does not exist.*`msgx init`"):
        opened(tmp_path / "nothing.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(ConfigError, match=r"no such table: COUTMSGS.*`msgx init`"):
        opened(tmp_path / "empty.db")
    with pytest.raises(ConfigError, match="cannot be made"):
        opened(tmp_path / "empty.db" / "mailbox.db", create=True)
    (tmp_path / "text.db").write_text("no database " * 1_000)
    with pytest.raises(Transient, match="not a database"):
        opened(tmp_path / "text.db")


def test_names_are_the_owners(tmp_path: Path) -> None:
    path = tmp_path / "new" / "mailbox.db"
    columns = Columns(id="NR", text="ORDER", inserted="AT", sent="GONE", routing_id="TO")
    outbound = SqliteOutbound.open(
        path, zone=ZONE, clock=ManualClock(NOON), create=True, table="GROUP", columns=columns
    )
    assert outbound.insert("<MSG/>", "R") == 1
    assert run(path, "SELECT NR, [ORDER], AT, GONE, [TO] FROM [GROUP]") == [
        (1, "<MSG/>", "2021-01-23 12:00:00", None, "R")
    ]
    with pytest.raises(ConfigError) as caught:
        SqliteOutbound.open(path, zone=ZONE, clock=ManualClock(), table="a]b", columns=Columns(id="1x"))
    assert len(caught.value.problems) == 2


def test_a_locked_file_does_not_answer_within_the_timeout(tmp_path: Path) -> None:
    path = tmp_path / "mailbox.db"
    outbound = opened(path, create=True)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        with pytest.raises(Transient, match="locked"):
            outbound.insert("x", "R")
        assert time.monotonic() - started < 2
        assert list(outbound.inserted_since(NOON)) == []
    assert outbound.insert("x", "R") == 1


def test_a_row_that_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "mailbox.db"
    outbound = opened(path, create=True)
    run(path, "CREATE TRIGGER no BEFORE INSERT ON COUTMSGS BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(Rejected, match="full"):
        outbound.insert("x", "R")


def test_rows_of_others_may_be_anything(tmp_path: Path) -> None:
    path = tmp_path / "mailbox.db"
    outbound = opened(path, create=True)
    for value in ("NULL", "x'3cff'", "42", "'京'"):
        run(
            path,
            "INSERT INTO COUTMSGS (COUTMSGS_CLOB_MSG, COUTMSGS_DATE_INSERTED, ROUTINGID)"
            f" VALUES ({value}, '2021-01-23 12:00:00', 'X')",
        )
    assert [row.text for row in outbound.inserted_since(NOON)] == ["", "<\ufffd", "42", "京"]


def test_the_memory_shows_its_rows_when_closed() -> None:
    outbound = MemoryOutbound(zone=ZONE, clock=ManualClock(NOON))
    outbound.insert("x", "R")
    outbound.close()
    with pytest.raises(Transient, match="closed"):
        outbound.insert("y", "R")
    assert [(row.text, row.inserted) for row in outbound.rows()] == [("x", "2021-01-23 12:00:00")]
