"""`SqliteStore`: the roles put together, and how a store is opened."""

from __future__ import annotations

from pathlib import Path

from msgx_adapters.store_sqlite import schema
from msgx_adapters.store_sqlite.board import BoardRole
from msgx_adapters.store_sqlite.connection import Connection
from msgx_adapters.store_sqlite.evidence import EvidenceRole
from msgx_adapters.store_sqlite.inspecting import InspectionRole
from msgx_adapters.store_sqlite.jobs import JobRole
from msgx_adapters.store_sqlite.keeping import KeepingRole
from msgx_adapters.store_sqlite.leases import LeaseRole
from msgx_adapters.store_sqlite.operator import OperatorRole
from msgx_adapters.store_sqlite.outages import OutageRole
from msgx_adapters.store_sqlite.outbox import OutboxRole
from msgx_adapters.store_sqlite.reading import ReadingRole
from msgx_adapters.store_sqlite.recovering import RecoveryRole
from msgx_adapters.store_sqlite.requests import RequestRole
from msgx_adapters.store_sqlite.retention import RetentionRole
from msgx_adapters.store_sqlite.sweeping import SweepingRole
from msgx_adapters.store_sqlite.tokens import TokenRole
from msgx_adapters.store_sqlite.turns import TurnRole
from msgx_adapters.store_sqlite.views import ViewRole
from msgx_adapters.store_sqlite.writebacks import WritebackRole
from msgx_core.errors import ConfigError


class SqliteStore(
    LeaseRole,
    ReadingRole,
    TurnRole,
    WritebackRole,
    OutboxRole,
    OutageRole,
    KeepingRole,
    SweepingRole,
    RetentionRole,
    ViewRole,
    BoardRole,
    OperatorRole,
    RequestRole,
    JobRole,
    EvidenceRole,
    InspectionRole,
    RecoveryRole,
    TokenRole,
):
    """`ports.Store` on SQLite; one object is one instance in the sense of the lease (D-34).

    Objects made on one `Connection` share its data: so a crash is simulated by dropping a store and making
    another one on `store.connection`. `close()` closes what this object opened, not a connection that it
    was given.
    `found_revision` is what `create` found there; None: nothing.
    """

    def __init__(self, connection: Connection, *, reader: Connection | None = None) -> None:
        """A store on a connection whose schema is there; views use `reader` when it is given."""
        schema.check(connection)
        self.db = connection
        self.reader = connection if reader is None else reader
        self.found_revision: str | None = None
        self._opened: tuple[Connection, ...] = ()

    @classmethod
    def open(cls, path: Path | None, *, timeout_s: float = 5.0, create: bool = False) -> SqliteStore:
        """Open a file, or (None) a new store in memory.

        `create` makes the file and its folder and brings the schema up. Without it a missing file or a
        schema that does not fit is a `ConfigError` that names the remedy. `timeout_s` bounds the wait for
        another process that writes.
        """
        if path is None:
            return cls._owning([Connection.open(None)], migrate=True)
        if create:
            _make_folder(path.parent)
        elif not path.exists():
            raise ConfigError([f"there is no store at {path}: run `msgx init` or `msgx migrate`"])
        opened = [Connection.open(path, timeout_s=timeout_s, create=create)]
        try:
            opened.append(Connection.open(path, timeout_s=timeout_s, create=False, read_only=True))
        except BaseException:
            opened[0].close()
            raise
        return cls._owning(opened, migrate=create)

    @classmethod
    def _owning(cls, opened: list[Connection], *, migrate: bool) -> SqliteStore:
        """A store on the first connection, with the last one for views; closes them on failure."""
        try:
            found = schema.migrate(opened[0]) if migrate else None
            store = cls(opened[0], reader=opened[-1])
            store.found_revision = found
        except BaseException:
            for connection in opened:
                connection.close()
            raise
        store._opened = tuple(opened)
        return store

    @property
    def connection(self) -> Connection:
        """The connection that writes."""
        return self.db

    def schema_revision(self) -> str | None:
        """The revision of the schema in the file: four digits."""
        return schema.schema_revision(self.db)

    def migrate(self) -> None:
        """Bring the schema up to this program's revision. Idempotent."""
        schema.migrate(self.db)

    def close(self) -> None:
        """Close what this object opened; does not release the lease. Idempotent."""
        for connection in self._opened:
            connection.close()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError([f"the folder of the store cannot be made: {error}"]) from error
