"""Requests are sent: the number that outbound messages bear, and what the lease holder does."""

from pathlib import Path

from msgx_adapters.store_postgres.migrations import run_sql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """A counter and functions."""
    run_sql(Path(__file__).with_name("0002.sql"))
