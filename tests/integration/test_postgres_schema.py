"""The schema of the PostgreSQL store: it follows the tag tables, is described, guarded, and made once."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from msgx_adapters.store_postgres import PostgresStore, grants_sql, schema_sql
from msgx_core.errors import ConfigError
from msgx_core.model.sis import CATEGORIES, COLLECTIONS, RSTA, SCALARS, SINGLES, Kind
from msgx_core.testing.builders import apply, flight, put
from services.postgres import POSTGRES, Tables, connect, own_schema, schema_of, server_of

# H-14, by hand.
DETAILS = {
    "FLIGHT_GATE": "GTDT",
    "FLIGHT_CHECKIN": "CKDT",
    "FLIGHT_BELT": "CLDT",
    "FLIGHT_CHUTE": "CHDT",
    "FLIGHT_STAND": "PSDT",
    "FLIGHT_CHOCK": "CHOT",
    "FLIGHT_DELAY": "DELY",
    "FLIGHT_BRIDGE": "ABTM",
    "FLIGHT_ROUTE_POINT": "ROUT",
}
KEY = """
SELECT a.attname AS NAME FROM pg_index i JOIN unnest(i.indkey) WITH ORDINALITY AS k (attnum, n) ON TRUE
JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
WHERE i.indisprimary AND i.indrelid = '{}'::regclass ORDER BY k.n
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with POSTGRES.found() as url:
        yield url


@pytest.fixture(scope="module")
def schema(server: str) -> Iterator[str]:
    with own_schema(server) as url:
        yield url


@pytest.fixture
def tables(schema: str) -> Iterator[Tables]:
    made = Tables(schema)
    yield made
    made.close()


def _columns(tables: Tables, table: str) -> dict[str, str]:
    found = tables.rows(
        "SELECT attname, format_type(atttypid, NULL) AS kind FROM pg_attribute"
        f" WHERE attrelid = '{table}'::regclass AND attnum > 0"
    )
    return {row["ATTNAME"].upper(): row["KIND"] for row in found}


def test_a_flight_has_a_column_for_each_scalar(tables: Tables) -> None:
    """R-253, R-254, H-05: text as sent, numbers for FLIDs; singles by attribute and own text."""
    columns = _columns(tables, "FLIGHT_SCHD")
    for tag, scalar in SCALARS.items():
        assert columns.pop(tag) == ("bigint" if scalar.kind is Kind.FLID else "text")
    for tag, single in SINGLES.items():
        assert {columns.pop(f"{tag}_{key}") for key in (*single.attributes, "TEXT")} == {"text"}
    own = "FLID STATE STATE_VERSION OPERATION_DAY SODT_AT LAST_MSG_ID CREATED_AT UPDATED_AT EPOCH TAG_ORDER"
    assert columns.keys() == set(own.split())
    assert columns["SODT_AT"] == "timestamp with time zone"


def test_each_collection_has_its_table(tables: Tables) -> None:
    """R-253, R-471, R-009 to R-013, H-14: key (FLID, ORDINAL), for routes with ROUTE_KIND; a column per
    element key."""
    assert COLLECTIONS.keys() == {*DETAILS.values(), "ERUT"}
    for table, tag in DETAILS.items():
        kind = {"ROUTE_KIND"} if table == "FLIGHT_ROUTE_POINT" else set()
        row = COLLECTIONS[tag]
        keys = {*row.attributes, *row.keys, "TEXT"}
        assert _columns(tables, table).keys() == {"FLID", "ORDINAL", "SOURCE_SEQ"} | kind | keys
        assert [row["NAME"] for row in tables.rows(KEY.format(table))] == [
            "flid",
            *(name.lower() for name in kind),
            "ordinal",
        ]
    assert COLLECTIONS["ERUT"].keys == COLLECTIONS["ROUT"].keys


def test_each_category_has_its_table(tables: Tables) -> None:
    """H-71: a table each, one for resource status, a view over all."""
    for rtype in (*CATEGORIES, RSTA):
        assert {"RKEY", "PAYLOAD", "MSG_ID", "UPDATED_AT"} <= _columns(tables, f"REF_{rtype}").keys()
    assert {"RTYP", "RSID"} <= _columns(tables, "REF_RSTA").keys()
    assert {"RTYPE", "RKEY"} <= _columns(tables, "REF_MASTER").keys()


def test_every_table_and_column_is_described(tables: Tables) -> None:
    """Downstream services read this database."""
    bare = tables.rows(
        "SELECT c.relname, a.attname FROM pg_class c LEFT JOIN pg_attribute a ON a.attrelid = c.oid"
        " AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'v')"
        " AND (col_description(c.oid, a.attnum) IS NULL OR obj_description(c.oid, 'pg_class') IS NULL)"
    )
    assert [(row["RELNAME"], row["ATTNAME"]) for row in bare] == []


@pytest.fixture
def roles(schema: str, tables: Tables) -> Iterator[tuple[str, str]]:
    """The roles of the schema under names of the test's own, one that may log in for the application."""
    name = schema_of(schema)
    app, reader = f"{name}_app", f"{name}_read"
    tables.run(grants_sql(name, app=app, reader=reader))
    tables.run(f"CREATE ROLE {name} LOGIN IN ROLE {app}")
    yield name, reader
    tables.run("RESET ROLE")
    tables.run(f"DROP OWNED BY {app}, {reader}")
    tables.run(f"DROP ROLE {name}, {app}, {reader}")


def test_a_reader_reads_and_does_nothing_else(schema: str, tables: Tables, roles: tuple[str, str]) -> None:
    """R-422: The documented role: SELECT on everything but the tokens, no writes, no functions."""
    name, reader = schema_of(schema), roles[1]
    tables.run(f"SET ROLE {reader}")
    assert tables.rows("SELECT * FROM FLIGHT_FULL") == tables.rows("SELECT * FROM REF_MASTER") == []
    for forbidden in (
        "UPDATE PIPELINE_LOCK SET EPOCH = 9",
        "DELETE FROM FLIGHT_SCHD",
        "INSERT INTO COUNTERS VALUES ('x', 1)",
        f"SELECT {name}.FINISH(0, 1, now())",
        f"CREATE TABLE {name}.MINE (X integer)",
        "SELECT * FROM API_TOKEN",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            tables.run(forbidden)


def test_msgx_needs_no_more_than_its_role(schema: str, roles: tuple[str, str]) -> None:
    """Least privilege: the schema may belong to somebody else."""
    store = PostgresStore.open(schema.replace("//postgres@", f"//{roles[0]}@"))
    store.acquire_lease("a", 60.0)
    apply(store, 1, put(flight(7, fields={"GTDT": ({"GATE": "A1"},)})))
    assert store.finish(1, flight(7).updated_at)
    assert store.flight(7) == flight(7, fields={"GTDT": ({"GATE": "A1"},)})
    store.close()


def test_a_missing_schema_names_the_remedy(server: str) -> None:
    with pytest.raises(ConfigError, match="msgx migrate"):
        PostgresStore.open(server, schema="msgx_is_not_there")


def test_a_newer_schema_is_refused(server: str) -> None:
    with own_schema(server) as url:
        with connect(server_of(url)) as other:
            other.execute(f"UPDATE {schema_of(url)}.alembic_version SET version_num = '0099'")
        for create in (False, True):
            with pytest.raises(ConfigError, match="newer"):
                PostgresStore.open(url, create=create)


def test_making_it_twice_or_at_once_makes_it_once(server: str) -> None:
    """Several processes may start on an empty database."""
    with own_schema(server) as url:
        with connect(server_of(url)) as other:
            other.execute(f"DROP SCHEMA {schema_of(url)} CASCADE")

        def made(_: int) -> str:
            store = PostgresStore.open(url, create=True)
            try:
                return store.store_id()
            finally:
                store.close()

        with ThreadPoolExecutor(4) as threads:
            assert len(set(threads.map(made, range(4)))) == 1


def test_the_script_for_a_dba_makes_the_same(server: str) -> None:
    """`msgx migrate --sql`: any client can run it, and the store starts on it."""
    with own_schema(server) as url:
        name = schema_of(url)
        with connect(server_of(url)) as dba:
            dba.execute(f"DROP SCHEMA {name} CASCADE")
            dba.execute(schema_sql(name))
        store = PostgresStore.open(url)
        assert len(store.store_id()) == 32
        store.close()


def test_an_ordinary_update_of_a_flight_touches_no_index(schema: str, tables: Tables) -> None:
    """Heap-only updates: with room on its page a changed flight costs no index entry."""
    store = PostgresStore.open(schema)
    store.acquire_lease("a", 60.0)
    apply(store, 1000, put(flight(900, msg_id=1000)))
    for version in range(2, 40):
        state = flight(900, version=version, msg_id=999 + version, ESTT=f"14MAR27{version:04}")
        apply(store, 999 + version, put(state, changed=("ESTT",)))
    store.close()
    tables.run("SELECT pg_stat_force_next_flush()")
    (row,) = tables.rows(
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relid = 'FLIGHT_SCHD'::regclass"
    )
    assert row["N_TUP_HOT_UPD"] > 0.8 * row["N_TUP_UPD"] > 0
