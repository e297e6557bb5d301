"""Revisions of a test's own on top of the real ones: what a later msgx would bring."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from msgx_adapters.store_postgres import migrations as postgres
from msgx_adapters.store_sql.revisions import Revisions
from msgx_adapters.store_sqlite import migrations as sqlite

_SCRIPT = '''"""A revision of a test."""

from alembic import op

revision = "{revision}"
down_revision = "{before}"


def upgrade() -> None:
{statements}
'''


def with_more(real: Revisions, folder: Path, *upgrades: str) -> Revisions:
    """The real revisions and one more for each Python text that is the body of its `upgrade()`."""
    made = folder / "versions"
    shutil.copytree(real.folder, made, ignore=shutil.ignore_patterns("__pycache__"))
    for body in upgrades:
        before = Revisions(made).newest
        revision = f"{int(before) + 1:04}"
        statements = "\n".join(f"    {line}" for line in body.strip().splitlines())
        text = _SCRIPT.format(revision=revision, before=before, statements=statements)
        (made / f"r{revision}_of_a_test.py").write_text(text, encoding="utf-8")
    return Revisions(made)


def postgres_later(monkeypatch: pytest.MonkeyPatch, folder: Path, *upgrades: str) -> Revisions:
    """Make the PostgreSQL store of this process one that knows more revisions."""
    found = with_more(postgres.REVISIONS, folder, *upgrades)
    monkeypatch.setattr("msgx_adapters.store_postgres.schema.REVISIONS", found)
    monkeypatch.setattr("msgx_adapters.store_postgres.handover.REVISIONS", found)
    return found


def sqlite_later(monkeypatch: pytest.MonkeyPatch, folder: Path, *upgrades: str) -> Revisions:
    """Make the SQLite store of this process one that knows more revisions."""
    found = with_more(sqlite.REVISIONS, folder, *upgrades)
    monkeypatch.setattr("msgx_adapters.store_sqlite.schema.REVISIONS", found)
    monkeypatch.setattr("msgx_adapters.store_sqlite.handover.REVISIONS", found)
    return found
