"""Opening a file: what is made, what is refused and with which remedy."""

import sqlite3
from pathlib import Path

import pytest

from msgx_adapters.store_sqlite import Connection, SqliteStore, schema_sql
from msgx_adapters.store_sqlite.migrations import REVISIONS
from msgx_core.errors import ConfigError, Transient
from msgx_core.testing.builders import enqueue


def test_a_missing_file_is_refused_and_not_made(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with pytest.raises(ConfigError, match="msgx init"):
        SqliteStore.open(path)
    assert list(tmp_path.iterdir()) == []


def test_create_makes_file_folder_and_schema(tmp_path: Path) -> None:
    path = tmp_path / "data" / "机场" / "store.db"
    store = SqliteStore.open(path, create=True)
    assert store.schema_revision() == REVISIONS.newest
    store.migrate()
    made = store.store_id()
    store.close()
    again = SqliteStore.open(path)
    assert again.store_id() == made
    again.close()


def test_creating_again_keeps_the_data(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = SqliteStore.open(path, create=True)
    store.acquire_lease("a", 60.0)
    enqueue(store, 1)
    store.close()
    again = SqliteStore.open(path, create=True)
    assert again.head() is not None
    again.close()


def test_a_file_is_durable(tmp_path: Path) -> None:
    store = SqliteStore.open(tmp_path / "store.db", create=True)
    with store.connection.read():
        pragma = {
            name: store.connection.value(f"PRAGMA {name}")
            for name in ("journal_mode", "synchronous", "foreign_keys")
        }
    store.close()
    assert pragma == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}


def test_a_file_without_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.touch()
    with pytest.raises(ConfigError, match=r"no schema yet.*msgx migrate"):
        SqliteStore.open(path)


@pytest.mark.parametrize("create", [False, True])
def test_a_newer_schema_is_refused(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "store.db"
    SqliteStore.open(path, create=True).close()
    raw = sqlite3.connect(path)
    raw.execute("UPDATE alembic_version SET version_num = '9999'")
    raw.commit()
    raw.close()
    with pytest.raises(ConfigError, match="newer msgx"):
        SqliteStore.open(path, create=create)


def test_another_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    raw = sqlite3.connect(path)
    raw.execute("CREATE TABLE ORDERS (ID INTEGER)")
    raw.commit()
    with pytest.raises(ConfigError, match="something else"):
        SqliteStore.open(path, create=True)
    assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("ORDERS",)]
    raw.close()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="folder of the store"):
        SqliteStore.open(tmp_path / "file" / "store.db", create=True)


def test_a_folder_in_place_of_the_file(tmp_path: Path) -> None:
    with pytest.raises(Transient, match="SQLITE_CANTOPEN"):
        SqliteStore.open(tmp_path)


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    path.write_text("not a database, but longer than a header " * 50, encoding="utf-8")
    with pytest.raises(Transient, match="SQLITE_NOTADB"):
        SqliteStore.open(path)


def test_an_old_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 0))
    with pytest.raises(ConfigError, match=r"3\.37\.0 is needed"):
        SqliteStore.open(None)


def test_what_is_printed_is_what_is_made(tmp_path: Path) -> None:
    """`msgx migrate --sql` gives a DBA the whole schema."""
    by_hand = sqlite3.connect(":memory:")
    by_hand.executescript(schema_sql())
    store = SqliteStore.open(tmp_path / "store.db", create=True)
    made = sqlite3.connect(tmp_path / "store.db")
    listing = "SELECT type, name, sql FROM sqlite_master ORDER BY type, name"
    assert made.execute(listing).fetchall() == by_hand.execute(listing).fetchall()
    by_hand.close()
    made.close()
    store.close()


def test_a_store_on_a_bare_connection_is_refused() -> None:
    connection = Connection.open(None)
    with pytest.raises(ConfigError, match="msgx migrate"):
        SqliteStore(connection)
    connection.close()


def test_a_store_does_not_close_the_connection_it_was_given() -> None:
    first = SqliteStore.open(None)
    SqliteStore(first.connection).close()
    first.ping()
    first.close()
    with pytest.raises(Transient, match="closed"):
        first.ping()
