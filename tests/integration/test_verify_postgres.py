"""Verification on PostgreSQL: no difference after real traffic, each of ten changes by hand found (D-36)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest

from embedded import SHANGHAI
from msgx_adapters.archive_fsspec import FsspecArchive
from msgx_adapters.bus_memory import MemoryBus
from msgx_adapters.cache_memory import MemoryCache
from msgx_adapters.codec_lxml import LxmlCodec
from msgx_adapters.inbox_memory import MemoryInbox
from msgx_adapters.store_postgres import PostgresStore
from msgx_core.model.sis import whitelist
from msgx_core.pipeline.differences import Difference
from msgx_core.pipeline.pipeline import Extras, Pipeline, PipelineConfig
from msgx_core.pipeline.recompute import Policies
from msgx_core.pipeline.verify import Report, Verifier
from msgx_core.ports import RawText
from msgx_core.ports.operations import Row
from msgx_core.rules.policy import Policy
from msgx_core.testing.clock import ManualClock
from services.postgres import POSTGRES, Tables, own_schema
from verified import traffic

POLICY = Policy(airport_zone=SHANGHAI, sis_zone=SHANGHAI, flop_whitelist=whitelist("extended"))


@pytest.fixture
def url() -> Iterator[str]:
    with POSTGRES.found() as server, own_schema(server) as made:
        yield made


def filled(url: str, archive: FsspecArchive) -> PostgresStore:
    """A store after two simulated days, every text in the archive."""
    clock = ManualClock(datetime(2027, 3, 14, tzinfo=UTC))
    store = PostgresStore.open(url)
    inbox = MemoryInbox(zone=SHANGHAI, clock=clock)
    pipeline = Pipeline(
        inbox=inbox,
        store=store,
        cache=MemoryCache(),
        bus=MemoryBus(),
        codec=LxmlCodec(),
        clock=clock,
        extras=Extras(archive=archive),
        config=PipelineConfig(policy=POLICY),
    )
    assert pipeline.start("verify", 60.0).granted
    messages = traffic(2, 80)
    while some := list(islice(messages, 100)):
        clock.advance(1)
        inbox.send_many(some)
        pipeline.drain()
    return store


def verified(store: PostgresStore, archive: FsspecArchive) -> tuple[Report, list[Difference]]:
    def text(row: Row) -> RawText | None:
        key = archive.find(row["MSG_ID"], row.get("RECEIVED_AT") or row["ENQUEUED_AT"])
        return None if key is None else archive.get(key)

    found: list[Difference] = []
    policies = Policies.kept_in(store, POLICY, ZoneInfo)
    return Verifier(store, text, LxmlCodec(), policies, found.append).run(), found


CHANGES = {
    "STND": "UPDATE FLIGHT_SCHD SET STND = '999' WHERE FLID = {0}",
    "STATE_VERSION": "UPDATE FLIGHT_SCHD SET STATE_VERSION = STATE_VERSION + 1 WHERE FLID = {1}",
    "LAST_MSG_ID": "UPDATE FLIGHT_SCHD SET LAST_MSG_ID = 1 WHERE FLID = {2}",
    "STATE": "UPDATE FLIGHT_SCHD SET STATE = 'DELETED' WHERE FLID = {3}",
    "ROUT": "UPDATE FLIGHT_ROUTE_POINT SET APCD = 'ZZZ' WHERE FLID = {4} AND ORDINAL = 1",
    "UPDATED_AT": "UPDATE FLIGHT_SCHD SET UPDATED_AT = UPDATED_AT + interval '1 second' WHERE FLID = {5}",
    "SRVT": "INSERT INTO FLIGHT_RAW_SECTION (FLID, TAG, XML) VALUES ({6}, 'SRVT', '<SRVT/>')",
    "{7}": "DELETE FROM SCHD_GEN_FLID WHERE FLID = {7}",
    "FLID": "DELETE FROM FLIGHT_SCHD WHERE FLID = {8}",
    "VERSION": "INSERT INTO SCHD_GEN (OPERATION_DAY, VERSION, LAST_MSG_ID, LAST_RECV_AT, EPOCH)"
    " VALUES ('2027-03-14', 3, 1, now(), 1)",
    "MSG_ID": "UPDATE {reference} SET MSG_ID = 999",
}


def test_ten_changes_by_hand_are_found(url: str) -> None:
    """D-36: nothing differs before; afterwards each change is named with its field."""
    archive = FsspecArchive.in_memory()
    store = filled(url, archive)
    report, found = verified(store, archive)
    assert found == []
    assert report.messages > 700
    flids = [f.flid for f in store.flights(state="ACTIVE", limit=1000) if "ROUT" in f.fields and not f.mafl]
    flids = [f for f in flids if (s := store.flight(f)) is not None and s.main_flid is None]
    tables = Tables(url)
    try:
        reference = tables.rows(
            "SELECT table_name AS N FROM information_schema.tables"
            " WHERE table_name LIKE 'ref_%' AND table_type = 'BASE TABLE' AND table_schema = current_schema()"
            " ORDER BY (table_name LIKE '%arpt%') DESC, 1"
        )[0]["N"]
        for sql in CHANGES.values():
            tables.run(sql.format(*flids, reference=reference))
    finally:
        tables.close()
    report, found = verified(store, archive)
    fields = {each.field for each in found}
    assert {wanted.format(*flids) for wanted in CHANGES} <= fields, found
    assert {each.key for each in found if each.kind == "flight"} == {str(flid) for flid in flids[:7]} | {
        str(flids[8])
    }
    store.close()
    archive.close()
