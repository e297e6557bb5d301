"""`kill -9` of a real process at every boundary, on the real set (R-447 to R-458, D-02).

What is left is read by clients that are not ours. Each boundary once with one kind of message; with
`make deep` every boundary of every kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from crashing.departures import compare
from crashing.matrix import KINDS, Coverage, undisturbed
from crashing.real import RealWorld, runner
from crashing.state import State
from msgx_core.pipeline.steps import Step
from real_set import TIMEOUTS, real_set

NAMES = [kind.name for kind in KINDS]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealWorld]:
    folder = tmp_path_factory.mktemp("kills")
    with real_set(folder / "real", **TIMEOUTS) as real, runner(folder) as run:
        yield RealWorld(real, run, folder / "run")


@pytest.fixture(scope="module")
def expected() -> dict[str, State]:
    """What comes of each kind undisturbed, as far as it was needed."""
    return {}


@cache
def chosen() -> dict[Step, tuple[str, int]]:
    """A kind for each boundary, few kinds in all: its name, and the number of the boundary in its run."""
    passed = {name: undisturbed(name).passed for name in NAMES}
    found: dict[Step, tuple[str, int]] = {}
    while missing := set(Step) - found.keys():
        worth = Counter({name: len(missing & set(steps)) for name, steps in passed.items()})
        name = max(NAMES, key=lambda each: (worth[each], -len(passed[each])))
        assert worth[name], f"no kind passes {missing}"
        for step in missing & set(passed[name]):
            found[Step(step)] = (name, passed[name].index(step))
    return found


def killed_there(world: RealWorld, expected: dict[str, State], name: str, number: int) -> list[str]:
    """Kill at that boundary; what is not as after an undisturbed run."""
    passed = undisturbed(name).passed
    if name not in expected:
        state, real = world.undisturbed(name)
        assert real == list(passed), "on the real set another way is taken than in memory"
        expected[name] = state
    return compare(world.killed(name, number), expected[name], passed[number])


@pytest.mark.parametrize("step", list(Step))
def test_killed_at_each_boundary(
    world: RealWorld, expected: dict[str, State], killed: Coverage, step: Step
) -> None:
    """IMP §9.2, INV-3, INV-10: killed there, the next process ends as if nothing had been."""
    name, number = chosen()[step]
    wrong = killed_there(world, expected, name, number)
    killed.crashed(name, step)
    assert wrong == [], f"{name}, boundary {number}"


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", NAMES)
def test_killed_at_each_boundary_of_each_kind(
    world: RealWorld, expected: dict[str, State], killed: Coverage, name: str
) -> None:
    """The same for all of them."""
    problems = {}
    for number, step in enumerate(undisturbed(name).passed):
        wrong = killed_there(world, expected, name, number)
        killed.crashed(name, step)
        if wrong:
            problems[f"{step}, boundary {number}"] = wrong
    assert problems == {}
