"""Measuring in pairs: ours and the reference in turn, so that what the machine does meanwhile hits both."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from attrs import frozen


@frozen
class Spread:
    """Measured values of one thing, in the order in which they were measured; never empty."""

    values: tuple[float, ...]

    @classmethod
    def of(cls, *values: float) -> Spread:
        """These values. Raises ValueError when there is none."""
        if not values:
            raise ValueError("nothing was measured")
        return cls(values)

    @property
    def median(self) -> float:
        """The middle one."""
        return statistics.median(self.values)

    @property
    def low(self) -> float:
        """The smallest."""
        return min(self.values)

    @property
    def high(self) -> float:
        """The largest."""
        return max(self.values)

    def part(self, share: float) -> float:
        """The value that `share` of all do not exceed (0.99: p99); the nearest rank.

        >>> Spread.of(3.0, 1.0, 2.0).part(0.5)
        2.0
        """
        ordered = sorted(self.values)
        rank = -(-share * len(ordered) // 1)
        return ordered[min(len(ordered), max(1, int(rank))) - 1]


@frozen
class Pair:
    """One round: a rate, a time or a size of ours and of the reference."""

    ours: float
    reference: float

    @property
    def ratio(self) -> float:
        """Ours by the reference."""
        return self.ours / self.reference


def in_turn(rounds: int, ours: Callable[[int], float], reference: Callable[[int], float]) -> tuple[Pair, ...]:
    """Measure both `rounds` times, each time the other one first. Both are given the round, from 0."""
    pairs = []
    for number in range(rounds):
        if number % 2:
            own = ours(number)
            pairs.append(Pair(own, reference(number)))
        else:
            other = reference(number)
            pairs.append(Pair(ours(number), other))
    return tuple(pairs)


def ratios(pairs: Sequence[Pair]) -> Spread:
    """The ratio of each round."""
    return Spread.of(*(pair.ratio for pair in pairs))
