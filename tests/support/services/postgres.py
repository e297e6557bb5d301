"""PostgreSQL for tests: one that is found, a schema of the test's own, private servers to freeze and kill."""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from attrs import frozen

from msgx_adapters.store_postgres import PostgresStore
from services.base import Finder, PrivateServer, binary, free_port, private_folder, unprivileged

_BINARIES = tuple(f"/usr/lib/postgresql/{version}/bin" for version in range(18, 13, -1))
_RESET = """
DO $$
DECLARE
    v_table regclass;
    v_sequence regclass;
BEGIN
    FOR v_table IN SELECT oid FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'r'
        AND relname NOT IN ('pipeline_lock', 'lease', 'counters', 'store_info', 'alembic_version')
    LOOP
        EXECUTE format('DELETE FROM %s', v_table);
    END LOOP;
    FOR v_sequence IN SELECT oid FROM pg_class WHERE relnamespace = '{schema}'::regnamespace AND relkind = 'S'
    LOOP
        PERFORM setval(v_sequence, 1, FALSE);
    END LOOP;
    UPDATE {schema}.PIPELINE_LOCK SET EPOCH = 0;
    UPDATE {schema}.LEASE SET HOLDER = NULL, EPOCH = 0, EXPIRES_AT = now();
    UPDATE {schema}.COUNTERS SET VALUE = 0;
    DELETE FROM {schema}.STORE_INFO WHERE NAME LIKE 'pin.%';
END
$$
"""

_NOT_FIELDS = frozenset(
    "FLID STATE STATE_VERSION OPERATION_DAY SODT_AT LAST_MSG_ID CREATED_AT UPDATED_AT EPOCH TAG_ORDER".split()
)
# By the requirements (H-14), not by the adapter.
_COLLECTIONS = {
    "GTDT": ("FLIGHT_GATE", "GTNO"),
    "CKDT": ("FLIGHT_CHECKIN", "CKNO"),
    "CLDT": ("FLIGHT_BELT", "CLNO"),
    "CHDT": ("FLIGHT_CHUTE", "CHNO"),
    "PSDT": ("FLIGHT_STAND", "PSNO"),
    "CHOT": ("FLIGHT_CHOCK", "CSNO"),
    "DELY": ("FLIGHT_DELAY", ""),
    "ABTM": ("FLIGHT_BRIDGE", "ASNO"),
    "ROUT": ("FLIGHT_ROUTE_POINT", "RTNO"),
    "ERUT": ("FLIGHT_ROUTE_POINT", "RTNO"),
}


def connect(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection that is not ours; each statement commits."""
    return psycopg.connect(url, autocommit=True, connect_timeout=5)


def answers(url: str) -> None:
    """Raise when the server at `url` does not answer."""
    with connect(url) as asked:
        asked.execute("SELECT 1")


@frozen
class PrivatePostgres:
    """A server of the test's own."""

    url: str
    port: int
    folder: Path
    server: PrivateServer


@contextmanager
def private_postgres(settings: Mapping[str, str] | None = None) -> Iterator[PrivatePostgres]:
    """A new server with an empty database; it does not sync, a crash of the machine is not what is tested."""
    initdb, postgres = binary("initdb", *_BINARIES), binary("postgres", *_BINARIES)
    user = unprivileged("postgres")
    port = free_port()
    url = f"postgresql://postgres@127.0.0.1:{port}/postgres"

    def ready() -> bool:
        try:
            answers(url)
        except psycopg.Error:
            return False
        return True

    with private_folder(user) as folder:
        data = folder / "data"
        subprocess.run(
            [initdb, "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"],
            check=True,
            stdout=subprocess.DEVNULL,
            user=user,
            extra_groups=None if user is None else [],
            cwd=folder,
        )
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": str(folder),
            "fsync": "off",
            **(settings or {}),
        }
        command = [postgres, "-D", str(data), "-p", str(port)]
        command += [part for key, value in options.items() for part in ("-c", f"{key}={value}")]
        server = PrivateServer(command, folder, ready, user)
        server.start()
        try:
            yield PrivatePostgres(url, port, folder, server)
        finally:
            server.stop()


@contextmanager
def pooler(url: str, pool_size: int = 2) -> Iterator[str]:
    """PgBouncer in transaction mode before the server at `url`; the URL through it."""
    program = binary("pgbouncer", "/usr/sbin")
    parts = urlsplit(url)
    user = unprivileged("postgres")
    port = free_port()
    through = parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}").geturl()

    def ready() -> bool:
        try:
            answers(through)
        except psycopg.Error:
            return False
        return True

    with private_folder(user) as folder:
        place = f"host={parts.hostname} port={parts.port or 5432} user={parts.username}"
        (folder / "pgbouncer.ini").write_text(
            f"[databases]\n* = {place}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n"
            f"unix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = {pool_size}\n"
        )
        server = PrivateServer([program, str(folder / "pgbouncer.ini")], folder, ready, user)
        server.start()
        try:
            yield through
        finally:
            server.stop()


@contextmanager
def _private() -> Iterator[str]:
    with private_postgres() as made:
        yield made.url


POSTGRES = Finder(
    "PostgreSQL", "MSGX_TEST_PG", "postgresql://postgres@127.0.0.1:5432/test", answers, _private
)


@contextmanager
def own_schema(url: str) -> Iterator[str]:
    """The URL of a schema that nobody else uses, with the tables of the store; it is dropped in the end."""
    schema = f"msgx_test_{secrets.token_hex(6)}"
    PostgresStore.open(url, schema=schema, create=True).close()
    try:
        yield f"{url}{'&' if '?' in url else '?'}schema={schema}"
    finally:
        with connect(url) as cleaner:
            cleaner.execute(f"DROP SCHEMA {schema} CASCADE")


def schema_of(url: str) -> str:
    """The schema that a URL of `own_schema` names."""
    return url.rpartition("schema=")[2]


def server_of(url: str) -> str:
    """The same URL without the schema."""
    return url[: url.index("schema=") - 1]


def empty(url: str) -> None:
    """As if the schema had just been made: much faster than making it."""
    with connect(server_of(url)) as cleaner:
        cleaner.execute(_RESET.format(schema=schema_of(url)))


class Tables:
    """The tables through a client that is not ours."""

    def __init__(self, url: str) -> None:
        self.connection = connect(server_of(url))
        self.connection.execute(f"SET search_path = {schema_of(url)}")

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows by column name in upper case."""
        cursor = self.connection.execute(sql)
        assert cursor.description is not None
        names = [column.name.upper() for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def run(self, sql: str) -> None:
        """Run one statement and commit."""
        self.connection.execute(sql)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def content(self, flid: int) -> dict[str, Any]:
        """Fields of a flight as its row and the detail tables have them."""
        (row,) = self.rows(f"SELECT * FROM FLIGHT_SCHD WHERE FLID = {flid}")
        found = {name: value for name, value in row.items() if name not in _NOT_FIELDS and value is not None}
        singles: dict[str, Any] = {tag: {} for tag in ("FDIV", "FRET") if tag in (row["TAG_ORDER"] or "")}
        for name in [name for name in found if "_" in name]:
            tag, _, key = name.partition("_")
            singles.setdefault(tag, {})[key] = found.pop(name)
        return {**found, **singles, **self._collections(flid)}

    def _collections(self, flid: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for tag, (table, sequence) in _COLLECTIONS.items():
            kind = f" AND ROUTE_KIND = '{tag}'" if table == "FLIGHT_ROUTE_POINT" else ""
            for row in self.rows(f"SELECT * FROM {table} WHERE FLID = {flid}{kind} ORDER BY ORDINAL"):
                number = row.pop("SOURCE_SEQ")
                names = row.keys() - {"FLID", "ORDINAL", "ROUTE_KIND"}
                element = {name: row[name] for name in names if row[name] is not None}
                found.setdefault(tag, []).append(element if number is None else {**element, sequence: number})
                assert row["ORDINAL"] == len(found[tag])
        return found
