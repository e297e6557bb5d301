"""The schema of the file: made from its declaration in `schema.sql`, looked at, brought up."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from functools import cache
from importlib.resources import files

from msgx_adapters.store_sql.revisions import no_alembic, without_revision
from msgx_adapters.store_sqlite.connection import Connection
from msgx_adapters.store_sqlite.migrations import REVISIONS
from msgx_core.errors import ConfigError

_OLDEST_SQLITE = (3, 37, 0)
_NAME = "the store"
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"


def schema_sql() -> str:
    """The whole schema at the newest revision. The store's id comes with it."""
    return f"{declared_sql()}INSERT INTO alembic_version (version_num) VALUES ('{REVISIONS.newest}');\n"


def declared_sql() -> str:
    """The schema as `schema.sql` declares it, without the revision."""
    return files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")


@cache
def relations() -> tuple[str, ...]:
    """Names of the tables and views that the declaration makes."""
    made = re.findall(r"^CREATE (?:TABLE|VIEW) (?:IF NOT EXISTS )?(\w+)", declared_sql(), re.MULTILINE)
    return tuple(sorted(made))


def schema_revision(db: Connection) -> str | None:
    """The revision of a database; None when it is empty. `ConfigError` when it is not a store."""
    with db.read():
        return _revision(db)


def _revision(db: Connection) -> str | None:
    tables = {row["name"].lower() for row in db.rows(_TABLES)}
    if not tables:
        return None
    if "store_info" not in tables:
        raise ConfigError(["the file of the store is a database of something else: name another file"])
    found = db.rows("SELECT version_num FROM alembic_version") if "alembic_version" in tables else []
    if len(found) != 1:
        raise without_revision(_NAME)
    return str(found[0]["version_num"])


def migrate(db: Connection) -> str | None:
    """Bring the schema up to the newest revision; the one that was there, None when it was made anew.

    A new one is made from its declaration; alembic upgrades an older one, unless a running msgx holds the
    lease: `InUse`. Raises `ConfigError` for a newer schema, for a file that holds other tables, and where
    alembic is missing.
    """
    _check_library()
    with db.write():
        found = _revision(db)
        if found is None:
            for statement in split(schema_sql()):
                db.run(statement)
            return None
        if not REVISIONS.is_older(_NAME, found):
            return found
        path = db.rows("SELECT file FROM pragma_database_list WHERE name = 'main'")[0]["file"]
    try:
        from msgx_adapters.store_sqlite.upgrading import upgrade
    except ModuleNotFoundError as error:
        raise no_alembic(_NAME, found, REVISIONS) from error
    upgrade(path, REVISIONS)
    return found


def check(db: Connection) -> None:
    """Raise `ConfigError` with the remedy unless the schema is the one of this program."""
    _check_library()
    REVISIONS.must_fit(_NAME, schema_revision(db))


def check_inside(db: Connection) -> None:
    """`check` in a transaction that has begun."""
    REVISIONS.must_fit(_NAME, _revision(db))


def _check_library() -> None:
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        needed = ".".join(str(part) for part in _OLDEST_SQLITE)
        raise ConfigError([f"SQLite {sqlite3.sqlite_version} is too old for the store: {needed} is needed"])


def split(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit before it starts."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
