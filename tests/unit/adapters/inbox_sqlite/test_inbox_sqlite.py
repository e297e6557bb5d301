"""What is particular to the mailbox in a SQLite file."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from msgx_adapters.inbox_sqlite import Columns, SqliteInbox
from msgx_adapters.inbox_sqlite.errors import translated
from msgx_adapters.inbox_sqlite.statements import Statements
from msgx_core.errors import ConfigError, Rejected, Transient
from msgx_core.model.localtime import to_instant
from msgx_core.ports.inbox import MarkResult
from msgx_core.testing.clock import ManualClock

ZONE = ZoneInfo("Asia/Shanghai")
NOON = datetime(2021, 1, 23, 4, 0, tzinfo=UTC)


def open_inbox(path: Path, *, create: bool = False, timeout_s: float = 5.0) -> SqliteInbox:
    return SqliteInbox.open(path, zone=ZONE, clock=ManualClock(NOON), create=create, timeout_s=timeout_s)


def run(path: Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(sql, values).fetchall()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "mailbox.db"


@pytest.fixture
def inbox(path: Path) -> Iterator[SqliteInbox]:
    with closing(open_inbox(path, create=True, timeout_s=0.2)) as inbox:
        yield inbox


def test_a_missing_file_names_the_remedy(path: Path) -> None:
    with pytest.raises(ConfigError, match=r"does not exist.*`msgx init`"):
        open_inbox(path)
    assert not path.parent.exists()


def test_a_file_without_the_table_names_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    with pytest.raises(ConfigError, match=r"no such table: CMINMSGS.*`msgx init`"):
        open_inbox(tmp_path / "empty.db")


def test_a_place_that_cannot_be_is_a_fault_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be made"):
        open_inbox(tmp_path / "file" / "mailbox.db", create=True)


def test_creating_again_keeps_what_is_there(inbox: SqliteInbox, path: Path) -> None:
    msg_id = inbox.send("<MSG/>")
    with closing(open_inbox(path, create=True)) as again:
        assert again.scan(0, 10) == [msg_id]
    assert run(path, "SELECT count(*) FROM COUTMSGS") == [(0,)]


def test_ids_are_not_used_again(inbox: SqliteInbox, path: Path) -> None:
    """R-030."""
    last = inbox.send_many(["<MSG/>"] * 3)[-1]
    run(path, "DELETE FROM CMINMSGS")
    assert inbox.send("<MSG/>") == last + 1


def test_opening_changes_nothing(tmp_path: Path) -> None:
    """D-42: also the journal mode is the owner's; only in a file that we make it is set."""
    path = tmp_path / "theirs.db"
    run(path, Statements.load("T", COLUMNS).schema.split(";")[0])
    before = path.read_bytes()
    with closing(SqliteInbox.open(path, zone=ZONE, clock=ManualClock(), table="T", columns=COLUMNS)) as inbox:
        assert inbox.scan(0, 10) == []
        inbox.ping()
    assert path.read_bytes() == before


COLUMNS = Columns(id="NR", text="ORDER", received="CAME", processed="DONE", status="ST")


def test_names_are_the_owners(tmp_path: Path) -> None:
    """wire.md: names are parameters, SQL keywords included."""
    path = tmp_path / "theirs.db"
    with closing(
        SqliteInbox.open(
            path, zone=ZONE, clock=ManualClock(NOON), create=True, table="GROUP", columns=COLUMNS
        )
    ) as inbox:
        msg_id = inbox.send(b"<MSG/>")
        assert inbox.mark([(msg_id, NOON)]) == {msg_id: MarkResult.WRITTEN}
    assert run(path, "SELECT NR, [ORDER], CAME, DONE, ST FROM [GROUP]") == [
        (1, b"<MSG/>", "2021-01-23 12:00:00", "2021-01-23 12:00:00", None)
    ]


def test_a_wrong_column_is_found_at_once(inbox: SqliteInbox, path: Path) -> None:
    """SQLite would take an unknown column in double quotes for a text."""
    with pytest.raises(ConfigError, match="no such column"):
        SqliteInbox.open(path, zone=ZONE, clock=ManualClock(), columns=Columns(processed="NOPE"))


def test_names_that_are_no_names_are_refused(path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        SqliteInbox.open(
            path, zone=ZONE, clock=ManualClock(), table="T; DROP TABLE T", columns=Columns(text="a]b")
        )
    assert len(caught.value.problems) == 2


def test_a_file_that_is_no_database_does_not_answer(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("no database " * 1_000)
    with pytest.raises(Transient, match="not a database"):
        open_inbox(tmp_path / "text.db")


def test_a_locked_file_does_not_answer_writers_within_the_timeout(inbox: SqliteInbox, path: Path) -> None:
    """D-04: bounded; and a stuck writer does not keep us from reading."""
    msg_id = inbox.send("<MSG/>")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = time.monotonic()
        with pytest.raises(Transient, match="locked"):
            inbox.mark([(msg_id, NOON)])
        with pytest.raises(Transient, match="locked"):
            inbox.send("<MSG/>")
        assert time.monotonic() - started < 3
        assert inbox.scan(0, 10) == [msg_id]
    assert inbox.mark([(msg_id, NOON)]) == {msg_id: MarkResult.WRITTEN}


@pytest.mark.parametrize("noticed", [True, False])
def test_a_replaced_file_is_opened_anew(
    inbox: SqliteInbox, path: Path, tmp_path: Path, noticed: bool
) -> None:
    """R-024: never go on with a file that nobody else sees."""
    inbox.send_many(["<MSG/>"] * 2)
    with closing(open_inbox(tmp_path / "other.db", create=True)) as other:
        other.send("<OTHER/>")
    for part in path.parent.iterdir():
        part.unlink()
    if noticed:
        with pytest.raises(Transient, match="No such file"):
            inbox.scan(0, 10)
    (tmp_path / "other.db").rename(path)
    assert inbox.scan(0, 10) == [1]
    assert inbox.fetch(1) == "<OTHER/>"
    assert inbox.send("<MSG/>") == 2


def test_a_closed_inbox_does_not_answer(inbox: SqliteInbox) -> None:
    inbox.close()
    with pytest.raises(Transient, match="closed"):
        inbox.ping()


def test_scan_follows_the_index_in_order(inbox: SqliteInbox, path: Path) -> None:
    """D-35: no sorting and no walk over processed rows, in an index that covers it."""
    sql = Statements.load("CMINMSGS", Columns()).scan
    plan = run(path, f"EXPLAIN QUERY PLAN {sql.replace(':after', '0').replace(':limit', '10')}")
    steps = [str(step[3]) for step in plan]
    assert sum("USING COVERING INDEX CMINMSGS_UNPROCESSED" in step for step in steps) == 3
    assert not [step for step in steps if "SCAN" in step or "TEMP B-TREE" in step]


def test_text_that_is_no_utf8_comes_as_bytes(inbox: SqliteInbox, path: Path) -> None:
    """D-44: the codec decides, with the raw bytes kept."""
    run(path, "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES (CAST(x'3c4d53473eff' AS TEXT)), (42)")
    assert inbox.fetch(1) == b"<MSG>\xff"
    assert inbox.fetch(2) == "42"


def test_one_damaged_row_does_not_stop_the_others(path: Path) -> None:
    """D-04: `raw-unreadable` counts an attempt of this message alone."""
    with closing(open_inbox(path, create=True)) as inbox:
        inbox.send_many(["<MSG/>", b"A" * 100_000, "<MSG/>"])
    content = bytearray(path.read_bytes())
    page = next(n for n in range(4096, len(content), 4096) if content[n + 4 : n + 4096] == b"A" * 4092)
    content[page : page + 4] = b"\x7f\xff\xff\xff"
    path.write_bytes(content)
    with closing(open_inbox(path)) as inbox:
        with pytest.raises(Rejected) as caught:
            inbox.fetch(2)
        assert caught.value.reason == "raw-unreadable"
        assert inbox.fetch(3) == "<MSG/>"
        assert inbox.mark([(3, NOON)]) == {3: MarkResult.WRITTEN}


def test_many_messages_are_sent_all_or_none(inbox: SqliteInbox) -> None:
    with pytest.raises(UnicodeEncodeError):
        inbox.send_many(["<MSG/>", "\ud800"])
    assert inbox.scan(0, 10) == []
    assert inbox.send_many(["<MSG/>", b"<MSG/>"]) == [1, 2]
    assert inbox.send_many([]) == []


def test_a_row_that_the_owner_refuses_is_rejected(inbox: SqliteInbox, path: Path) -> None:
    run(path, "CREATE TRIGGER no BEFORE INSERT ON CMINMSGS BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(Rejected, match="full"):
        inbox.send("<MSG/>")


def test_the_first_of_two_marks_of_a_row_counts(inbox: SqliteInbox) -> None:
    msg_id = inbox.send("<MSG/>")
    assert inbox.mark([(msg_id, NOON), (msg_id, NOON)]) == {msg_id: MarkResult.WRITTEN}


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2021-01-23 12:00:00", NOON),
        (" 2021-01-23 12:00:00.000 ", NOON),
        ("2021-01-23T05:00:00+01:00", NOON),
        ("2021-01-22", datetime(2021, 1, 21, 16, 0, tzinfo=UTC)),
        ("0000-00-00 00:00:00", None),
        ("0001-01-01 00:00:00", None),
        ("yesterday", None),
        ("", None),
        (1611374400, None),
        (None, None),
    ],
)
def test_receive_times_are_read_leniently(text: object, instant: datetime | None) -> None:
    assert to_instant(text, ZONE) == instant


@pytest.mark.parametrize(
    "code",
    [
        "BUSY",
        "LOCKED",
        "IOERR",
        "FULL",
        "READONLY",
        "CANTOPEN",
        "NOTADB",
        "PERM",
        "NOMEM",
        "PROTOCOL",
        "ERROR",
    ],
)
def test_what_stops_all_work_is_an_outage(code: str) -> None:
    """D-04."""
    error = sqlite3.OperationalError("because")
    error.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{code}") | 3 << 8
    error.sqlite_errorname = f"SQLITE_{code}"
    problem = translated(error)
    assert isinstance(problem, Transient)
    assert problem.detail == f"SQLITE_{code} because"
    assert isinstance(translated(sqlite3.ProgrammingError("closed")), Transient)
