"""The two stores that the model is run over, and what each calls its own."""

from __future__ import annotations

from typing import Any, ClassVar

from attrs import define, field, frozen

from msgx_adapters.store_postgres import PostgresStore
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.ports import Store
from services.postgres import Tables, empty
from tests.proof.machine import Proof
from tests.proof.report import tally
from tests.proof.steering import weighted


@define
class MemoryBooks:
    """One connection in memory; every process has a store object of its own on it."""

    _first: SqliteStore = field(factory=lambda: SqliteStore.open(None, create=True))

    def open(self) -> Store:
        """A store as a process that starts has it."""
        return SqliteStore(self._first.connection)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows beside the store."""
        with self._first.connection.read():
            return self._first.connection.rows(sql)

    def expire_lease(self) -> None:
        """The lease has run out."""
        with self._first.connection.write():
            self._first.connection.run("UPDATE LEASE SET EXPIRES_UNIX = 0")

    def close(self) -> None:
        """The memory is given back."""
        self._first.close()


@weighted
class SqliteProof(Proof):
    """The model over these books."""

    open_books = MemoryBooks
    tally = tally("SQLite")


@frozen
class Server:
    """A schema of our own, a pool of connections to it, and a client that is not ours."""

    url: str
    first: PostgresStore
    tables: Tables


@frozen
class PostgresBooks:
    """The schema emptied; every process has a store object of its own, on connections of one pool."""

    server: Server

    def open(self) -> Store:
        """A store as a process that starts has it."""
        return PostgresStore(self.server.first.pool)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Rows through a client that is not ours."""
        return self.server.tables.rows(sql)

    def expire_lease(self) -> None:
        """The lease has run out."""
        self.server.tables.run("UPDATE LEASE SET EXPIRES_AT = now() - interval '1 second'")

    def close(self) -> None:
        """The schema stays for the next."""


@weighted
class PostgresProof(Proof):
    """The model over these books."""

    server: ClassVar[Server]
    tally = tally("PostgreSQL")

    @classmethod
    def open_books(cls) -> PostgresBooks:
        """As if the schema had just been made."""
        empty(cls.server.url)
        return PostgresBooks(cls.server)
