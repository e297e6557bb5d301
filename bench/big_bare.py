"""The bare way of a large schedule: iterparse, then COPY of the rows that the product writes, then Redis."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import redis
from attrs import frozen

from bench.decode import bare
from bench.frame.databases import connect, rows, run
from bench.frame.prepared import sql
from bench.frame.product import IN_MEMORY, in_process
from bench.frame.servers import Servers

_FEW = 10
"""Tables with fewer writes than this hold what the message itself is: not what is copied."""


@frozen
class Table:
    """What is to be done in one table: keys of rows to delete, then rows as COPY takes them."""

    name: str
    key: Sequence[str]
    doomed: Sequence[Sequence[Any]]
    data: bytes

    def write(self, connection: Any) -> None:
        """Delete and copy, within the transaction that is open."""
        if self.doomed:
            types = [type_name for _, type_name in self._typed()]
            arrays = ", ".join(f"%s::{type_name}[]" for type_name in types)
            same = " AND ".join(f"T.{name} = K.{name}" for name in self.key)
            statement = (
                f"DELETE FROM {self.name} T USING unnest({arrays}) AS K ({', '.join(self.key)}) WHERE {same}"
            )
            connection.execute(
                statement.encode(), [list(column) for column in zip(*self.doomed, strict=True)]
            )
        with connection.cursor().copy(f"COPY {self.name} FROM STDIN (FORMAT binary)") as into:
            into.write(self.data)

    def _typed(self) -> list[tuple[str, str]]:
        return [
            (name, "text" if isinstance(value, str) else "bigint")
            for name, value in zip(self.key, self.doomed[0], strict=True)
        ]


@frozen
class Bare:
    """All of it for one message on one database: made from what the product wrote there."""

    raw: bytes
    tables: Sequence[Table]
    cached: Mapping[int, tuple[str, str]]

    def run(self, url: str, redis_url: str) -> float:
        """Seconds from the text to the last answer of Redis."""
        with connect(url) as connection, redis.Redis.from_url(redis_url) as cache:
            cache.ping()
            began = time.perf_counter()
            bare(self.raw)
            with connection.transaction():
                for table in self.tables:
                    table.write(connection)
            pipe = cache.pipeline(transaction=False)
            for flid, (companion, document) in self.cached.items():
                pipe.set(f"bare:flight:{flid}", document)
                pipe.set(f"bare:version:{flid}", companion)
                pipe.sadd(f"bare:day:{companion.partition(' ')[2]}", flid)
            pipe.execute()
            return time.perf_counter() - began


def bare_of(servers: Servers, template: str, raw: bytes) -> Bare:
    """What the product writes for `raw` on a copy of `template`, found out under audit."""
    with servers.databases.copy(template) as url:
        run(url, sql("audit"))
        with in_process({**IN_MEMORY, "MSGX_STORE_URL": url}) as container:
            after = _last_id(url)
            container.inbox.insert(after + 1, raw)  # type: ignore[attr-defined]
            run(url, "TRUNCATE audit.WRITES, audit.PAYLOADS")
            container.pipeline.intake.scan()
            container.pipeline.pump.tick()
        return Bare(raw, _tables(url), _cached(url, after + 1))


def _last_id(url: str) -> int:
    ((last,),) = rows(url, "SELECT COALESCE(MAX(MSG_ID), 0) FROM msgx.PROC_STATE")
    return int(last)


def _tables(url: str) -> list[Table]:
    statement = "SELECT TBL FROM audit.WRITES GROUP BY 1 HAVING COUNT(*) >= %s ORDER BY 1"
    return [_table(url, name) for (name,) in rows(url, statement, (_FEW,))]


def _table(url: str, name: str) -> Table:
    statement = (
        "SELECT attname FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = ANY (indkey)"
        f" WHERE indrelid = 'msgx.{name}'::regclass AND indisprimary ORDER BY attnum"
    )
    key = [column for (column,) in rows(url, statement)]
    old = ", ".join(f"OLD -> '{column}'" for column in key)
    statement = f"SELECT {old} FROM audit.WRITES WHERE TBL = %s AND OP IN ('UPDATE', 'DELETE')"
    doomed = rows(url, statement, (name,))
    same = " AND ".join(f"W.NEW ->> '{column}' = T.{column}::text" for column in key)
    with connect(url) as source:
        query = f"SELECT T.* FROM msgx.{name} T JOIN audit.WRITES W ON W.TBL = '{name}' AND {same}"
        with source.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT binary)".encode()) as out:
            data = b"".join(out)
    return Table(f"msgx.{name}", key, doomed, data)


def _cached(url: str, msg_id: int) -> dict[int, tuple[str, str]]:
    """By flight: "VERSION DAY" and the document, as they go into Redis."""
    statement = (
        "SELECT F.FLID, F.STATE_VERSION || ' ' || F.OPERATION_DAY, E.PAYLOAD::text FROM msgx.FLIGHT_SCHD F"
        " JOIN msgx.MSG_EVENT E ON E.FLID = F.FLID AND E.TARGET = 'KAFKA:schd' WHERE F.LAST_MSG_ID = %s"
    )
    return {flid: (companion, document) for flid, companion, document in rows(url, statement, (msg_id,))}
