"""The schema of the database: made from its declaration in `ddl/`, looked at, brought up."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from msgx_adapters.store_postgres.commenting import tag_comments
from msgx_adapters.store_postgres.migrations import REVISIONS
from msgx_adapters.store_postgres.pool import Pool
from msgx_adapters.store_postgres.statement import in_schema, statement
from msgx_adapters.store_postgres.tables import places
from msgx_adapters.store_postgres.target import DEFAULT_SCHEMA
from msgx_adapters.store_sql.revisions import no_alembic, without_revision
from msgx_core.errors import ConfigError, Rejected, Transient

_TEMPLATES = "templates.sql"
_OLDEST_SERVER = 140000
_LOOK = (
    "SELECT current_setting('server_version_num')::integer AS SERVER,"
    " to_regclass(:info::text) IS NOT NULL AS IS_OURS, to_regclass(:versions::text) IS NOT NULL AS IS_STAMPED"
)
_REVISION = "SELECT version_num AS REVISION FROM msgx.alembic_version"

_MAKES = rf'^CREATE (?:TABLE|VIEW) (?:IF NOT EXISTS )?"{DEFAULT_SCHEMA}"\.(\w+)'

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
    """The whole schema at the newest revision, as one script. The store's id comes with it."""
    stamp = f"INSERT INTO msgx.alembic_version (version_num) VALUES ('{REVISIONS.newest}');\n"
    return declared_sql(schema) + in_schema(stamp, schema)


def declared_sql(schema: str = DEFAULT_SCHEMA) -> str:
    """The schema as `ddl/` declares it, without the revision."""
    folder = files(__package__).joinpath("ddl")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    text = "\n".join(
        folder.joinpath(name).read_text(encoding="utf-8") for name in names if name != _TEMPLATES
    )
    for place, content in _places(schema).items():
        text = text.replace("{{" + place + "}}", content)
    return in_schema(text, schema)


@cache
def relations() -> tuple[str, ...]:
    """Names of the tables and views that the declaration makes, as the catalogues have them."""
    made = re.findall(_MAKES, declared_sql(), re.MULTILINE)
    return tuple(sorted({name.lower() for name in made}))


def _places(schema: str) -> dict[str, str]:
    plans = " ".join(f"SET {name} = {value}" for name, value in _PLANS.items())
    return {**places(), "plans": plans, "tag_comments": tag_comments(), "schema": schema}


def grants_sql(schema: str = DEFAULT_SCHEMA, *, app: str = "msgx_app", reader: str = "msgx_read") -> str:
    """What the roles may do: `app` runs the store, `reader` is for downstream services."""
    text = files(__package__).joinpath("grants.sql").read_text(encoding="utf-8")
    for place, content in {"schema": schema, "app": app, "reader": reader}.items():
        text = text.replace("{{" + place + "}}", content)
    return text


def lock_sql(schema: str) -> str:
    """A call that lets one transaction at a time make or change a schema."""
    return f"pg_advisory_xact_lock(hashtextextended('msgx schema {schema}', 0))"


def schema_revision(pool: Pool) -> str | None:
    """The revision of a schema; None when it is not there.

    `ConfigError` for a server that is too old, and for our tables without a revision.
    """
    schema = pool.target.schema
    names = {"info": f'"{schema}".store_info', "versions": f'"{schema}".alembic_version'}
    (found,) = pool.rows(statement("look", _LOOK), names, again=True)
    if found["SERVER"] < _OLDEST_SERVER:
        raise ConfigError([f"PostgreSQL {found['SERVER'] // 10000} is too old for the store: 14 is needed"])
    if not found["IS_OURS"]:
        return None
    if found["IS_STAMPED"]:
        rows = pool.rows(statement("revision", in_schema(_REVISION, schema)), {}, again=True)
        if len(rows) == 1:
            return str(rows[0]["REVISION"])
    raise without_revision(_named(pool))


def migrate(pool: Pool) -> str | None:
    """Bring the schema up to the newest revision; the one that was there, None when it was made anew.

    A new one is made from its declaration; alembic upgrades an older one, unless a running msgx holds the
    lease: `InUse`. Raises `ConfigError` for a newer schema and where rights or alembic are missing.
    """
    found = schema_revision(pool)
    if found is None:
        _make(pool)
    elif REVISIONS.is_older(_named(pool), found):
        try:
            from msgx_adapters.store_postgres.upgrading import upgrade
        except ModuleNotFoundError as error:
            raise no_alembic(_named(pool), found, REVISIONS) from error
        upgrade(pool.target, pool.timeout_s, REVISIONS)
    return found


def _make(pool: Pool) -> None:
    schema = pool.target.schema
    try:
        pool.script(f"SELECT {lock_sql(schema)};\n{schema_sql(schema)}")
    except Rejected as error:
        made_by_another = error.reason.rpartition(":")[2] in _ALREADY_THERE
        if not made_by_another or schema_revision(pool) != REVISIONS.newest:
            raise ConfigError([f"the schema {schema} cannot be made: {error.detail}"]) from error
    except Transient as error:
        if "42501" in error.detail:
            raise ConfigError([f"the schema {schema} cannot be made: {error.detail}"]) from error
        raise


def check(pool: Pool) -> None:
    """Raise `ConfigError` with the remedy unless the schema is the one of this program."""
    REVISIONS.must_fit(_named(pool), schema_revision(pool))


def _named(pool: Pool) -> str:
    return f"the store {pool.target.name}"
