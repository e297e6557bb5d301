"""The PostgreSQL store: one server-side function, so one round trip, for each write."""

from msgx_adapters.store_postgres.handover import migration_script
from msgx_adapters.store_postgres.schema import grants_sql, schema_sql
from msgx_adapters.store_postgres.store import PostgresStore
from msgx_adapters.store_postgres.target import Target

__all__ = ["PostgresStore", "Target", "grants_sql", "migration_script", "schema_sql"]
