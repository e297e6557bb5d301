"""The revisions of the PostgreSQL store and the scripts for a DBA lead to the declared schema."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from msgx_adapters.store_postgres import PostgresStore, migration_script
from msgx_adapters.store_postgres.migrations import REVISIONS
from msgx_adapters.store_postgres.target import Target
from msgx_adapters.store_postgres.upgrading import upgrade
from msgx_core.errors import ConfigError
from revisions import postgres_later
from services.catalogue import catalogue, differences
from services.dba import change, drop, run
from services.postgres import POSTGRES, own_schema

NOW = REVISIONS.newest
LATER = f"{int(NOW) + 1:04}"  # of a test
ADD = """
from msgx_adapters.store_sql.upgrading import run, schema_in_use
run(f"ALTER TABLE {schema_in_use()}.SENDER_MARK ADD COLUMN NOTE text NOT NULL DEFAULT ':a %b'")
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with POSTGRES.found() as url:
        yield url


@pytest.fixture
def url(server: str) -> Iterator[str]:
    """A store as `msgx migrate` makes it."""
    with own_schema(server) as made:
        yield made


def test_all_revisions_lead_to_the_declared_schema(url: str) -> None:
    """R-019: A change of the declaration needs a revision."""
    declared = catalogue(url)
    assert len(declared) > 500
    drop(url)
    upgrade(Target.of(url), 5.0, REVISIONS)
    assert differences(declared, catalogue(url)) == {}
    PostgresStore.open(url).close()


@pytest.mark.parametrize(
    ("sql", "seen"),
    [
        ("ALTER TABLE {0}.LEASE ADD COLUMN X integer", "column lease.x"),
        ("ALTER TABLE {0}.LEASE ALTER COLUMN HOLDER SET DEFAULT 'x'", "column lease.holder"),
        ("ALTER TABLE {0}.LEASE ALTER COLUMN HOLDER SET STORAGE PLAIN", "column lease.holder"),
        ("ALTER TABLE {0}.LEASE ALTER COLUMN HOLDER SET (n_distinct = 7)", "column lease.holder"),
        ("ALTER TABLE {0}.LEASE SET (fillfactor = 11)", "relation lease"),
        ("COMMENT ON COLUMN {0}.LEASE.HOLDER IS 'x'", "column lease.holder"),
        ("COMMENT ON TABLE {0}.LEASE IS 'x'", "relation lease"),
        ("ALTER TABLE {0}.LEASE ADD CONSTRAINT X CHECK (EPOCH > -2)", "constraint lease.x"),
        ("DROP INDEX {0}.PROC_STATE_HEAD", "index proc_state_head"),
        ("ALTER FUNCTION {0}.FENCE(bigint) SET jit = on", "function fence(bigint)"),
        ("ALTER FUNCTION {0}.FENCE(bigint) STABLE", "function fence(bigint)"),
        ("ALTER VIEW {0}.REF_MASTER RENAME COLUMN RKEY TO X", "relation ref_master"),
        ("DELETE FROM {0}.COUNTERS", "rows counters"),
        ("UPDATE {0}.alembic_version SET version_num = '0'", "rows alembic_version"),
        ("ALTER TABLE {0}.FLIGHT_SCHD DISABLE TRIGGER USER", "trigger flight_schd."),
    ],
)
def test_the_comparison_sees(url: str, sql: str, seen: str) -> None:
    declared = catalogue(url)
    change(url, sql)
    found = differences(declared, catalogue(url))
    assert any(name.startswith(seen) for name in found), found


def test_the_script_for_a_dba_makes_the_declared_schema(url: str) -> None:
    """`msgx migrate --sql | psql`, with the stamp."""
    declared = catalogue(url)
    drop(url)
    script, remark = migration_script(url, timeout_s=5.0)
    assert remark is None
    assert run(url, script) is None
    assert differences(declared, catalogue(url)) == {}
    store = PostgresStore.open(url)
    assert (store.schema_revision(), len(store.store_id())) == (REVISIONS.newest, 32)
    store.migrate()
    store.close()
    script, remark = migration_script(url, timeout_s=5.0)
    assert "nothing to do" in str(remark)
    with pytest.raises(AssertionError, match="already exists"):
        assert run(url, script) is None


def test_a_store_that_does_not_answer_is_not_needed_for_the_script() -> None:
    script, remark = migration_script("postgresql://nobody@127.0.0.1:9/x", timeout_s=0.5)
    assert "COMMIT;" in script
    assert "was not asked" in str(remark)


def test_the_script_of_an_upgrade(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A DBA's upgrade does the same, with the same guards, and once."""
    later = postgres_later(monkeypatch, tmp_path, ADD)
    script, remark = migration_script(url, timeout_s=5.0)
    assert remark == f"this upgrades a store from revision {NOW} to {LATER}"
    assert migration_script(url, timeout_s=5.0, since=NOW)[0] == script
    lease = "UPDATE {{0}}.LEASE SET HOLDER = 'tower', EXPIRES_AT = now() + interval '{}'"
    change(url, lease.format("1 min"))
    assert "in use by tower" in str(run(url, script))
    change(url, lease.format("-1 min"))
    assert run(url, script) is None
    by_hand = catalogue(url)
    with pytest.raises(AssertionError, match=f"at revision {LATER}, this is for {NOW}"):
        assert run(url, script) is None
    store = PostgresStore.open(url)
    store.close()
    drop(url)
    upgrade(Target.of(url), 5.0, later)
    assert differences(by_hand, catalogue(url)).keys() <= {"rows lease", "rows pipeline_lock"}


@pytest.mark.parametrize("since", [NOW, "0777", "x"])
def test_there_is_no_script_from_a_revision_that_is_not_older(url: str, since: str) -> None:
    with pytest.raises(ConfigError, match=f"no upgrade from revision '{since}'"):
        migration_script(url, timeout_s=5.0, since=since)
