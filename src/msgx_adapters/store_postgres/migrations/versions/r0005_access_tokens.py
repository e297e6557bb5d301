"""Tokens for the HTTP interface."""

from pathlib import Path

from msgx_adapters.store_postgres.migrations import run_sql

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """One table."""
    run_sql(Path(__file__).with_name("0005.sql"))
