"""Which revisions there are, and that alembic sees them as one line."""

from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from msgx_adapters.store_postgres.migrations import REVISIONS as POSTGRES
from msgx_adapters.store_sql.revisions import Revisions
from msgx_adapters.store_sqlite.migrations import REVISIONS as SQLITE
from revisions import with_more


@pytest.mark.parametrize("revisions", [POSTGRES, SQLITE])
def test_file_names_and_scripts_agree(revisions: Revisions, tmp_path: Path) -> None:
    """The newest is known from the names alone; alembic has to find the same line."""
    for each in (revisions, with_more(revisions, tmp_path, "pass", "pass")):
        config = Config()
        config.set_main_option("script_location", str(tmp_path))
        config.set_main_option("version_locations", str(each.folder).replace("%", "%%"))
        config.set_main_option("path_separator", "newline")
        line = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
        assert tuple(reversed(line)) == each.numbers()
        assert line[0] == each.newest


def test_older_known_and_unknown(tmp_path: Path) -> None:
    revisions = with_more(SQLITE, tmp_path, "pass")
    assert revisions.is_older("it", "0001")
    assert not revisions.is_older("it", revisions.newest)
    later = f"{int(revisions.newest) + 1:04}"
    for unknown in (later, "10000", "x", "", "0000", "²"):
        with pytest.raises(Exception, match="schema revision"):
            revisions.is_older("it", unknown)
