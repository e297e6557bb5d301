"""A row of the report: what was measured, its target, and whether it is met."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from bench.frame.rounds import Spread


class Verdict(enum.StrEnum):
    """What a row comes to."""

    MET = "met"
    MISSED = "missed"
    FAILED = "failed"
    """The benchmark itself broke; nothing can be said."""
    REPORTED = "reported"
    """There is no target."""


@frozen
class Target:
    """A limit for the median: at least this much, or at most."""

    limit: float
    at_least: bool = True

    @classmethod
    def at_most(cls, limit: float) -> Target:
        """Not more than this."""
        return cls(limit, at_least=False)

    def is_met_by(self, value: float) -> bool:
        """Whether the value is on the right side; the limit itself is."""
        return value >= self.limit if self.at_least else value <= self.limit

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}"


@frozen
class Condition:
    """Something that has to hold for a measurement to count: the rows are the same, the relays keep up."""

    what: str
    holds: bool


@frozen
class Row:
    """One line of the report. `statistic` is what the target is for: the median, or `p99`.

    `details` are figures behind it (rates, sizes, profiles) as JSON values.
    """

    name: str
    what: str
    measured: Spread | None
    target: Target | None = None
    unit: str = "×"
    statistic: str = "median"
    conditions: tuple[Condition, ...] = ()
    details: Mapping[str, Any] = field(factory=dict)
    error: str | None = None

    @property
    def value(self) -> float | None:
        """The figure that is judged."""
        if self.measured is None:
            return None
        return self.measured.part(0.99) if self.statistic == "p99" else self.measured.median

    @property
    def verdict(self) -> Verdict:
        """Met only when every condition holds too."""
        if self.error is not None:
            return Verdict.FAILED
        if not all(condition.holds for condition in self.conditions):
            return Verdict.MISSED
        value = self.value
        if self.target is None or value is None:
            return Verdict.MET if self.conditions else Verdict.REPORTED
        return Verdict.MET if self.target.is_met_by(value) else Verdict.MISSED


def failed(name: str, error: BaseException) -> Row:
    """The row of a benchmark that broke."""
    return Row(name, "did not come to its end", None, error=f"{type(error).__name__}: {error}")
