"""The revisions of the PostgreSQL store; CONTRIBUTING.md, "Changing the schema", says how to add one."""

from __future__ import annotations

from pathlib import Path

from msgx_adapters.store_sql.revisions import Revisions

REVISIONS = Revisions(Path(__file__).with_name("versions"))


def run_sql(path: Path) -> None:
    """For a revision: run a file, in which `{{schema}}` is the schema."""
    from msgx_adapters.store_sql.upgrading import run, schema_in_use

    run(path.read_text(encoding="utf-8").replace("{{schema}}", str(schema_in_use())))
