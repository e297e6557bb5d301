"""What a DBA runs who lets no program change a schema: `msgx migrate --sql`."""

from __future__ import annotations

from msgx_adapters.store_postgres.migrations import REVISIONS
from msgx_adapters.store_postgres.pool import Pool
from msgx_adapters.store_postgres.schema import schema_revision, schema_sql
from msgx_adapters.store_postgres.target import Target
from msgx_adapters.store_sql.revisions import no_alembic
from msgx_core.errors import ConfigError, Transient


def migration_script(url: str, *, timeout_s: float, since: str | None = None) -> tuple[str, str | None]:
    """A script for psql, and a remark on what it is for.

    `since` is the revision of the store that it is for; without it the store is asked, and one that has no
    schema, is up to date or does not answer leads to the whole schema. Nothing is changed. Raises
    `ConfigError` for a revision that this program does not know.
    """
    target = Target.of(url)
    name = f"the store {target.name}"
    remark = None
    if since is None:
        since, remark = _asked(target, timeout_s)
        if since is not None and not REVISIONS.is_older(name, since):
            remark = f"{name} is at revision {since}, there is nothing to do; this is for a new one"
            since = None
    elif since not in REVISIONS.numbers()[:-1]:
        older = ", ".join(REVISIONS.numbers()[:-1]) or "none yet"
        raise ConfigError([f"there is no upgrade from revision {since!r}; there are upgrades from: {older}"])
    if since is None:
        return _whole(target.schema), remark
    try:
        from msgx_adapters.store_postgres.upgrading import upgrade_sql
    except ModuleNotFoundError as error:
        raise no_alembic(name, since, REVISIONS) from error
    script = upgrade_sql(target.schema, since, REVISIONS)
    return script, f"this upgrades a store from revision {since} to {REVISIONS.newest}"


def _asked(target: Target, timeout_s: float) -> tuple[str | None, str | None]:
    pool = Pool(target, timeout_s=timeout_s, statement_timeout_s=timeout_s, prepare=False)
    try:
        return schema_revision(pool), None
    except Transient as error:
        return None, f"the store was not asked ({error.detail}); this is for a database without the schema"
    finally:
        pool.close()


def _whole(schema: str) -> str:
    return (
        f'-- The schema "{schema}" of msgx at revision {REVISIONS.newest}, for a database that has none:\n'
        "--   psql -v ON_ERROR_STOP=1 -f FILE postgresql://OWNER@HOST/DATABASE\n"
        f"BEGIN;\n\n{schema_sql(schema)}\nCOMMIT;\n"
    )
