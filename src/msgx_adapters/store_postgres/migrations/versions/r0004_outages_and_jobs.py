"""Outages are kept, and end; people leave jobs for the lease holder."""

from pathlib import Path

from msgx_adapters.store_postgres.migrations import run_sql

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Two tables, a column, and the functions on them."""
    run_sql(Path(__file__).with_name("0004.sql"))
