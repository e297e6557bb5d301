"""The revisions of the SQLite store; CONTRIBUTING.md, "Changing the schema", says how to add one."""

from __future__ import annotations

from pathlib import Path

from msgx_adapters.store_sql.revisions import Revisions

REVISIONS = Revisions(Path(__file__).with_name("versions"))


def run_sql(path: Path) -> None:
    """For a revision: run the statements of a file."""
    from msgx_adapters.store_sql.upgrading import run
    from msgx_adapters.store_sqlite.schema import split

    for statement in split(path.read_text(encoding="utf-8")):
        run(statement)
