"""The list of boundaries is whole: each is passed in the code, and there is one between any two effects."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import msgx_core.pipeline
from crashing.bench import Parts, play
from crashing.matrix import KINDS, undisturbed
from msgx_core.pipeline.steps import BOUNDARIES, Step

PIPELINE = Path(str(msgx_core.pipeline.__file__)).parent
EFFECTS = {
    "store": "acquire_lease enqueue bind close_unapplied fail set_trying count_interrupted apply finish"
    " log_snapshots raise_alert claim_writebacks writebacks_done writeback_retry writeback_abandon"
    " release_claims settle_events ask begin_send confirm_sent lose_send expire_requests archive_flights"
    " cache_settled remove_expired replay start_job note_job end_job note_outage".split(),
    "inbox": ["mark"],
    "outbound": ["insert"],
    "cache": ["write", "rebuild"],
    "bus": ["publish"],
    "archive": ["put", "put_step", "remove_before"],
    "history": ["write", "remove_before"],
}
"""What changes anything outside the process."""

IDLE = {
    "count_interrupted",
    "expire_requests",
    "ask",
    "claim_writebacks",
    "enqueue",
    "remove_before",
    "lose_send",
}
"""These have done nothing when they return nothing."""


def told() -> list[str]:
    """What the pipeline tells at its boundaries, as its source has it."""
    found = []
    for path in sorted(PIPELINE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in ("on_step", "_on_step"):
                (argument,) = node.args
                found.append(ast.unparse(argument))
    return found


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def test_every_boundary_that_is_told_is_listed_and_the_other_way_round() -> None:
    assert set(told()) == {f"Step.{step.name}" for step in Step}
    assert list(BOUNDARIES) == list(Step)


class Watched:
    """A part whose effects are written down as they are done."""

    def __init__(self, name: str, part: Any, effect: Callable[[str], None]) -> None:
        self._name, self._part, self._effect = name, part, effect

    def __getattr__(self, method: str) -> Any:
        real = getattr(self._part, method)
        if method not in EFFECTS[self._name]:
            return real

        def watching(*args: Any, **more: Any) -> Any:
            result = real(*args, **more)
            if result or method not in IDLE:
                self._effect(f"{self._name}.{method}")
            return result

        return watching


def watched(parts: Parts, effect: Callable[[str], None]) -> Parts:
    """The parts, each watched."""
    there = {name: getattr(parts, name) for name in EFFECTS}
    proxies: dict[str, Any] = {n: Watched(n, part, effect) for n, part in there.items() if part is not None}
    return evolve(parts, **proxies)


def without_a_boundary(log: Sequence[tuple[str, str]]) -> set[tuple[str, str]]:
    """Effects that follow one another with nothing between."""
    return {(one[1], other[1]) for one, other in pairwise(log) if one[0] == other[0] == "effect"}


@pytest.mark.parametrize("name", [kind.name for kind in KINDS])
def test_between_two_effects_there_is_a_boundary(name: str) -> None:
    """IMP §9.2: whatever the pipeline does outside, a crash right after it can be tried."""
    world = undisturbed(name).before.copy()
    bench = world.bench()
    log: list[tuple[str, str]] = []

    def step(name: str) -> None:
        log.append(("step", name))

    def effect(name: str) -> None:
        # In a quiet phase nobody listens to the steps.
        log.append(("effect" if bench.on_step is step else "quiet", name))

    reopen = bench.reopen
    bench.reopen = lambda made, clean: watched(reopen(made, clean), effect)
    bench.restart(clean=True)
    bench.on_step = step
    play(bench)
    world.close()
    assert without_a_boundary(log) == set()
