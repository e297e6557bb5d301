"""Runs a kind undisturbed, and once for each boundary that it passes with a crash there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache

from attrs import define, field, frozen

from crashing.at_rest import problems as at_rest_problems
from crashing.bench import RECOVERY, Bench, Kind, play, prepare
from crashing.departures import compare
from crashing.jobs import JOBS
from crashing.kinds import MESSAGES
from crashing.memory import MemoryWorld
from crashing.requests import REQUESTS
from crashing.state import State
from crashing.work import WORK
from embedded import SimulatedCrash
from msgx_core.pipeline.steps import no_step

KINDS: Sequence[Kind] = (*MESSAGES, *REQUESTS, *WORK, *JOBS)
BY_NAME = {kind.name: kind for kind in KINDS}


@frozen
class Undisturbed:
    """A world before the kind, what came of it, and the boundaries that it passed."""

    before: MemoryWorld
    state: State
    passed: Sequence[str]


@define
class Coverage:
    """Which kinds were cut off at which boundary, for the summary of a run."""

    crashes: int = 0
    kinds: defaultdict[str, set[str]] = field(factory=lambda: defaultdict(set))

    def crashed(self, name: str, step: str) -> None:
        """Another one."""
        self.crashes += 1
        self.kinds[step].add(name)

    def add(self, other: Coverage) -> None:
        """What another process has counted."""
        self.crashes += other.crashes
        for step, names in other.kinds.items():
            self.kinds[step] |= names


@cache
def undisturbed(name: str) -> Undisturbed:
    """The kind of that name without a crash; made once."""
    world = MemoryWorld(BY_NAME[name])
    bench = world.bench()
    prepare(bench)
    before = world.copy()
    passed: list[str] = []
    bench.on_step = passed.append
    play(bench)
    state = world.state()
    world.close()
    return Undisturbed(before, state, tuple(passed))


def crashing_at(number: int) -> Callable[[str], None]:
    """A step hook: the process is gone at the boundary of that number, counted from 0."""
    left = number

    def hook(step: str) -> None:
        nonlocal left
        left -= 1
        if left == -1:
            raise SimulatedCrash(step)

    return hook


@frozen
class Survived:
    """Where processes were cut off, what was wrong right then, and what was left in the end."""

    steps: tuple[str, ...]
    at_rest: list[str]
    state: State


def survived(name: str, *numbers: int, cache_lost: bool = False) -> Survived:
    """A crash at the boundary of that number; where there is another number, the next process crashes too.

    Boundaries are counted anew by each process. `cache_lost`: the cache is the process's own, gone with it.
    """
    world = undisturbed(name).before.copy()
    if cache_lost:
        world.lose_cache()
    at_rest: list[str] = []
    try:
        bench = world.bench()
        steps = recovered(bench, numbers, lambda: at_rest.extend(at_rest_problems(world)))
        return Survived(steps, at_rest, world.state())
    finally:
        world.close()


def recovered(
    bench: Bench, numbers: Sequence[int] = (), look: Callable[[], None] = lambda: None
) -> tuple[str, ...]:
    """Play to the end, by a next process where one crashes; where that was. `look` comes between."""
    at, crashes, hooks = [0], list[str](), [crashing_at(number) for number in numbers]
    while True:
        if hooks:
            bench.on_step = hooks.pop(0)
        try:
            play(bench, at[-1], begun=at.append)
        except SimulatedCrash as crash:
            crashes.append(str(crash))
            bench.on_step = no_step
            look()
            bench.clock.advance(RECOVERY)
            bench.restart(clean=False)
        else:
            return tuple(crashes)


def problems(
    name: str, coverage: Coverage, *, cache_lost: bool = False, stride: int = 1
) -> dict[str, list[str]]:
    """A crash at each boundary of a kind in turn: what is not as after the undisturbed run.

    `stride`: only each so many-th boundary.
    """
    expected = undisturbed(name).state
    if cache_lost:
        # A cache that is filled anew knows nothing of deletions.
        expected = {**expected, "cache": {**expected["cache"], "gone": {}}}
    found: dict[str, list[str]] = {}
    number = 0
    while (end := survived(name, number, cache_lost=cache_lost)).steps:
        (step,) = end.steps
        coverage.crashed(name, step)
        wrong = [*end.at_rest, *compare(end.state, expected, step)]
        if wrong:
            found[f"{step}, boundary {number}"] = wrong
        number += stride
    assert number >= len(undisturbed(name).passed) > 0
    return found


def problems_twice(name: str, pairs: Sequence[tuple[int, int]]) -> dict[str, list[str]]:
    """The same with the next process cut off as well, at another boundary of its own."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        end = survived(name, *pair)
        wrong = [*end.at_rest, *compare(end.state, undisturbed(name).state, *end.steps)]
        if wrong:
            found[f"{' and '.join(end.steps)}, boundaries {pair}"] = wrong
    return found
