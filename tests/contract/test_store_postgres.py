"""The store suites on PostgreSQL: with prepared statements, and without as behind an old pooler."""

from collections.abc import Callable, Iterator

import pytest

from msgx_adapters.store_postgres import PostgresStore
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
from services.postgres import POSTGRES, Tables, empty, own_schema


@pytest.fixture(scope="module")
def schema() -> Iterator[str]:
    with POSTGRES.found() as server, own_schema(server) as url:
        yield url


@pytest.fixture(params=["auto", "off"])
def opened(request: pytest.FixtureRequest, schema: str) -> Iterator[Callable[[], PostgresStore]]:
    empty(schema)
    made: list[PostgresStore] = []

    def opener() -> PostgresStore:
        made.append(PostgresStore.open(schema, prepared=request.param))
        return made[-1]

    yield opener
    for store in made:
        store.close()


@pytest.fixture
def store(opened: Callable[[], PostgresStore]) -> PostgresStore:
    return opened()


@pytest.fixture
def another(opened: Callable[[], PostgresStore]) -> Callable[[Store], Store]:
    return lambda store: opened()


@pytest.fixture
def oracle(schema: str) -> Iterator[Tables]:
    tables = Tables(schema)
    yield tables
    tables.close()


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
            "FLIGHT_SCHD.SODT_AT": "UPDATE FLIGHT_SCHD SET SODT_AT = 'infinity'",
            "FLIGHT_SCHD.TAG_ORDER": "UPDATE FLIGHT_SCHD SET TAG_ORDER = 'FLNO NOPE'",
            "FLIGHT_VERSION_FLOOR.UPDATED_AT": "UPDATE FLIGHT_VERSION_FLOOR SET UPDATED_AT = '-infinity'",
            "SCHD_GEN.OPERATION_DAY": "UPDATE SCHD_GEN SET OPERATION_DAY = 'infinity'",
            "REF_MASTER.PAYLOAD": "UPDATE REF_GLST SET PAYLOAD = '[]'",
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
