"""What this process has seen of the last hours, for the charts: a bounded ring of samples."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Final

from attrs import frozen

EVERY_S: Final = 15.0
KEPT: Final = timedelta(hours=6)
MAX_SAMPLES: Final = int(KEPT.total_seconds() / EVERY_S) + 1
GAP_S: Final = 4 * EVERY_S
"""Between samples further apart nothing is known: a chart has a gap there."""


@frozen
class Sample:
    """At a moment: messages that wait, how long the oldest has, how many had ever come to an end, or died."""

    at: datetime
    backlog: int
    oldest_s: float
    finished: int
    dead: int = 0


@frozen
class Point:
    """A value at a moment; None: not known."""

    at: datetime
    value: float | None


class Ring:
    """Samples in the order of time; the oldest leave. Of one event loop; `view` gives a copy."""

    def __init__(self) -> None:
        self._kept: deque[Sample] = deque(maxlen=MAX_SAMPLES)

    def add(self, sample: Sample) -> None:
        """Keep it, when the last one is old enough or time went back."""
        if self._kept:
            passed_s = (sample.at - self._kept[-1].at).total_seconds()
            if passed_s < 0:
                self._kept.clear()
            elif passed_s < EVERY_S * 0.9:
                return
        self._kept.append(sample)

    def view(self) -> tuple[Sample, ...]:
        """All samples, oldest first."""
        return tuple(self._kept)


def oldest_ages(samples: Sequence[Sample]) -> list[Point]:
    """How long the oldest message had waited, in seconds."""
    return _with_gaps(samples, [Point(each.at, each.oldest_s) for each in samples])


def throughput(samples: Sequence[Sample]) -> list[Point]:
    """Messages that came to an end, a minute. What retention removed does not count against it."""
    points = []
    for before, after in pairwise(samples):
        passed_s = (after.at - before.at).total_seconds()
        known = 0 < passed_s <= GAP_S
        value = 60.0 * max(0, after.finished - before.finished) / passed_s if known else None
        points.append(Point(after.at, value))
    return points


def rate_now(samples: Sequence[Sample], over_s: float = 60.0) -> float | None:
    """Messages a minute as of the last minute; None: too little is known."""
    if len(samples) < 2:
        return None
    last = samples[-1]
    first = next(each for each in samples if (last.at - each.at).total_seconds() <= over_s + EVERY_S)
    passed_s = (last.at - first.at).total_seconds()
    return None if passed_s <= 0 else 60.0 * max(0, last.finished - first.finished) / passed_s


def newly_dead(samples: Sequence[Sample], dead: int, now: datetime, over_s: float = 900.0) -> int:
    """By how many the dead letters have become more, as far as this process has seen of so long."""
    seen = [each.dead for each in samples if (now - each.at).total_seconds() <= over_s]
    return max(0, dead - seen[0]) if seen else 0


def _with_gaps(samples: Sequence[Sample], points: list[Point]) -> list[Point]:
    found: list[Point] = []
    for number, point in enumerate(points):
        if number and (point.at - samples[number - 1].at).total_seconds() > GAP_S:
            found.append(Point(point.at, None))
        found.append(point)
    return found
