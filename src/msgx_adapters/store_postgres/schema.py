"""The schema of the database and its version."""

from __future__ import annotations

from importlib.resources import files

from msgx_adapters.store_postgres.commenting import tag_comments
from msgx_adapters.store_postgres.pool import Pool
from msgx_adapters.store_postgres.statement import in_schema, statement
from msgx_adapters.store_postgres.tables import places
from msgx_adapters.store_postgres.target import DEFAULT_SCHEMA
from msgx_core.errors import ConfigError, Rejected, Transient

VERSION = 1
"""The schema that this program reads and writes; `STORE_INFO` has it as `schema-version`."""

_TEMPLATES = "templates.sql"
_OLDEST_SERVER = 140000
_LOOK = (
    "SELECT current_setting('server_version_num')::integer AS SERVER,"
    " to_regclass(:info::text) IS NOT NULL AS IS_OURS"
)
_VERSION = "SELECT VALUE FROM msgx.STORE_INFO WHERE NAME = 'schema-version'"
_PLANS = {
    "plan_cache_mode": "force_generic_plan",
    "jit": "off",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_material": "off",
}
"""Of the functions of a message. They take what they need by its key; so planned once, whatever is known (or
not yet known) of the tables then, they never read a table from end to end and are never planned again."""

_ALREADY_THERE = frozenset({"42P06", "42P07", "42723", "23505"})


def schema_sql(schema: str = DEFAULT_SCHEMA) -> str:
    """The whole schema as one script, as `msgx migrate --sql` prints it. The store's id comes with it."""
    folder = files(__package__).joinpath("ddl")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    text = "\n".join(
        folder.joinpath(name).read_text(encoding="utf-8") for name in names if name != _TEMPLATES
    )
    for place, content in _places(schema).items():
        text = text.replace("{{" + place + "}}", content)
    return in_schema(text, schema)


def _places(schema: str) -> dict[str, str]:
    plans = " ".join(f"SET {name} = {value}" for name, value in _PLANS.items())
    own = {"schema": schema, "version": str(VERSION), "plans": plans, "tag_comments": tag_comments()}
    return {**places(), **own}


def grants_sql(schema: str = DEFAULT_SCHEMA, *, app: str = "msgx_app", reader: str = "msgx_read") -> str:
    """What the roles may do: `app` runs the store, `reader` is for downstream services."""
    text = files(__package__).joinpath("grants.sql").read_text(encoding="utf-8")
    for place, content in {"schema": schema, "app": app, "reader": reader}.items():
        text = text.replace("{{" + place + "}}", content)
    return text


def schema_version(pool: Pool) -> int:
    """The version of a schema; 0 when it is not there. `ConfigError` for a server that is too old."""
    schema = pool.target.schema
    (found,) = pool.rows(statement("look", _LOOK), {"info": f'"{schema}".store_info'}, again=True)
    if found["SERVER"] < _OLDEST_SERVER:
        raise ConfigError([f"PostgreSQL {found['SERVER'] // 10000} is too old for the store: 14 is needed"])
    if not found["IS_OURS"]:
        return 0
    (row,) = pool.rows(statement("version", in_schema(_VERSION, schema)), {}, again=True)
    return int(row["VALUE"])


def migrate(pool: Pool) -> None:
    """Bring the schema up to `VERSION`; nothing happens when it is there already, made by another meanwhile.

    Raises `ConfigError` for a newer schema and where the rights are missing.
    """
    version = schema_version(pool)
    _refuse_newer(version)
    if version == VERSION:
        return
    try:
        pool.script(schema_sql(pool.target.schema))
    except Rejected as error:
        if error.reason.rpartition(":")[2] not in _ALREADY_THERE or schema_version(pool) != VERSION:
            raise ConfigError([f"the schema {pool.target.schema} cannot be made: {error.detail}"]) from error
    except Transient as error:
        if "42501" in error.detail:
            raise ConfigError([f"the schema {pool.target.schema} cannot be made: {error.detail}"]) from error
        raise


def check(pool: Pool) -> None:
    """Raise `ConfigError` with the remedy unless the schema is the one of this program."""
    version = schema_version(pool)
    _refuse_newer(version)
    if version < VERSION:
        found = f"has schema version {version}" if version else "has no schema yet"
        raise ConfigError(
            [f"the store {pool.target.name} {found}, this msgx needs version {VERSION}: run `msgx migrate`"]
        )


def _refuse_newer(version: int) -> None:
    if version > VERSION:
        raise ConfigError(
            [f"the store has schema version {version}, this msgx knows {VERSION}: use the newer msgx again"]
        )
