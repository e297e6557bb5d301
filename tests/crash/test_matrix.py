"""A crash at every boundary of every kind of message ends like an undisturbed run (R-447 to R-458, D-02).

Compared are every table, the cache, the bus, both mailbox tables, the archive and the history store. Only
times, attempts, durations, the epoch and the schedule log may differ, and duplicates on the bus.
"""

from __future__ import annotations

import random

import pytest

from crashing.departures import DEPARTURES
from crashing.kinds import SCHEDULES, SINGLE
from crashing.matrix import KINDS, Coverage, problems, problems_twice, survived, undisturbed
from crashing.state import difference
from crashing.work import HISTORY
from msgx_core.pipeline.steps import Step

NAMES = [kind.name for kind in KINDS]
DAY = "the sample day"
SOON = {kind.name for kind in (*SCHEDULES, *SINGLE, *HISTORY)}
"""Kinds that tell the cache something of their own."""
CACHE_OUTLIVES = {kind.name for kind in KINDS if "cache" in kind.faults} | {"cache of another store"}
"""Kinds that need a cache server."""


@pytest.mark.parametrize("name", [name for name in NAMES if name != DAY])
def test_a_crash_at_every_boundary(name: str, covered: Coverage) -> None:
    """R-448 to R-452, R-455, INV-3, INV-10: killed there, taken over by the next process, the same end.

    The cache is a server: it outlives the process, and so does what is stale in it.
    """
    assert problems(name, covered) == {}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in SOON else pytest.mark.deep)
        for name in NAMES
        if name not in CACHE_OUTLIVES
    ],
)
def test_a_crash_that_takes_the_cache_along(name: str, covered: Coverage) -> None:
    """D-31, INV-10: the cache is made from the store, whatever it had been told."""
    assert problems(name, covered, cache_lost=True) == {}


ONCE = {kind.name for kind in KINDS if kind.config.retry.max_attempts == 2}
"""Kinds of few attempts: to be killed twice uses them up (D-05)."""
MANY = pytest.param(60, marks=pytest.mark.deep)


@pytest.mark.parametrize("times", [1, MANY])
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ONCE | {DAY}])
def test_a_crash_in_recovery_too(name: str, times: int) -> None:
    """R-447: the process that makes good is killed as well, at some boundary of its own."""
    chance, n = random.Random(name), len(undisturbed(name).passed)
    pairs = [(chance.randrange(n), chance.randrange(n)) for _ in range(times)]
    assert problems_twice(name, list(dict.fromkeys(pairs))) == {}


@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.deep)])
def test_a_crash_in_the_sample_day(covered: Coverage, stride: int) -> None:
    """R-448 to R-452, R-455: with 28 messages on their way, at some boundaries or at all of them."""
    assert problems(DAY, covered, stride=stride) == {}


def test_every_boundary_is_passed_by_some_kind() -> None:
    """IMP §9.2: no boundary of the pipeline is left out of the matrix."""
    passed = {step for name in NAMES for step in undisturbed(name).passed}
    assert passed == set(Step)


@pytest.mark.parametrize("step", list(DEPARTURES))
def test_what_may_differ_is_needed(step: Step) -> None:
    """Nothing is let through that does not happen."""
    passing = [(name, undisturbed(name)) for name in NAMES if step in undisturbed(name).passed]
    ends = ((survived(name, whole.passed.index(step)).state, whole.state) for name, whole in passing)
    assert any(difference(found, expected) for found, expected in ends)
