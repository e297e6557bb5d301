"""What makes a store without msgx: `msgx migrate --sql`."""

from __future__ import annotations

from pathlib import Path

from msgx_adapters.store_sqlite.connection import Connection
from msgx_adapters.store_sqlite.migrations import REVISIONS
from msgx_adapters.store_sqlite.schema import schema_revision, schema_sql
from msgx_core.errors import ConfigError


def migration_script(path: Path | None, *, since: str | None = None) -> tuple[str, str | None]:
    """A script for the program sqlite3 that makes a new store, and a remark on what it is for.

    Nothing is changed. `ConfigError` when `since` is given: only `msgx migrate` upgrades a file; and when the
    file is at a revision that this program does not know.
    """
    if since is not None:
        raise ConfigError(["a store in a file is upgraded by `msgx migrate`; there is no script for it"])
    remark = None
    if path is not None and path.exists():
        db = Connection.open(path, create=False, read_only=True)
        try:
            found = schema_revision(db)
        finally:
            db.close()
        if found is not None and REVISIONS.is_older("the store", found):
            remark = f"the store is at revision {found} and `msgx migrate` upgrades it; this is for a new one"
        elif found is not None:
            remark = f"the store is at revision {found}, there is nothing to do; this is for a new one"
    head = f"-- A new store of msgx at revision {REVISIONS.newest}: sqlite3 -bail FILE < THIS\n"
    return f"{head}BEGIN IMMEDIATE;\n\n{schema_sql()}\nCOMMIT;\n", remark
