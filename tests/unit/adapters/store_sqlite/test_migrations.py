"""Revisions of the SQLite store lead to the declared schema, keep data, run once, and not beside msgx."""

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from msgx_adapters.store_sql.revisions import InUse
from msgx_adapters.store_sqlite import SqliteStore, migration_script
from msgx_adapters.store_sqlite.migrations import REVISIONS
from msgx_adapters.store_sqlite.upgrading import upgrade
from msgx_cli import environment
from msgx_core.errors import ConfigError, Fenced, MsgxError
from msgx_core.testing.builders import apply, flight, put
from revisions import sqlite_later, with_more
from services.base import binary, wait_until

NOW = REVISIONS.newest
LATER = f"{int(NOW) + 1:04}"  # of a test

ADD = """op.execute("ALTER TABLE SENDER_MARK ADD COLUMN NOTE TEXT NOT NULL DEFAULT 'none'")"""
# As SQLite's makers say: a table of the new form, the rows, and the old one is no more.
REBUILD = """
op.execute("CREATE TABLE NEW (FLID INTEGER NOT NULL PRIMARY KEY, STATE_VERSION INTEGER)")
op.execute("INSERT INTO NEW SELECT FLID, STATE_VERSION FROM FLIGHT_SCHD")
op.execute("DROP TABLE FLIGHT_SCHD")
op.execute("ALTER TABLE NEW RENAME TO FLIGHT_SCHD")
"""
START = """
import sys
from pathlib import Path
from msgx_adapters.store_sqlite import SqliteStore, schema
from msgx_adapters.store_sql.revisions import Revisions
schema.REVISIONS = Revisions(Path(sys.argv[2]))
store = SqliteStore.open(Path(sys.argv[1]), create=True)
print(store.schema_revision())
"""


def _master(path: Path) -> dict[tuple[str, str], str]:
    """Every object with its text, spaces and remarks apart; and the rows that are there from the start."""
    with closing(sqlite3.connect(path)) as raw:
        found = {
            (kind, name): re.sub(r"\s*([(),])\s*|\s+", r"\1 ", re.sub(r"--.*", "", sql or "")).strip()
            for kind, name, sql in raw.execute("SELECT type, name, sql FROM sqlite_master")
        }
        for table in ("alembic_version", "PIPELINE_LOCK", "COUNTERS", "LEASE"):
            found["rows", table] = str(raw.execute(f"SELECT * FROM {table}").fetchall())
        found["rows", "STORE_INFO"] = str(
            raw.execute("SELECT NAME, length(VALUE) FROM STORE_INFO").fetchall()
        )
    return found


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store as `msgx migrate` makes it."""
    made = tmp_path / "store.db"
    SqliteStore.open(made, create=True).close()
    return made


def _change(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(sql)
        raw.commit()


def test_all_revisions_lead_to_the_declared_schema(path: Path, tmp_path: Path) -> None:
    """A change of the declaration needs a revision."""
    other = tmp_path / "100% other.db"
    upgrade(str(other), REVISIONS)
    assert _master(other) == _master(path)
    SqliteStore.open(other).close()


@pytest.mark.parametrize(
    "sql",
    [
        "ALTER TABLE LEASE ADD COLUMN X INTEGER",
        "DROP INDEX PROC_STATE_HEAD",
        "DROP TRIGGER FLIGHT_SCHD_DAY_BOUND",
        "DELETE FROM COUNTERS",
        "UPDATE alembic_version SET version_num = 'x'",
    ],
)
def test_the_comparison_sees(path: Path, sql: str) -> None:
    declared = _master(path)
    _change(path, sql)
    assert _master(path) != declared


def test_the_script_makes_the_declared_schema(path: Path, tmp_path: Path) -> None:
    """`msgx migrate --sql | sqlite3 FILE`."""
    other = tmp_path / "other.db"
    script, remark = migration_script(other)
    assert remark is None
    done = subprocess.run(
        [binary("sqlite3"), "-bail", other], input=script, text=True, check=True, timeout=60
    )
    assert done.returncode == 0
    assert _master(other) == _master(path)
    store = SqliteStore.open(other)
    assert (store.schema_revision(), len(store.store_id())) == (REVISIONS.newest, 32)
    store.close()
    assert "nothing to do" in str(migration_script(path)[1])
    with pytest.raises(ConfigError, match="upgraded by `msgx migrate`"):
        migration_script(path, since=NOW)


def test_an_upgrade_keeps_the_data(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore.open(path)
    store.acquire_lease("a", 60.0)
    apply(store, 1, put(flight(7)))
    store.release_lease()
    store.close()
    sqlite_later(monkeypatch, tmp_path, ADD)
    with pytest.raises(
        ConfigError, match=f"revision {NOW}, this msgx needs {LATER}: stop msgx and run `msgx mig"
    ):
        SqliteStore.open(path)
    assert "`msgx migrate` upgrades it" in str(migration_script(path)[1])
    for _ in range(2):  # the second time there is nothing to do
        upgraded = SqliteStore.open(path, create=True)
        assert upgraded.schema_revision() == LATER
        assert upgraded.flight(7) == flight(7)
        upgraded.close()
    assert "NOTE TEXT NOT NULL DEFAULT 'none'" in _master(path)["table", "SENDER_MARK"]


def test_a_table_can_be_made_anew(path: Path, tmp_path: Path) -> None:
    """Dropping the old one takes no rows that refer to it along; one that refers to nothing is found."""
    _change(
        path,
        "INSERT INTO FLIGHT_SCHD (FLID, STATE, STATE_VERSION, CONTENT, LAST_MSG_ID, CREATED_AT, UPDATED_AT,"
        " EPOCH) VALUES (7, 'ACTIVE', 1, '{}', 1, '', '', 1)",
    )
    _change(path, "INSERT INTO FLIGHT_RAW_SECTION VALUES (7, 'X', '')")
    lost = with_more(REVISIONS, tmp_path / "lost", REBUILD + 'op.execute("DELETE FROM FLIGHT_SCHD")')
    before = _master(path)
    with pytest.raises(ConfigError, match="rows of FLIGHT_RAW_SECTION without what they refer to"):
        upgrade(str(path), lost)
    assert _master(path) == before
    upgrade(str(path), with_more(REVISIONS, tmp_path / "good", REBUILD))
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT * FROM FLIGHT_RAW_SECTION").fetchall() == [(7, "X", "")]


def test_a_revision_that_fails_leaves_nothing(path: Path, tmp_path: Path) -> None:
    before = _master(path)
    with pytest.raises(MsgxError, match="no such table"):
        upgrade(str(path), with_more(REVISIONS, tmp_path, ADD, "op.execute('DELETE FROM NOWHERE')"))
    assert _master(path) == before


@pytest.mark.parametrize("made", [True, False])
def test_several_at_once_do_it_once(path: Path, tmp_path: Path, made: bool) -> None:
    later = with_more(REVISIONS, tmp_path, ADD)
    target = path if made else tmp_path / "new.db"
    command = [sys.executable, "-W", "error", "-c", START, str(target), str(later.folder)]
    running = [
        subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3)
    ]
    ends = [(process.communicate(timeout=60), process.returncode) for process in running]
    assert [(out, code) for (out, _), code in ends] == [(f"{LATER}\n".encode(), 0)] * 3, ends


def test_not_while_msgx_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = SqliteStore.open(path)
    running.acquire_lease("tower:4711", 60.0)
    before = _master(path)
    sqlite_later(monkeypatch, tmp_path, ADD)
    with pytest.raises(InUse, match="in use by tower:4711: stop msgx"):
        SqliteStore.open(path, create=True)
    assert _master(path) == before
    running.release_lease()
    SqliteStore.open(path, create=True).close()
    running.close()


def test_nobody_works_on_a_schema_that_came_meanwhile(path: Path, tmp_path: Path) -> None:
    """One that slept past its lease is fenced; it and the standby then name the reason and end."""
    sleeper, standby = SqliteStore.open(path), SqliteStore.open(path)
    sleeper.acquire_lease("sleeper", 0.05)
    wait_until(lambda: sleeper.lease().expires_in_s < 0, "the lease does not end")
    upgrade(str(path), with_more(REVISIONS, tmp_path, ADD))
    with pytest.raises(Fenced):
        sleeper.renew_lease(60.0)
    for old in (standby, sleeper):
        with pytest.raises(ConfigError, match=f"{LATER}, this msgx knows {NOW} at most: use the newer"):
            old.acquire_lease("old", 60.0)
    _change(path, f"UPDATE alembic_version SET version_num = '{NOW}'")
    assert standby.acquire_lease("new", 60.0).unclean
    sleeper.close()
    standby.close()


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE alembic_version SET version_num = '0042'", "use the newer msgx again"),
        ("UPDATE alembic_version SET version_num = 'ab12cd'", "no msgx that this one knows"),
        ("DELETE FROM alembic_version", "no schema revision"),
        ("DROP TABLE alembic_version", "no schema revision"),
    ],
)
def test_what_is_not_known_is_refused(path: Path, sql: str, words: str) -> None:
    _change(path, sql)
    for create in (False, True):
        with pytest.raises(ConfigError, match=words):
            SqliteStore.open(path, create=create)
    with pytest.raises(ConfigError, match=words):
        migration_script(path)


def test_a_new_store_needs_no_alembic_and_an_upgrade_says_so(path: Path, tmp_path: Path) -> None:
    """The embedded set comes without it."""
    later = with_more(REVISIONS, tmp_path, ADD)
    without = "import sys; sys.modules['alembic'] = sys.modules['sqlalchemy'] = None\n" + START
    ends = [
        subprocess.run(
            [sys.executable, "-c", without, str(target), str(later.folder)],
            env=environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        for target in (tmp_path / "new.db", path)
    ]
    assert (ends[0].returncode, ends[0].stdout) == (0, f"{LATER}\n")
    assert f"from schema revision {NOW} to {LATER}; alembic is needed" in ends[1].stderr.splitlines()[-1]
