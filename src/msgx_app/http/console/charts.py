"""From points in time to lines to draw: geometry alone, in the units of the picture."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from attrs import frozen

from msgx_app.http.console.ring import KEPT, Point

WIDTH: Final = 640.0
HEIGHT: Final = 190.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 12.0, 12.0, 26.0
MOST: Final = 200
"""So many points are drawn at most; of those beside each other the largest is."""

LEAST: Final = timedelta(minutes=10)
"""A history that is shorter is drawn at the right end of so long."""

_STEPS: Final = (1.0, 2.0, 5.0, 10.0)
_AGES: Final = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_TICKS: Final = (1, 2, 5, 10, 15, 30, 60, 120)


@frozen
class Tick:
    """A line of the grid: where it is, and what is written there."""

    at: float
    value: float
    text: str = ""


@frozen
class Chart:
    """`lines` and `areas` are path data, one for each stretch without gap; `last` is (x, y) of the newest."""

    lines: Sequence[str]
    areas: Sequence[str]
    across: Sequence[Tick]
    down: Sequence[Tick]
    last: tuple[float, float] | None
    newest: float | None
    highest: float
    width: float = WIDTH
    height: float = HEIGHT
    left: float = LEFT
    right: float = WIDTH - RIGHT
    base: float = HEIGHT - BOTTOM


def chart(points: Sequence[Point], now: datetime, zone: tzinfo, *, ages: bool = False) -> Chart | None:
    """What to draw; None while less than two values are known. `ages`: values are seconds, ticks are too."""
    points = [each for each in points if now - each.at <= KEPT and each.at <= now]
    known = [each.value for each in points if each.value is not None]
    if len(known) < 2:
        return None
    start = min(points[0].at, now - LEAST)
    span_s = (now - start).total_seconds()
    highest = max(known)
    top, step = _scale(highest, ages=ages)

    def x(at: datetime) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (at - start).total_seconds() / span_s

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / top

    runs = [[(x(p.at), y(p.value)) for p in run if p.value is not None] for run in _runs(_thinned(points))]
    last = runs[-1][-1] if runs else None
    return Chart(
        [_line(run) for run in runs],
        [_area(run) for run in runs if len(run) > 1],
        [Tick(y(step * n), step * n) for n in range(round(top / step) + 1)],
        [Tick(x(at), 0, f"{at.astimezone(zone):%H:%M}") for at in _moments(start, now, zone)],
        last,
        points[-1].value,
        highest,
    )


def _scale(highest: float, *, ages: bool) -> tuple[float, float]:
    """The top of the scale, and the step of its grid: at most four steps."""
    if ages:
        step = next((float(each) for each in _AGES if each * 4 >= highest), None)
        step = step or 86400.0 * (int(highest / 86400 / 4) + 1)
    else:
        power = 1.0
        while power * 40 < highest:
            power *= 10
        step = next(each * power for each in _STEPS if each * power * 4 >= highest)
    lines = max(1, -int(-highest // step))
    return step * lines, step


def _thinned(points: Sequence[Point]) -> list[Point]:
    size = -(-len(points) // MOST)
    if size <= 1:
        return list(points)
    found = []
    for begin in range(0, len(points), size):
        some = points[begin : begin + size]
        if any(each.value is None for each in some):
            found.append(Point(some[0].at, None))
        known = [each for each in some if each.value is not None]
        if known:
            found.append(max(known, key=lambda each: each.value or 0.0))
    return found


def _runs(points: Sequence[Point]) -> list[list[Point]]:
    found: list[list[Point]] = [[]]
    for each in points:
        if each.value is None:
            found.append([])
        else:
            found[-1].append(each)
    return [run for run in found if run]


def _moments(start: datetime, now: datetime, zone: tzinfo) -> list[datetime]:
    """Whole quarters, halves or hours of the airport's clock, at most seven of them."""
    minutes = (now - start).total_seconds() / 60
    step = next((each for each in _TICKS if minutes / each <= 7), _TICKS[-1])
    local = start.astimezone(zone).replace(second=0, microsecond=0)
    first = local - timedelta(minutes=(local.hour * 60 + local.minute) % step)
    steps = (first + timedelta(minutes=step * n) for n in range(int(minutes // step) + 3))
    return [each for each in steps if start <= each <= now]


def _line(run: Sequence[tuple[float, float]]) -> str:
    points = run if len(run) > 1 else [run[0], (run[0][0] + 0.1, run[0][1])]
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _area(run: Sequence[tuple[float, float]]) -> str:
    base = HEIGHT - BOTTOM
    return f"{_line(run)}L{run[-1][0]:.1f} {base:.1f}L{run[0][0]:.1f} {base:.1f}Z"
