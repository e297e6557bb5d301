"""What a DBA does by hand, with programs that are not ours."""

from __future__ import annotations

import subprocess

from services.base import binary
from services.postgres import connect, schema_of, server_of


def run(url: str, script: str) -> str | None:
    """Give a script to psql; its words when it fails, None when all of it ran."""
    psql = [binary("psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", server_of(url)]
    done = subprocess.run(psql, input=script, capture_output=True, text=True, check=False, timeout=60)
    return done.stderr if done.returncode else None


def drop(url: str) -> None:
    """Drop the schema that a URL names."""
    with connect(server_of(url)) as dba:
        dba.execute(f"DROP SCHEMA {schema_of(url)} CASCADE".encode())


def change(url: str, sql: str) -> None:
    """Run one statement in which `{0}` is the schema."""
    with connect(server_of(url)) as dba:
        dba.execute(sql.format(schema_of(url)).encode())
