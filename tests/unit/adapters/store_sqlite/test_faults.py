"""A store that does not work, and a crash in the middle of ①."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from msgx_adapters.store_sqlite import SqliteStore, connection, ledger
from msgx_adapters.store_sqlite.errors import translate
from msgx_core.errors import Rejected, Transient
from msgx_core.testing.builders import apply, change, enqueue, flight, put

DIES_IN_THE_MIDDLE = """
import os, sys
from pathlib import Path
from msgx_adapters.store_sqlite import SqliteStore, ledger
from msgx_core.testing.builders import change, enqueue, flight, put

store = SqliteStore.open(Path(sys.argv[1]))
store.acquire_lease("first", 0.0)
enqueue(store, 1)
ledger.write = lambda *_: os._exit(9)
store.apply(change(1, *[put(flight(n)) for n in range(1, 2_000)]))
"""


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore.open(tmp_path / "store.db", timeout_s=0.05, create=True)
    made.acquire_lease("a", 60.0)
    yield made
    made.close()


def test_another_process_that_writes_is_waited_for_and_then_an_outage(
    store: SqliteStore, tmp_path: Path
) -> None:
    other = sqlite3.connect(tmp_path / "store.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Transient, match="SQLITE_BUSY") as caught:
        enqueue(store, 1)
    assert caught.value.service == "store"
    assert store.head() is None
    other.execute("ROLLBACK")
    other.close()
    enqueue(store, 1)


def test_a_full_disk_is_an_outage_and_leaves_nothing(store: SqliteStore) -> None:
    enqueue(store, 1)
    with store.connection.read():
        pages = store.connection.value("PRAGMA page_count")
        store.connection.run(f"PRAGMA max_page_count = {pages}")
    puts = [put(flight(n, REMC="x" * 1_000)) for n in range(1, 500)]
    with pytest.raises(Transient, match="SQLITE_FULL"):
        store.apply(change(1, *puts))
    assert store.counts().flights == {}
    with store.connection.read():
        store.connection.run("PRAGMA max_page_count = 1000000")
    assert store.apply(change(1, *puts)) == 1


def test_a_store_that_may_not_be_written_is_an_outage(store: SqliteStore) -> None:
    with store.connection.read():
        store.connection.run("PRAGMA query_only = ON")
    with pytest.raises(Transient, match="SQLITE_READONLY"):
        enqueue(store, 1)


def test_a_damaged_file_is_an_outage(store: SqliteStore, tmp_path: Path) -> None:
    apply(store, 1, *[put(flight(n, REMC="x" * 100)) for n in range(1, 2_000)])
    store.close()
    path = tmp_path / "store.db"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(8 * 4096)
        file.write(b"\xff" * (size - 8 * 4096))
    with pytest.raises(Transient, match="SQLITE_CORRUPT"), closing(SqliteStore.open(path)) as damaged:
        damaged.flights(limit=10_000)


def test_a_missing_table_is_an_outage(store: SqliteStore) -> None:
    with store.connection.write():
        store.connection.run("DROP TABLE OPS_AUDIT")
    with pytest.raises(Transient, match="no such table"):
        store.audit()


def test_a_statement_without_end_is_cut_off(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "TRANSACTION_LIMIT_S", 0.05)
    endless = "WITH RECURSIVE N (I) AS (SELECT 1 UNION ALL SELECT I + 1 FROM N) SELECT COUNT(*) FROM N"
    with pytest.raises(Transient, match="SQLITE_INTERRUPT"), store.connection.read():
        store.connection.value(endless)
    store.ping()


def test_a_thread_does_not_wait_for_ever(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "TRANSACTION_LIMIT_S", 0.05)
    caught: list[Exception] = []

    def wait() -> None:
        try:
            store.ping()
        except Transient as error:
            caught.append(error)

    with store.connection.write():
        waiting = threading.Thread(target=wait)
        waiting.start()
        waiting.join()
    assert "another thread" in str(caught[0])


class Crash(BaseException):
    """What no `except Exception` catches."""


def test_a_crash_inside_the_transaction_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every object but the connection is dropped; the next store starts from what was committed."""
    first = SqliteStore.open(None)
    first.acquire_lease("a", 60.0)
    enqueue(first, 1)

    def crash(*_: object) -> None:
        raise Crash

    monkeypatch.setattr(ledger, "write", crash)
    with pytest.raises(Crash):
        first.apply(change(1, put(flight(7))))
    monkeypatch.undo()
    survivor = first.connection
    second = SqliteStore(survivor)
    assert second.acquire_lease("a", 60.0).unclean
    assert second.counts().flights == {}
    assert second.apply(change(1, put(flight(7)))) == 1
    survivor.close()


def test_a_killed_process_leaves_nothing(store: SqliteStore, tmp_path: Path) -> None:
    store.release_lease()
    script = [sys.executable, "-c", DIES_IN_THE_MIDDLE, str(tmp_path / "store.db")]
    run = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stderr) == (9, "")
    assert store.counts().flights == {}
    assert store.counts().events == {}
    head = store.head()
    assert head is not None
    assert (head.msg_id, head.applied_at) == (1, None)
    assert store.acquire_lease("second", 60.0).unclean


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OverflowError("too large"), "store-rejected:number-too-large"),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), "store-rejected:text-not-unicode"),
        (sqlite3.InterfaceError("type 'object' is not supported"), "store-rejected:InterfaceError"),
    ],
)
def test_a_value_that_cannot_be_stored_is_the_fault_of_its_row(error: Exception, reason: str) -> None:
    translated = translate(error)
    assert isinstance(translated, Rejected)
    assert translated.reason == reason


def test_text_that_is_not_unicode_is_rejected(store: SqliteStore) -> None:
    enqueue(store, 1)
    with pytest.raises(Rejected, match="text-not-unicode"):
        store.apply(change(1, put(flight(7, REMC="\ud800"))))
    assert store.counts().flights == {}


def test_an_error_without_a_code_is_an_outage() -> None:
    assert isinstance(translate(sqlite3.OperationalError("something")), Transient)
