"""Alembic, driven by a store's own connection: no `alembic.ini`, no URL, no transaction of its own.

Importing this needs alembic.
"""

from __future__ import annotations

import threading
from io import StringIO
from pathlib import Path

from alembic import command, context, op
from alembic.config import Config
from sqlalchemy import Connection

from msgx_adapters.store_sql.revisions import Revisions

_ENVIRONMENT = Path(__file__).with_name("environment")
_TURN = threading.Lock()
"""Alembic's `op` and `context` are one of each for the process."""


def upgrade(connection: Connection, revisions: Revisions, schema: str | None = None) -> None:
    """Run what is missing up to the newest revision, in the transaction that `connection` is in.

    The version table is in `schema`; alembic makes it where there is none.
    """
    with _TURN:
        command.upgrade(_config(revisions, schema, connection=connection), revisions.newest)


def upgrade_script(revisions: Revisions, since: str, dialect: str, schema: str | None = None) -> str:
    """What `upgrade` would run on a store at `since`, as SQL without transaction statements."""
    printed = StringIO()
    with _TURN:
        config = _config(revisions, schema, dialect=dialect)
        config.output_buffer = printed
        command.upgrade(config, f"{since}:{revisions.newest}", sql=True)
    return printed.getvalue()


def _config(revisions: Revisions, schema: str | None, **attributes: object) -> Config:
    config = Config(attributes={"schema": schema, **attributes})
    options = {
        "script_location": str(_ENVIRONMENT),
        "version_locations": str(revisions.folder),
        "path_separator": "newline",
    }
    for name, value in options.items():
        config.set_main_option(name, value.replace("%", "%%"))
    return config


def run_environment() -> None:
    """What alembic calls, by way of `environment/env.py`."""
    given = context.config.attributes
    if context.is_offline_mode():
        context.configure(
            dialect_name=given["dialect"],
            version_table_schema=given["schema"],
            transactional_ddl=False,
            literal_binds=True,
        )
    else:
        context.configure(connection=given["connection"], version_table_schema=given["schema"])
    context.run_migrations()


def schema_in_use() -> str | None:
    """For a revision: the schema whose version table alembic keeps."""
    schema: str | None = op.get_context().opts["version_table_schema"]
    return schema


def run(sql: str) -> None:
    """For a revision: send SQL to the driver as it is, or print it; `:` and `%` mean nothing in it."""
    migration = op.get_context()
    if migration.as_sql:
        migration.impl.static_output(sql.rstrip().removesuffix(";") + ";")
    else:
        op.get_bind().exec_driver_sql(sql, execution_options={"no_parameters": True})
