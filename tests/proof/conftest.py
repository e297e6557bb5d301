"""The stores of the proof, who tells its stories, and the report of what was covered."""

from __future__ import annotations

import pickle
from collections.abc import Generator, Iterator
from typing import Any

import pytest

from msgx_adapters.store_postgres import PostgresStore
from msgx_core.model.change import FlightQuery, FlightSnapshot
from msgx_core.pipeline.remembered import Memory
from services.postgres import POSTGRES, Tables, own_schema
from tests.proof.machine import Proof
from tests.proof.report import TALLIES, tally
from tests.proof.stores import PostgresProof, Server, SqliteProof
from tests.proof.teller import Teller, choices_of

NOTHING = pickle.dumps({})


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Whether a test has failed, for the end of its fixtures."""
    report = yield
    if call.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture(autouse=True)
def what_is_remembered_is_what_the_store_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each answer from memory is compared with the store's, so that all of the proof is one of it."""
    remembered = Memory.read

    def compared(memory: Memory, query: FlightQuery) -> FlightSnapshot:
        answer = remembered(memory, query)
        assert answer == memory.ask(query), "the memory is not what the store holds (D-34)"
        return answer

    monkeypatch.setattr(Memory, "read", compared)


@pytest.fixture(scope="session")
def postgres() -> Iterator[type[PostgresProof]]:
    """The model over a schema that nobody else uses."""
    with POSTGRES.found() as found, own_schema(found) as url:
        first, tables = PostgresStore.open(url), Tables(url)
        PostgresProof.server = Server(url, first, tables)
        yield PostgresProof
        tables.close()
        first.close()


@pytest.fixture(params=["SQLite", "PostgreSQL"])
def over(request: pytest.FixtureRequest) -> type[Proof]:
    """The model over each store."""
    found: type[Proof] = SqliteProof if request.param == "SQLite" else request.getfixturevalue("postgres")
    return found


@pytest.fixture
def m(over: type[Proof], request: pytest.FixtureRequest) -> Iterator[Teller]:
    """A teller; after the story everything must come to rest."""
    teller = Teller(over(), choices_of(request.node.iter_markers()))
    yield teller
    if request.node.stash.get(FAILED, False):
        return  # a walk that was left in the middle need not come to rest: its failure is the one to read
    teller.teardown()
    over.tally.told.add(request.node.originalname)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A process that was handed some of the tests gives its counts to the one that tells them."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["proof"] = pickle.dumps(TALLIES)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Such a process has ended."""
    for name, found in pickle.loads(getattr(node, "workeroutput", {}).get("proof", NOTHING)).items():
        tally(name).add(found)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One block for each store."""
    for name, found in sorted(TALLIES.items()):
        if found.walks:
            terminalreporter.section(f"proof over {name}")
            for line in found.lines():
                terminalreporter.write_line(line)
