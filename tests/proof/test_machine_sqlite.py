"""The model of the whole system over SQLite in memory."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.proof.stores import SqliteProof
from tests.proof.walk import walk

SHRINKS = pytest.mark.timeout(900)
"""A walk that fails is made short before it is shown; hypothesis takes up to five minutes for that."""


@SHRINKS
def test_random_walks() -> None:
    """R-031, R-078, R-219, INV-1, INV-3, INV-4, INV-5, INV-7, INV-10: in whatever order things happen.

    Every invariant of `invariants` holds after each step; in the end everything comes to rest.
    """
    walk(SqliteProof, walks=100, steps=40)


@pytest.mark.deep
@pytest.mark.timeout(0)
def test_long_random_walks(progress: Callable[[str], None]) -> None:
    """The same, long and different each time."""
    walk(SqliteProof, walks=1500, steps=120, tell=progress)
