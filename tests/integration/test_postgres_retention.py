"""Retention beside other writers of PostgreSQL: who comes first wins, nothing goes unasked (R-405, R-409)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet

import psycopg
import pytest

from msgx_adapters.store_postgres import PostgresStore
from msgx_core.model.change import RosterReplace
from msgx_core.ports import RetentionCutoffs
from msgx_core.testing.builders import DAY, NEXT_DAY, NOW, apply, close, dead, later
from services.postgres import POSTGRES, connect, own_schema, schema_of, server_of


@pytest.fixture
def url() -> Iterator[str]:
    with POSTGRES.found() as server, own_schema(server) as made:
        yield made


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    made = PostgresStore.open(url)
    assert made.acquire_lease("test", 60.0).granted
    yield made
    made.close()


def meanwhile(url: str, statements: list[str], work: Callable[[], Mapping[str, int]]) -> Mapping[str, int]:
    """What `work` comes to that begins while another transaction has done this, and waits for its end."""
    with connect(server_of(url)) as other, ThreadPoolExecutor(1) as pool:
        other.execute(f"SET search_path = {schema_of(url)}")
        with other.transaction():
            for statement in statements:
                other.execute(statement)
            result = pool.submit(work)
            with pytest.raises(NotYet):
                result.result(0.4)
        return result.result(10)


def test_a_replay_that_is_not_committed_yet_wins(url: str, store: PostgresStore) -> None:
    """R-405: the removal waits for the row and asks again."""
    close(store, dead(), 1, 2)
    store.writebacks_done([1, 2], NOW)
    replay = "UPDATE PROC_STATE SET STATE = 'PENDING' WHERE MSG_ID = 1"
    cutoffs = RetentionCutoffs(processed=later(1))
    assert meanwhile(url, [replay], lambda: store.remove_expired(cutoffs, 10)) == {"PROC_STATE": 1}
    assert store.counts().messages == {"PENDING": 1}


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO SCHD_GEN_FLID VALUES ('2027-03-14', 7)",
        "UPDATE SCHD_GEN SET VERSION = VERSION + 1",
    ],
)
def test_a_day_that_is_covered_just_now_stays(url: str, store: PostgresStore, change: str) -> None:
    """R-409: a running step 1 is awaited, and what it has written is seen."""
    apply(store, 1, rosters=(RosterReplace(DAY, 0, frozenset()),))
    store.finish(1, NOW)
    store.writebacks_done([1], NOW)
    running = [
        "SELECT EPOCH FROM PIPELINE_LOCK FOR UPDATE",
        "INSERT INTO FLIGHT_SCHD (FLID, STATE, STATE_VERSION, OPERATION_DAY, LAST_MSG_ID, CREATED_AT,"
        " UPDATED_AT, EPOCH) VALUES (7, 'ACTIVE', 1, '2027-03-14', 2, now(), now(), 1)",
        change,
    ]
    cutoffs = RetentionCutoffs(ledger=NEXT_DAY, late_since=NOW)
    assert meanwhile(url, running, lambda: store.remove_expired(cutoffs, 10)) == {"SCHD_GEN": 0}
    assert [roster.day for roster in store.rosters()] == [DAY]


def test_the_application_role_may_do_all_of_it(url: str, store: PostgresStore) -> None:
    """The grants cover the new table and functions."""
    from msgx_adapters.store_postgres import grants_sql

    schema = schema_of(url)
    app = f"app_{schema}"
    with psycopg.connect(server_of(url), autocommit=True) as owner:
        owner.execute(grants_sql(schema, app=app, reader=f"read_{schema}"))
        try:
            for right, what in (
                ("DELETE", "CACHE_PENDING"),
                ("DELETE", "FLIGHT_SCHD"),
                ("DELETE", "SCHD_GEN"),
            ):
                query = f"SELECT has_table_privilege('{app}', '{schema}.{what}', '{right}')"
                assert owner.execute(query).fetchone() == (True,)
        finally:
            for role in (app, f"read_{schema}"):
                owner.execute(f"DROP OWNED BY {role}")
                owner.execute(f"DROP ROLE {role}")
