"""Databases for copying from: one where the day can begin, one where the floor can."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from bench.frame.databases import connect, rows, run
from bench.frame.product import IN_MEMORY, fill, in_process
from bench.frame.servers import Servers
from bench.frame.stock import Stock
from msgx_core.model.proc import MessageState

_FOLDER = Path(__file__).resolve().parents[1]
_TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'floor'::regnamespace AND relkind = 'r'"
_EPOCH = "UPDATE msgx.PIPELINE_LOCK SET EPOCH = (SELECT MAX(EPOCH) FROM floor.MESSAGE)"


@frozen
class Prepared:
    """`base`: all flights are there, everything is relayed and written back. `floor`: the same, with
    `messages` waiting and what the floor writes for each. Their ids are `first` to `last`.

    `rows` is what the product left and wrote for them, for comparing.
    """

    base: str
    floor: str
    first: int
    last: int
    rows: Mapping[str, Any]

    @property
    def messages(self) -> int:
        """How many wait."""
        return self.last - self.first + 1


def prepare(servers: Servers, stock: Stock, messages: int) -> Prepared:
    """Make both; the product runs once, under audit."""
    databases = servers.databases
    base = databases.made("base", lambda url: fill(url, stock.setup))
    first = len(stock.setup) + 1
    waiting = databases.made("waiting", lambda url: _take_in(url, stock, messages), base)
    with databases.copy(waiting) as reference:
        run(reference, sql("audit"))
        _process(reference, stock, messages)
        run(reference, sql("floor"))
        run(reference, sql("floor_input"))
        found = contents(reference)
        floor = databases.made("floor", lambda url: _transfer(reference, url), waiting)
    databases.drop(waiting)
    return Prepared(base, floor, first, first + messages - 1, found)


def sql(name: str) -> str:
    """A file of this folder."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def contents(url: str) -> dict[str, Any]:
    """Every row of every table, and every write of each transaction that wrote; times aside.

    A row is its JSON without columns that are instants. Writes are in the order of the transactions.
    """
    timeless = (
        "SELECT C.relname, ARRAY(SELECT attname::text FROM pg_attribute WHERE attrelid = C.oid AND attnum > 0"
        " AND atttypid = 'timestamptz'::regtype) FROM pg_class C"
        " WHERE relnamespace = 'msgx'::regnamespace AND relkind = 'r' ORDER BY 1"
    )
    tables: dict[str, list[str]] = dict(rows(url, timeless))
    found: dict[str, Any] = {}
    for name, times in tables.items():
        statement = f'SELECT (to_jsonb(T) - %s::text[])::text FROM msgx."{name}" T ORDER BY 1'
        found[name] = [row[0] for row in rows(url, statement, (times,))]
    writes: dict[int, list[str]] = {}
    statement = "SELECT TX, TBL, OP, (COALESCE(NEW, OLD) - %s::text[])::text FROM audit.WRITES ORDER BY SEQ"
    all_times = sorted({time for times in tables.values() for time in times})
    for tx, *write in rows(url, statement, (all_times,)):
        writes.setdefault(tx, []).append(" ".join(write))
    return {"tables": found, "writes": [sorted(some) for some in writes.values()]}


def _take_in(url: str, stock: Stock, messages: int) -> None:
    with in_process({**IN_MEMORY, "MSGX_STORE_URL": url}) as container:
        _mailbox(container.inbox, stock, messages)
        container.pipeline.intake.scan()


def _process(url: str, stock: Stock, messages: int) -> None:
    with in_process({**IN_MEMORY, "MSGX_STORE_URL": url}) as container:
        _mailbox(container.inbox, stock, messages)
        with connect(url) as observer:
            observer.execute("TRUNCATE audit.WRITES, audit.PAYLOADS")
        while (tick := container.pipeline.pump.tick()).again:
            if tick.state is not MessageState.SUCCEEDED:
                raise RuntimeError(f"message {tick.msg_id} ended {tick.state}: the floor is about effects")
        # Giving the lease back is no part of a message.
        with connect(url) as observer:
            observer.execute("ALTER TABLE msgx.LEASE DISABLE TRIGGER zz_audit")


def _mailbox(inbox: Any, stock: Stock, messages: int) -> None:
    """The rows where they would be in the mailbox of the day."""
    first = len(stock.setup) + 1
    for number, raw in enumerate(stock.flops(messages)):
        inbox.insert(first + number, raw)


def _transfer(reference: str, url: str) -> None:
    """The floor's functions and input, and the lease as the product had it."""
    run(url, sql("floor"))
    with connect(reference) as source, connect(url) as target:
        tables = source.execute(_TABLES)
        for (name,) in tables.fetchall():
            copy_table(source, target, f'floor."{name}"')
        target.execute(_EPOCH)
        target.execute("UPDATE msgx.LEASE SET EPOCH = L.EPOCH, HOLDER = 'bench' FROM msgx.PIPELINE_LOCK L")


def copy_table(source: Any, target: Any, table: str) -> None:
    """All rows of a table from one connection to another."""
    with (
        source.cursor().copy(f"COPY {table} TO STDOUT (FORMAT binary)") as out,
        target.cursor().copy(f"COPY {table} FROM STDIN (FORMAT binary)") as into,
    ):
        for block in out:
            into.write(block)
