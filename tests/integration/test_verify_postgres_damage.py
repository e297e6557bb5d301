"""Verification on PostgreSQL of a store changed by hand: each column that messages give is compared."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve, frozen

from damage import ALONE, DAYS, fill
from embedded import SHANGHAI
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_adapters.bus_memory import MemoryBus
from msgx_adapters.cache_memory import MemoryCache
from msgx_adapters.codec_lxml import LxmlCodec
from msgx_adapters.inbox_memory import MemoryInbox
from msgx_adapters.store_postgres import PostgresStore
from msgx_core.pipeline.basis import EXACT
from msgx_core.pipeline.differences import Difference
from msgx_core.pipeline.explain import Explainer, Explanation
from msgx_core.pipeline.pipeline import Extras, Pipeline
from msgx_core.pipeline.recompute import Policies
from msgx_core.pipeline.verify import Verifier
from msgx_core.ports import RawText
from msgx_core.ports.inspection import Unreadable
from msgx_core.ports.operations import MessageFilter, Row
from msgx_core.testing.clock import ManualClock
from services.postgres import POSTGRES, Tables, own_schema
from verified import Keeps

POLICY = evolve(DAYS.policy, airport_zone=SHANGHAI, sis_zone=SHANGHAI)
TABLES = """PROC_STATE MSG_EVENT FLIGHT_SCHD FLIGHT_GATE FLIGHT_ROUTE_POINT FLIGHT_RAW_SECTION
FLIGHT_VERSION_FLOOR SCHD_GEN SCHD_GEN_FLID SENDER_MARK REF_GLST OPS_AUDIT STORE_INFO COUNTERS""".split()
ROWS = {
    "STORE_INFO": "NAME LIKE 'pin.policy%'",
    "COUNTERS": "NAME = 'apply_no'",
    "OPS_AUDIT": "ACTION = 'recover_versions'",
    "MSG_EVENT": "TARGET = 'KAFKA:msg'",
    "FLIGHT_SCHD": "FLID = 1",
    "FLIGHT_ROUTE_POINT": "ORDINAL = 1",
    "PROC_STATE": "MSG_ID = 1",
}
NOT_GIVEN = """PROC_STATE.ATTEMPTS PROC_STATE.RECEIVED_AT PROC_STATE.ENQUEUED_AT PROC_STATE.FINISHED_AT
PROC_STATE.BACKFILL_ATTEMPTS MSG_EVENT.TARGET OPS_AUDIT.AUDIT_ID OPS_AUDIT.ACTOR OPS_AUDIT.REASON
OPS_AUDIT.DETAIL OPS_AUDIT.CREATED_AT""".split()
"""What messages do not give, `docs/evidence.md` says why. `EPOCH` is none of theirs in any table."""
OTHER = {
    "bigint": "COALESCE({0}, 0) + 1",
    "integer": "COALESCE({0}, 0) + 1",
    "boolean": "NOT {0}",
    "text": "COALESCE({0}, '') || 'x'",
    "timestamp with time zone": "COALESCE({0}, now()) + interval '1 second'",
    "date": "{0} + 1",
    "json": "'{{\"FLID\": 1}}'",
    "jsonb": '\'["GLST", "", {{}}, []]\'',
    "ARRAY": "'{{7}}'",
}
BAD = {"timestamp with time zone": "'infinity'", "date": "'-infinity'", "jsonb": "'[[]]'", "json": "'[1]'"}


@frozen
class Damaged:
    """A filled store without constraints, and other means to change it."""

    store: PostgresStore
    archive: FsspecArchive
    tables: Tables

    def text(self, row: Row) -> RawText | None:
        """The archived text of a message."""
        key = self.archive.find(row["MSG_ID"], row.get("RECEIVED_AT") or row.get("ENQUEUED_AT"))
        return None if key is None else self.archive.get(key)

    def verified(self) -> list[Difference]:
        """What differs."""
        found: list[Difference] = []
        policies = Policies.kept_in(self.store, POLICY, ZoneInfo)
        steps = self.archive.steps
        Verifier(self.store, self.text, LxmlCodec(), policies, found.append, steps=steps).run()
        return found

    def explained(self, msg_id: int) -> Explanation:
        """One message."""
        policies = Policies.kept_in(self.store, POLICY, ZoneInfo)
        now = datetime(2027, 4, 1, tzinfo=UTC)
        explainer = Explainer(self.store, self.text, LxmlCodec(), policies, now, steps=self.archive.steps)
        found = explainer.explain(msg_id)
        assert found is not None
        return found

    @contextmanager
    def changed(self, table: str, column: str, value: str) -> Iterator[None]:
        """One row of a table holds that, for a while."""
        key = f"ctid = (SELECT MIN(ctid) FROM {table} WHERE {ROWS.get(table, 'TRUE')})"
        self.tables.run(f"CREATE TABLE KEPT AS SELECT * FROM {table}")
        try:
            self.tables.run(f"UPDATE {table} SET {column} = {value} WHERE {key}")
            yield
        finally:
            self.tables.run(f"DELETE FROM {table}")
            self.tables.run(f"INSERT INTO {table} SELECT * FROM KEPT")
            self.tables.run("DROP TABLE KEPT")

    def columns(self) -> list[tuple[str, str, str]]:
        """Table, column and type of all that messages give."""
        found = self.tables.rows(
            "SELECT upper(table_name) AS T, upper(column_name) AS C, data_type AS K"
            " FROM information_schema.columns WHERE table_schema = current_schema() ORDER BY 1, 2"
        )
        return [
            (row["T"], row["C"], row["K"])
            for row in found
            if row["T"] in TABLES and row["C"] != "EPOCH" and f"{row['T']}.{row['C']}" not in NOT_GIVEN
        ]


@pytest.fixture(scope="module")
def damaged() -> Iterator[Damaged]:
    with POSTGRES.found() as server, own_schema(server) as url:
        archive, store = FsspecArchive.in_memory(), PostgresStore.open(url)
        clock = ManualClock(datetime(2027, 3, 14, tzinfo=UTC))
        inbox = MemoryInbox(zone=SHANGHAI, clock=clock)
        pipeline = Pipeline(
            inbox=inbox,
            store=store,
            cache=MemoryCache(),
            bus=MemoryBus(),
            codec=LxmlCodec(),
            clock=clock,
            extras=Extras(archive=archive, history=Keeps()),
            config=evolve(DAYS, policy=POLICY),
        )
        assert pipeline.start("verify", 60.0).granted
        fill(pipeline, clock, inbox.send_many)
        tables = Tables(url)
        made = Damaged(store, archive, tables)
        assert made.verified() == []
        loosen(tables)
        yield made
        tables.close()
        store.close()
        archive.close()


def loosen(tables: Tables) -> None:
    """Take every constraint and trigger away, as somebody with the rights can."""
    for table in TABLES:
        tables.run(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        for row in tables.rows(
            "SELECT conname AS N FROM pg_constraint WHERE contype IN ('c', 'p', 'u')"
            f" AND conrelid = '{table}'::regclass"
        ):
            tables.run(f"ALTER TABLE {table} DROP CONSTRAINT {row['N']}")
        for row in tables.rows(
            "SELECT attname AS N FROM pg_attribute WHERE attnotnull AND attnum > 0 AND attidentity = ''"
            f" AND attrelid = '{table}'::regclass"
        ):
            tables.run(f"ALTER TABLE {table} ALTER COLUMN {row['N']} DROP NOT NULL")
    tables.run("DROP INDEX SCHD_GEN_FLID_ONCE")
    tables.run("DROP INDEX MSG_EVENT_SCHD")


def told_of(table: str) -> set[str]:
    """Under which names a change of a table is told."""
    parts = {"FLIGHT_GATE", "FLIGHT_ROUTE_POINT"}
    others = {"REF_GLST": {"REF_MASTER"}, "OPS_AUDIT": {"FLIGHT_SCHD"}, "COUNTERS": {"PROC_STATE"}}
    return {table} | ({"FLIGHT_SCHD"} if table in parts else others.get(table, set()))


def test_each_message_is_explained(damaged: Damaged) -> None:
    """D-33, D-36: on the state before it, over sweeps and raised versions; none otherwise than recorded."""
    rows = damaged.store.messages(MessageFilter())
    assert len(rows) == 7
    for row in rows:
        found = damaged.explained(row["MSG_ID"])
        assert (found.note, found.basis) in ((None, None), (None, EXACT)), (row, found)


def test_another_value_is_found(damaged: Damaged) -> None:
    """D-36: a column at a time, whatever it holds."""
    missed = []
    for table, column, kind in damaged.columns():
        with damaged.changed(table, column, OTHER[kind].format(column)):
            found = damaged.verified()
        wanted = told_of(table) | ({"MSG_EVENT"} if column == "APPLIED_AT" else set())
        if not any(each.table in wanted for each in found):
            missed.append((table, column, found))
    assert missed == []


def test_a_value_that_cannot_be_read_is_named(damaged: Damaged) -> None:
    """D-36: with its table and column; the run goes on, and a change elsewhere is found too."""
    missed = []
    damaged.tables.run(f"UPDATE FLIGHT_SCHD SET STATE_VERSION = 99 WHERE FLID = {ALONE}")
    for table, column, kind in damaged.columns():
        if kind not in BAD:
            continue
        with damaged.changed(table, column, BAD[kind]):
            found = damaged.verified()
        told = [each for each in found if each.table in told_of(table) and each.field == column]
        elsewhere = (str(ALONE), "STATE_VERSION") in {(each.key, each.field) for each in found}
        if not elsewhere or not (kind == "json" or any(isinstance(each.stored, Unreadable) for each in told)):
            missed.append((table, column, found))
    damaged.tables.run(f"UPDATE FLIGHT_SCHD SET STATE_VERSION = 11 WHERE FLID = {ALONE}")
    assert missed == []


@pytest.mark.deep
def test_null_where_none_may_be_stops_nothing(damaged: Damaged) -> None:
    """D-36: in any column; it is told where it stands, or as the row that is not there any more."""
    missed = []
    for table, column, _ in damaged.columns():
        with damaged.changed(table, column, "NULL"):
            before = damaged.tables.rows(f"SELECT COUNT(*) AS N FROM {table} WHERE {column} IS NULL")
            kept = damaged.tables.rows(f"SELECT COUNT(*) AS N FROM KEPT WHERE {column} IS NULL")
            found = damaged.verified()
        if before != kept and not found:
            missed.append((table, column))
    assert missed == []


def test_parts_of_flights_out_of_place(damaged: Damaged) -> None:
    """D-36: a part of a flight that is not there, and a gap in a collection that reads like none."""
    damaged.tables.run("INSERT INTO FLIGHT_GATE (FLID, ORDINAL, GATE) VALUES (777, 1, 'A1')")
    damaged.tables.run("UPDATE FLIGHT_ROUTE_POINT SET ORDINAL = 5 WHERE ORDINAL = 2")
    found = {(each.kind, each.table.upper(), each.key, each.field) for each in damaged.verified()}
    damaged.tables.run("DELETE FROM FLIGHT_GATE WHERE FLID = 777")
    damaged.tables.run("UPDATE FLIGHT_ROUTE_POINT SET ORDINAL = 2 WHERE ORDINAL = 5")
    assert found == {
        ("stray", "FLIGHT_GATE", "777", "FLID"),
        ("stray", "FLIGHT_ROUTE_POINT", "1/ROUT", "ORDINAL"),
    }
    assert damaged.verified() == []
