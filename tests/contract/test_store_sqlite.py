"""The store suites on SQLite: a file, and one connection in memory."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from msgx_adapters.store_sqlite import Connection, SqliteStore
from msgx_core.ports import Store
from msgx_core.testing.store_contract_atomicity import AtomicityContract
from msgx_core.testing.store_contract_board import BoardContract
from msgx_core.testing.store_contract_effects import EffectContract
from msgx_core.testing.store_contract_events import EventContract
from msgx_core.testing.store_contract_evidence import EvidenceContract
from msgx_core.testing.store_contract_inspection import InspectionContract
from msgx_core.testing.store_contract_jobs import JobContract
from msgx_core.testing.store_contract_leases import LeaseContract
from msgx_core.testing.store_contract_ledger import LedgerContract
from msgx_core.testing.store_contract_messages import MessageContract
from msgx_core.testing.store_contract_operator import OperatorContract
from msgx_core.testing.store_contract_outages import OutageContract
from msgx_core.testing.store_contract_outbox import OutboxContract
from msgx_core.testing.store_contract_paging import PagingContract
from msgx_core.testing.store_contract_reading import ReadingContract
from msgx_core.testing.store_contract_requests import RequestContract
from msgx_core.testing.store_contract_retention import RetentionContract
from msgx_core.testing.store_contract_roundtrip import RoundTripContract
from msgx_core.testing.store_contract_sweeping import SweepingContract
from msgx_core.testing.store_contract_tokens import TokenContract
from msgx_core.testing.store_contract_turns import TurnContract
from msgx_core.testing.store_contract_views import ViewContract
from msgx_core.testing.store_contract_writebacks import WritebackContract


class RawSql:
    """The tables through a connection of the test's own (a file), or beside the store (memory)."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw

    def rows(self, sql: str) -> list[dict[str, Any]]:
        cursor = self.raw.execute(sql)
        names = [column[0].upper() for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def run(self, sql: str) -> None:
        self.raw.execute(sql)

    def content(self, flid: int) -> dict[str, Any]:
        (row,) = self.rows(f"SELECT CONTENT FROM FLIGHT_SCHD WHERE FLID = {flid}")
        found: dict[str, Any] = json.loads(row["CONTENT"])
        return found


@pytest.fixture(params=["file", "memory"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    return tmp_path / "store.db" if request.param == "file" else None


@pytest.fixture
def store(path: Path | None) -> Iterator[SqliteStore]:
    made = SqliteStore.open(path, create=True)
    yield made
    made.close()


@pytest.fixture
def another(path: Path | None) -> Iterator[Callable[[Store], Store]]:
    opened: list[SqliteStore] = []

    def open_another(store: Store) -> Store:
        assert isinstance(store, SqliteStore)
        opened.append(SqliteStore(store.connection) if path is None else SqliteStore.open(path))
        return opened[-1]

    yield open_another
    for made in opened:
        made.close()


@pytest.fixture
def oracle(store: SqliteStore, path: Path | None) -> Iterator[RawSql]:
    if path is None:
        yield RawSql(raw_of(store.connection))
        return
    raw = sqlite3.connect(path, isolation_level=None)
    yield RawSql(raw)
    raw.close()


def raw_of(connection: Connection) -> sqlite3.Connection:
    return connection._raw


class TestLeases(LeaseContract):
    pass


class TestMessages(MessageContract):
    pass


class TestTurns(TurnContract):
    pass


class TestEffects(EffectContract):
    pass


class TestAtomicity(AtomicityContract):
    pass


class TestEvents(EventContract):
    pass


class TestEvidence(EvidenceContract):
    pass


class TestInspection(InspectionContract):
    @pytest.fixture
    def damage(self) -> dict[str, str]:
        return {
            "FLIGHT_SCHD.CONTENT": "UPDATE FLIGHT_SCHD SET CONTENT = '{'",
            "FLIGHT_SCHD.SODT_AT": "UPDATE FLIGHT_SCHD SET SODT_AT = 'tomorrow'",
            "FLIGHT_SCHD.FLNO": "UPDATE FLIGHT_SCHD SET FLNO = CAST(x'ff' AS TEXT)",
            "FLIGHT_VERSION_FLOOR.UPDATED_AT": "UPDATE FLIGHT_VERSION_FLOOR SET UPDATED_AT = '2027-03-14'",
            "SCHD_GEN.OPERATION_DAY": "UPDATE SCHD_GEN SET OPERATION_DAY = '2027-02-30'",
            "REF_MASTER.PAYLOAD": "UPDATE REF_RECORD SET PAYLOAD = '[]'",
        }


class TestReading(ReadingContract):
    pass


class TestLedger(LedgerContract):
    pass


class TestRoundTrip(RoundTripContract):
    pass


class TestWritebacks(WritebackContract):
    pass


class TestOutbox(OutboxContract):
    pass


class TestOperator(OperatorContract):
    pass


class TestViews(ViewContract):
    pass


class TestPaging(PagingContract):
    pass


class TestBoard(BoardContract):
    pass


class TestTokens(TokenContract):
    pass


class TestRequests(RequestContract):
    pass


class TestSweeping(SweepingContract):
    pass


class TestRetention(RetentionContract):
    pass


class TestJobs(JobContract):
    pass


class TestOutages(OutageContract):
    pass
