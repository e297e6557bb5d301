"""Several messages made ready ahead, and a short way for one flight."""

from pathlib import Path

from msgx_adapters.store_postgres.migrations import run_sql

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Functions only."""
    run_sql(Path(__file__).with_name("0006.sql"))
