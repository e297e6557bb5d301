"""The model of the whole system over PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.proof.stores import PostgresProof
from tests.proof.walk import walk

SHRINKS = pytest.mark.timeout(900)
"""A walk that fails is made short before it is shown; hypothesis takes up to five minutes for that."""


@SHRINKS
def test_random_walks(postgres: type[PostgresProof]) -> None:
    """R-031, R-078, R-219, INV-1, INV-3, INV-4, INV-5, INV-7, INV-10: as over SQLite, on fewer walks."""
    walk(postgres, walks=20, steps=40)


@pytest.mark.deep
@pytest.mark.timeout(0)
def test_long_random_walks(postgres: type[PostgresProof], progress: Callable[[str], None]) -> None:
    """The same, long and different each time."""
    walk(postgres, walks=200, steps=120, tell=progress)
