"""A state machine as a table of transitions (IMP §3)."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Generic, TypeVar

from attrs import frozen

S = TypeVar("S", bound=enum.Enum)
E = TypeVar("E", bound=enum.Enum)


class IllegalTransition(ValueError):
    """An event that the current state does not allow."""


@frozen
class Transition(Generic[S, E]):
    """One legal step and the rule it comes from."""

    source: S
    event: E
    target: S
    rule: str


@frozen
class Machine(Generic[S, E]):
    """States, the initial one, the terminal ones, and every legal step."""

    name: str
    initial: frozenset[S]
    terminal: frozenset[S]
    transitions: tuple[Transition[S, E], ...]

    def next(self, state: S, event: E) -> S:
        """The state after `event`; raises `IllegalTransition` when the table has no such step."""
        for step in self.transitions:
            if step.source is state and step.event is event:
                return step.target
        raise IllegalTransition(f"{self.name}: no {event.value} in {state.value}")

    def allows(self, state: S, event: E) -> bool:
        """Whether the table has that step."""
        return any(t.source is state and t.event is event for t in self.transitions)

    def sources(self, event: E) -> frozenset[S]:
        """States in which `event` is legal."""
        return frozenset(t.source for t in self.transitions if t.event is event)

    def reachable(self) -> frozenset[S]:
        """States that some path from an initial one leads to."""
        seen = set(self.initial)
        frontier: Iterable[S] = self.initial
        while frontier:
            frontier = {t.target for t in self.transitions if t.source in frontier} - seen
            seen |= frontier
        return frozenset(seen)


def rows(rule: str, event: E, pairs: Iterable[tuple[S, S]]) -> tuple[Transition[S, E], ...]:
    """Several steps of one event under one rule."""
    return tuple(Transition(source, event, target, rule) for source, target in pairs)
