"""The schema of the first release."""

from pathlib import Path

from msgx_adapters.store_postgres.migrations import run_sql

revision = "0001"
down_revision = None


def upgrade() -> None:
    """All of it; `alembic_version` is there already."""
    run_sql(Path(__file__).with_name("0001.sql"))
