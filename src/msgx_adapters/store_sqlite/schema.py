"""The schema of the file and its version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from uuid import uuid4

from msgx_adapters.store_sqlite.connection import Connection
from msgx_core.errors import ConfigError

VERSION = 1
"""The schema that this program reads and writes; `PRAGMA user_version` of the file."""

_OLDEST_SQLITE = (3, 37, 0)


def schema_sql() -> str:
    """The whole schema, as `msgx migrate --sql` prints it."""
    return files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")


def schema_version(db: Connection) -> int:
    """The version of a database; 0 when it has no schema of ours."""
    with db.read():
        return int(db.value("PRAGMA user_version"))


def migrate(db: Connection) -> None:
    """Bring the schema up to `VERSION`; nothing happens when it is there already.

    Raises `ConfigError` for a newer schema and for a file that holds other tables.
    """
    _check_library()
    with db.write():
        version = int(db.value("PRAGMA user_version"))
        _refuse_newer(version)
        if version == VERSION:
            return
        if db.value("SELECT COUNT(*) FROM sqlite_master"):
            raise ConfigError(["the file of the store is a database of something else: name another file"])
        for statement in _statements(schema_sql()):
            db.run(statement)
        db.run("INSERT INTO STORE_INFO (NAME, VALUE) VALUES ('id', :id)", {"id": uuid4().hex})
        db.run(f"PRAGMA user_version = {VERSION}")


def check(db: Connection) -> None:
    """Raise `ConfigError` with the remedy unless the schema is the one of this program."""
    _check_library()
    version = schema_version(db)
    _refuse_newer(version)
    if version < VERSION:
        found = f"has schema version {version}" if version else "has no schema yet"
        raise ConfigError([f"the store {found}, this msgx needs version {VERSION}: run `msgx migrate`"])


def _refuse_newer(version: int) -> None:
    if version > VERSION:
        raise ConfigError(
            [f"the store has schema version {version}, this msgx knows {VERSION}: use the newer msgx again"]
        )


def _check_library() -> None:
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        needed = ".".join(str(part) for part in _OLDEST_SQLITE)
        raise ConfigError([f"SQLite {sqlite3.sqlite_version} is too old for the store: {needed} is needed"])


def _statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit before it starts."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
