"""What a run of the proof has covered: counted while it works, printed at the end of pytest."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from attrs import define, field, fields

from msgx_core.pipeline.steps import Step
from msgx_core.states.delivery import DELIVERY
from msgx_core.states.flight import FLIGHT
from msgx_core.states.machine import Machine
from msgx_core.states.message import MESSAGE
from msgx_core.states.request import REQUEST
from msgx_core.states.writeback import WRITEBACK

MACHINES: tuple[Machine, ...] = (MESSAGE, WRITEBACK, DELIVERY, REQUEST, FLIGHT)  # type: ignore[type-arg]

Key = tuple[str, str, str, str]
"""Machine, state before, event, state after."""

TABLE: dict[Key, str] = {
    (machine.name, t.source.value, t.event.value, t.target.value): t.rule
    for machine in MACHINES
    for t in machine.transitions
}
"""Every transition that there is, with its rule."""


@define
class Tally:
    """Counts of one run over one store."""

    name: str
    transitions: Counter[Key] = field(factory=Counter)
    steps: Counter[tuple[str, str]] = field(factory=Counter)
    boundaries: Counter[str] = field(factory=Counter)
    crashes: Counter[str] = field(factory=Counter)
    takeovers: Counter[str] = field(factory=Counter)
    meanwhile: Counter[str] = field(factory=Counter)
    unanswered: Counter[tuple[str, bool]] = field(factory=Counter)
    ends: Counter[tuple[str, str]] = field(factory=Counter)
    invariants: Counter[str] = field(factory=Counter)
    walks: int = 0
    told: set[str] = field(factory=set)

    def took(self, key: Key) -> None:
        """A transition was seen in the store: it must be one of the table."""
        assert key in TABLE, f"{key[0]}: the table has no {key[2]} from {key[1]} to {key[3]}"
        self.transitions[key] += 1

    def missing(self) -> list[str]:
        """Transitions of the tables that were never taken."""
        return [
            f"{m}: {a} --{e}--> {b} ({rule})"
            for (m, a, e, b), rule in TABLE.items()
            if not self.transitions[m, a, e, b]
        ]

    def add(self, other: Tally) -> None:
        """What another process has counted over the same store."""
        for counted in (each.name for each in fields(Tally) if each.name != "name"):
            mine, theirs = getattr(self, counted), getattr(other, counted)
            setattr(self, counted, mine | theirs if isinstance(mine, set) else mine + theirs)

    def lines(self) -> Iterator[str]:
        """The report."""
        yield (
            f"{self.name}: {self.walks} walks, {self.steps.total()} pieces of work,"
            f" {self.invariants.total()} checks of {len(self.invariants)} invariants"
        )
        for machine in MACHINES:
            taken = {key: n for key, n in self.transitions.items() if key[0] == machine.name}
            states = {key[3] for key in taken} | {state.value for state in machine.initial}
            all_of = sum(1 for key in TABLE if key[0] == machine.name)
            yield (
                f"  {machine.name}: {len(taken)} of {all_of} transitions, {len(states)} of"
                f" {len(machine.reachable())} states"
            )
            yield from _wrapped(f"{a}>{e}>{b} {n}" for (_, a, e, b), n in sorted(taken.items()))
        crossed = [step for step in Step if self.boundaries[step]]
        yield (
            f"  boundaries passed: {len(crossed)}; taken over at {len(self.takeovers)};"
            f" crashed at {len(self.crashes)}:"
        )
        yield from _wrapped(f"{name} {n}" for name, n in sorted(self.crashes.items()))
        yield f"  calls without an answer: {self.unanswered.total()}"
        yield from _wrapped(
            f"{call}{'' if done else ' (not done)'} {n}"
            for (call, done), n in sorted(self.unanswered.items())
        )
        yield "  kinds of messages and their ends:"
        yield from _wrapped(f"{kind}>{end} {n}" for (kind, end), n in sorted(self.ends.items()))


def _wrapped(parts: Iterator[str] | list[str], width: int = 100) -> Iterator[str]:
    line = ""
    for part in parts:
        if line and len(line) + len(part) > width:
            yield f"    {line}"
            line = ""
        line = f"{line}, {part}" if line else part
    if line:
        yield f"    {line}"


TALLIES: dict[str, Tally] = {}
"""By the name of the store."""


def tally(name: str) -> Tally:
    """The counts of a store; one for the whole run."""
    return TALLIES.setdefault(name, Tally(name))
