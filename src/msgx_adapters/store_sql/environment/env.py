"""Where alembic starts; everything is in `upgrading`."""

from msgx_adapters.store_sql.upgrading import run_environment

run_environment()
