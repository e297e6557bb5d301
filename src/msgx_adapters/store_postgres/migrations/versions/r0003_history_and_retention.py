"""Flights leave for the history store; what is old enough leaves at all."""

from pathlib import Path

from msgx_adapters.store_postgres.migrations import run_sql

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """The keys that are left to be changed in the cache, and functions."""
    run_sql(Path(__file__).with_name("0003.sql"))
