"""The stores of the proof, who tells its stories, and the report of what was covered."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from msgx_adapters.store_postgres import PostgresStore
from services.postgres import POSTGRES, Tables, own_schema
from tests.proof.machine import Proof
from tests.proof.report import TALLIES
from tests.proof.stores import PostgresProof, Server, SqliteProof
from tests.proof.teller import Teller, choices_of


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
    teller.teardown()
    over.tally.told.add(request.node.originalname)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One block for each store."""
    for name, found in sorted(TALLIES.items()):
        if found.walks:
            terminalreporter.section(f"proof over {name}")
            for line in found.lines():
                terminalreporter.write_line(line)
