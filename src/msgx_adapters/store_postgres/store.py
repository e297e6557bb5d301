"""`PostgresStore`: the roles put together, and how a store is opened."""

from __future__ import annotations

from typing import Literal

from msgx_adapters.store_postgres import schema as schemas
from msgx_adapters.store_postgres.board import BoardRole
from msgx_adapters.store_postgres.evidence import EvidenceRole
from msgx_adapters.store_postgres.inspecting import InspectionRole
from msgx_adapters.store_postgres.jobs import JobRole
from msgx_adapters.store_postgres.keeping import KeepingRole
from msgx_adapters.store_postgres.leases import LeaseRole
from msgx_adapters.store_postgres.operator import OperatorRole
from msgx_adapters.store_postgres.outages import OutageRole
from msgx_adapters.store_postgres.outbox import OutboxRole
from msgx_adapters.store_postgres.pool import Pool
from msgx_adapters.store_postgres.reading import ReadingRole
from msgx_adapters.store_postgres.recovering import RecoveryRole
from msgx_adapters.store_postgres.requests import RequestRole
from msgx_adapters.store_postgres.retention import RetentionRole
from msgx_adapters.store_postgres.statement import statements
from msgx_adapters.store_postgres.sweeping import SweepingRole
from msgx_adapters.store_postgres.target import Target
from msgx_adapters.store_postgres.tokens import TokenRole
from msgx_adapters.store_postgres.turns import TurnRole
from msgx_adapters.store_postgres.views import ViewRole
from msgx_adapters.store_postgres.writebacks import WritebackRole

Prepared = Literal["auto", "off"]


class PostgresStore(
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
    """`ports.Store` on PostgreSQL; one object is one instance in the sense of the lease (D-34).

    Every method is one statement in a transaction of its own, one round trip; no session keeps anything.
    `found_revision` is what `create` found there; None: nothing.
    """

    def __init__(self, pool: Pool) -> None:
        """A store on connections to a database whose schema is there."""
        schemas.check(pool)
        self.pool = pool
        self.sql = statements(pool.target.schema)
        self.found_revision: str | None = None

    @classmethod
    def open(
        cls,
        url: str,
        *,
        timeout_s: float = 5.0,
        statement_timeout_s: float = 60.0,
        prepared: Prepared = "auto",
        create: bool = False,
        schema: str | None = None,
    ) -> PostgresStore:
        """Open `postgresql://USER:PASSWORD@HOST:5432/DATABASE?schema=msgx`.

        `create` makes the schema or brings it up; without it a schema that is missing or does not fit is a
        `ConfigError` that names the remedy. `timeout_s` bounds connecting and how long a silent server is
        believed to live, `statement_timeout_s` one statement. `prepared` is `off` behind a pooler that does
        not know prepared statements (`auto` finds out by itself). `Transient` when nothing answers.
        """
        pool = Pool(
            Target.of(url, schema),
            timeout_s=timeout_s,
            statement_timeout_s=statement_timeout_s,
            prepare=prepared == "auto",
        )
        try:
            found = schemas.migrate(pool) if create else None
            store = cls(pool)
            store.found_revision = found
        except BaseException:
            pool.close()
            raise
        return store

    def schema_revision(self) -> str | None:
        """The revision of the schema in the database: four digits."""
        return schemas.schema_revision(self.pool)

    def migrate(self) -> None:
        """Bring the schema up to this program's revision. Idempotent."""
        schemas.migrate(self.pool)

    def close(self) -> None:
        """Give connections back; does not release the lease. Idempotent."""
        self.pool.close()
