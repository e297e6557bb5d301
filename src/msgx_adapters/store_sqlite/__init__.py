"""The embedded store: one SQLite file, or one connection in memory for tests and embedding."""

from msgx_adapters.store_sqlite.connection import Connection
from msgx_adapters.store_sqlite.handover import migration_script
from msgx_adapters.store_sqlite.schema import schema_sql
from msgx_adapters.store_sqlite.store import SqliteStore

__all__ = ["Connection", "SqliteStore", "migration_script", "schema_sql"]
