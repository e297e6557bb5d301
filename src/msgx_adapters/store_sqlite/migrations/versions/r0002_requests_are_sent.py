"""Requests are sent: the number that outbound messages bear."""

from pathlib import Path

from msgx_adapters.store_sqlite.migrations import run_sql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """A counter."""
    run_sql(Path(__file__).with_name("0002.sql"))
