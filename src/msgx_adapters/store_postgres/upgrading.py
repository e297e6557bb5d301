"""An older schema brought up by alembic in one transaction. Importing this needs alembic."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import psycopg
from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from msgx_adapters.store_postgres.errors import Refusal, translated
from msgx_adapters.store_postgres.schema import lock_sql
from msgx_adapters.store_postgres.target import Target
from msgx_adapters.store_sql import upgrading
from msgx_adapters.store_sql.revisions import InUse, Revisions
from msgx_core.errors import ConfigError, MsgxError, Transient

LOCK_TIMEOUT_S = 30
"""How long a statement waits for who reads the tables meanwhile; then all is rolled back."""

_IN_USE = "MX003"
_RIGHTS = "42501"
_LOCKED = "55P03"
_PLAIN = {"no_parameters": True}


def upgrade(target: Target, timeout_s: float, revisions: Revisions) -> None:
    """Bring a schema up to the newest revision; an empty database gets all of them.

    Waits for another upgrade, and does nothing when that one has done it. A statement may take its time: only
    the connection is watched. Raises `InUse`, `ConfigError` (rights are missing), `Transient` or `Rejected`.
    """
    with _translated(target), _connection(target, timeout_s) as connection, connection.begin():
        _run(connection, "SET LOCAL statement_timeout = 0")
        _run(connection, "SET LOCAL idle_in_transaction_session_timeout = 0")
        _run(connection, f"SELECT {lock_sql(target.schema)}")
        _run(connection, f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT_S}s'")
        found = _revision(connection, target.schema)
        if found is None:
            _run(connection, f'CREATE SCHEMA IF NOT EXISTS "{target.schema}"')
        elif not revisions.is_older(f"the store {target.name}", found):
            return
        else:
            _run(connection, _fence_sql(target.schema, found))
        upgrading.upgrade(connection, revisions, target.schema)


def upgrade_sql(schema: str, since: str, revisions: Revisions) -> str:
    """The same for a store at revision `since` as a script that psql runs, in one transaction."""
    body = upgrading.upgrade_script(revisions, since, "postgresql", schema)
    lock_timeout = f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT_S}s';"
    return f"BEGIN;\n\n{lock_timeout}\n\n{_fence_sql(schema, since)}\n{body.strip()}\n\nCOMMIT;\n"


def _fence_sql(schema: str, since: str) -> str:
    text = files("msgx_adapters.store_postgres").joinpath("migrations", "fence.sql").read_text("utf-8")
    for place, content in {"schema": schema, "since": since, "lock": lock_sql(schema)}.items():
        text = text.replace("{{" + place + "}}", content)
    return text


@contextmanager
def _connection(target: Target, timeout_s: float) -> Iterator[Connection]:
    """A connection of SQLAlchemy's; it prepares nothing, so that it works behind any pooler."""

    def connect() -> psycopg.Connection[Any]:
        words = target.conninfo(timeout_s, {}).decode()
        return psycopg.connect(words, connect_timeout=max(2, round(timeout_s)), prepare_threshold=None)

    engine = create_engine("postgresql+psycopg://", creator=connect, poolclass=NullPool)
    with engine.connect() as connection:
        yield connection


def _run(connection: Connection, sql: str) -> None:
    connection.exec_driver_sql(sql, execution_options=_PLAIN)


def _revision(connection: Connection, schema: str) -> str | None:
    there = f"SELECT to_regclass('\"{schema}\".alembic_version')"
    if connection.exec_driver_sql(there).scalar() is None:
        return None
    found: str | None = connection.exec_driver_sql(
        f'SELECT version_num FROM "{schema}".alembic_version'
    ).scalar()
    return found


@contextmanager
def _translated(target: Target) -> Iterator[None]:
    try:
        yield
    except DBAPIError as error:
        raise _meaning(target, error.orig) from error
    except psycopg.Error as error:
        raise _meaning(target, error) from error


def _meaning(target: Target, error: BaseException | None) -> MsgxError:
    """What became of an upgrade; in each case nothing of it is left."""
    state = error.sqlstate if isinstance(error, psycopg.Error) else None
    if not isinstance(error, psycopg.Error) or state is None:
        return Transient("store", " ".join(str(error).split()))
    message = error.diag.message_primary or str(error)
    if state == _IN_USE:
        return InUse(f"the store {target.name}", error.diag.message_detail or "another msgx")
    if state == _RIGHTS:
        return ConfigError(
            [f"the schema {target.schema} cannot be upgraded: {message}: its owner runs `msgx migrate`"]
        )
    if state == _LOCKED:
        return Transient(
            "store", f"another session has kept a table locked for {LOCK_TIMEOUT_S} s: end it, try again"
        )
    return translated(Refusal(state, message, error.diag.message_detail))
