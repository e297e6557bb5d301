"""Upgrades of the PostgreSQL store keep the data, run once, wholly or not at all, and not beside msgx."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from msgx_adapters.store_postgres import PostgresStore, grants_sql, migration_script
from msgx_adapters.store_postgres.migrations import REVISIONS
from msgx_adapters.store_postgres.target import Target
from msgx_adapters.store_postgres.upgrading import upgrade
from msgx_adapters.store_sql.revisions import InUse
from msgx_cli import environment
from msgx_core.errors import ConfigError, Fenced, MsgxError, Transient
from msgx_core.testing.builders import apply, flight, put
from revisions import postgres_later, with_more
from services.base import wait_until
from services.catalogue import catalogue, differences
from services.dba import change, drop
from services.pgbouncer import pgbouncer
from services.postgres import POSTGRES, Tables, own_schema, schema_of, server_of

NOW = REVISIONS.newest
LATER = f"{int(NOW) + 1:04}"  # of a test
ADD = """
from msgx_adapters.store_sql.upgrading import run, schema_in_use
run(f"ALTER TABLE {schema_in_use()}.SENDER_MARK ADD COLUMN NOTE text NOT NULL DEFAULT ':a %b'")
"""
START = """
import sys
from pathlib import Path
from msgx_adapters.store_postgres import PostgresStore, handover, migration_script, schema
from msgx_adapters.store_sql.revisions import Revisions
schema.REVISIONS = handover.REVISIONS = Revisions(Path(sys.argv[2]))
"""
SCRIPT = "migration_script(sys.argv[1], timeout_s=5.0)"
MIGRATE = f"""{START}
store = PostgresStore.open(sys.argv[1], create=True)
print(store.schema_revision())
store.close()
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


def test_an_upgrade_keeps_the_data(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = PostgresStore.open(url)
    store.acquire_lease("a", 60.0)
    apply(store, 1, put(flight(7, fields={"GTDT": ({"GATE": "A1"},)})))
    store.release_lease()
    store_id = store.store_id()
    before = catalogue(url)
    postgres_later(monkeypatch, tmp_path, ADD)
    with pytest.raises(
        ConfigError, match=f"revision {NOW}, this msgx needs {LATER}: stop msgx and run `msgx mig"
    ):
        PostgresStore.open(url)
    for _ in range(2):  # the second time there is nothing to do
        upgraded = PostgresStore.open(url, create=True)
        assert upgraded.schema_revision() == LATER
        assert upgraded.flight(7) == flight(7, fields={"GTDT": ({"GATE": "A1"},)})
        assert upgraded.store_id() == store_id
        upgraded.close()
    assert differences(before, catalogue(url)).keys() == {
        "column sender_mark.note",
        "rows alembic_version",
        "rows lease",
        "rows pipeline_lock",
    }
    store.close()


def test_a_revision_that_fails_leaves_nothing(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = catalogue(url)
    postgres_later(monkeypatch, tmp_path, ADD, "op.execute('SELECT 1/0')")
    with pytest.raises(MsgxError, match=r"22012.*division by zero"):
        PostgresStore.open(url, create=True)
    assert differences(before, catalogue(url)) == {}


def test_an_upgrade_waits_for_nobody_without_end(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader in an open transaction is named as what it is; nothing is left."""
    from msgx_adapters.store_postgres import upgrading

    monkeypatch.setattr(upgrading, "LOCK_TIMEOUT_S", 1)
    postgres_later(monkeypatch, tmp_path, ADD)
    with psycopg.connect(server_of(url)) as reader:
        reader.execute(f"SELECT * FROM {schema_of(url)}.SENDER_MARK")
        with pytest.raises(Transient, match="another session has kept a table locked"):
            PostgresStore.open(url, create=True)


@pytest.mark.parametrize("at", [NOW, None])
def test_several_at_once_do_it_once(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: str | None
) -> None:
    """From an older store, and (None) from nothing: processes started together."""
    slow = ADD + "op.execute('SELECT pg_sleep(1)')"
    later = postgres_later(monkeypatch, tmp_path, slow)
    if at is None:
        drop(url)
    command = [sys.executable, "-W", "error", "-c", MIGRATE, url, str(later.folder)]
    running = [
        subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    ends = [(process.communicate(timeout=60), process.returncode) for process in running]
    assert [(out, code) for (out, _), code in ends] == [(f"{LATER}\n".encode(), 0)] * 4, ends


def test_through_a_pooler(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that an upgrade needs holds for its transaction."""
    with pgbouncer(server_of(url)) as pooled:
        through = f"{pooled.url}?schema={schema_of(url)}"
        postgres_later(monkeypatch, tmp_path, ADD)
        store = PostgresStore.open(through, create=True)
        assert store.schema_revision() == LATER
        store.close()


def test_not_while_msgx_runs(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running = PostgresStore.open(url)
    running.acquire_lease("tower:4711", 60.0)
    before = catalogue(url)
    postgres_later(monkeypatch, tmp_path, ADD)
    with pytest.raises(InUse, match="in use by tower:4711: stop msgx"):
        PostgresStore.open(url, create=True)
    assert differences(before, catalogue(url)) == {}
    running.release_lease()
    PostgresStore.open(url, create=True).close()
    running.close()


def test_nobody_works_on_a_schema_that_came_meanwhile(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that slept past its lease is fenced; it and the standby then name the reason and end."""
    sleeper, standby = PostgresStore.open(url), PostgresStore.open(url)
    sleeper.acquire_lease("sleeper", 0.1)
    wait_until(lambda: sleeper.lease().expires_in_s < 0, "the lease does not end")
    upgrade(Target.of(url), 5.0, with_more(REVISIONS, tmp_path, ADD))
    with pytest.raises(Fenced):
        sleeper.renew_lease(60.0)
    for old in (standby, sleeper):
        with pytest.raises(ConfigError, match=f"{LATER}, this msgx knows {NOW} at most: use the newer"):
            old.acquire_lease("old", 0.1)
        time.sleep(0.2)
    change(url, "UPDATE {0}.alembic_version SET version_num = '" + NOW + "'")
    assert standby.acquire_lease("new", 60.0).unclean
    sleeper.close()
    standby.close()


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("UPDATE {0}.alembic_version SET version_num = '0042'", "use the newer msgx again"),
        ("UPDATE {0}.alembic_version SET version_num = 'ab12cd'", "no msgx that this one knows"),
        ("DELETE FROM {0}.alembic_version", "no schema revision"),
        ("DROP TABLE {0}.alembic_version", "no schema revision"),
    ],
)
def test_what_is_not_known_is_refused_and_left_alone(url: str, sql: str, words: str) -> None:
    change(url, sql)
    for create in (False, True):
        with pytest.raises(ConfigError, match=words):
            PostgresStore.open(url, create=create)
    with pytest.raises(ConfigError, match=words):
        migration_script(url, timeout_s=5.0)


@pytest.mark.parametrize("what", ["PostgresStore.open(sys.argv[1], create=True)", SCRIPT])
def test_without_alembic_an_upgrade_says_what_to_install(url: str, tmp_path: Path, what: str) -> None:
    later = with_more(REVISIONS, tmp_path, ADD)
    without = f"import sys; sys.modules['alembic'] = None\n{START}{what}"
    run = subprocess.run(
        [sys.executable, "-c", without, url, str(later.folder)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    (last,) = run.stderr.splitlines()[-1:]
    assert f"from schema revision {NOW} to {LATER}; alembic is needed" in last
    assert "pip install alembic" in last


def test_the_role_of_msgx_upgrades_nothing(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The owner does; a missing right is named."""
    schema = schema_of(url)
    tables = Tables(url)
    tables.run(grants_sql(schema, app=f"{schema}_app", reader=f"{schema}_read"))
    tables.run(f"CREATE ROLE {schema} LOGIN IN ROLE {schema}_app")
    try:
        as_app = url.replace("//postgres@", f"//{schema}@")
        PostgresStore.open(as_app, create=True).close()  # there is nothing to do
        postgres_later(monkeypatch, tmp_path, ADD)
        with pytest.raises(ConfigError, match="its owner runs `msgx migrate`"):
            PostgresStore.open(as_app, create=True)
    finally:
        tables.run(f"DROP OWNED BY {schema}_app, {schema}_read")
        tables.run(f"DROP ROLE {schema}, {schema}_app, {schema}_read")
        tables.close()
