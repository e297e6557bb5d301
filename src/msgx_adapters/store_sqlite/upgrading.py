"""An older file brought up by alembic in one transaction. Importing this needs alembic."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from msgx_adapters.store_sql import upgrading
from msgx_adapters.store_sql.revisions import InUse, Revisions
from msgx_adapters.store_sqlite.errors import translate
from msgx_core.errors import ConfigError

WAIT_S = 60.0
"""How long it waits for who writes meanwhile: another upgrade."""

_HOLDER = """
SELECT HOLDER FROM LEASE
WHERE HOLDER IS NOT NULL AND EXPIRES_UNIX > (julianday('now') - 2440587.5) * 86400.0
"""


def upgrade(path: str, revisions: Revisions) -> None:
    """Bring a file up to the newest revision; an empty one gets all of them.

    Waits for another upgrade, and does nothing when that one has done it. Rows that refer to others may be
    moved in any order: foreign keys are checked at the end. Raises `InUse`, `ConfigError`, `Transient`
    or `Rejected`.
    """
    with _translated(), _connection(path) as connection, connection.begin():
        # SQLAlchemy's own beginning sends nothing.
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        found = _revision(connection)
        if found is not None:
            if not revisions.is_older("the store", found):
                return
            _fence(connection)
        upgrading.upgrade(connection, revisions)
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
        if broken is not None:
            raise ConfigError([f"the upgrade would leave rows of {broken[0]} without what they refer to"])


def _fence(connection: Connection) -> None:
    """Not beside a running msgx. An instance that sleeps through it is fenced afterwards: the epoch rises."""
    holder = connection.exec_driver_sql(_HOLDER).scalar()
    if holder is not None:
        raise InUse("the store", holder)
    connection.exec_driver_sql("UPDATE PIPELINE_LOCK SET EPOCH = EPOCH + 1")


def _revision(connection: Connection) -> str | None:
    there = "SELECT name FROM sqlite_master WHERE name = 'alembic_version' COLLATE NOCASE"
    if connection.exec_driver_sql(there).first() is None:
        return None
    found: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return found


@contextmanager
def _connection(path: str) -> Iterator[Connection]:
    raw = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
    with closing(raw):
        raw.execute("PRAGMA foreign_keys = OFF")
        raw.execute("PRAGMA synchronous = FULL")
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=NullPool)
        with engine.connect() as connection:
            yield connection


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise translate(error.orig if isinstance(error.orig, Exception) else error) from error
    except sqlite3.Error as error:
        raise translate(error) from error
