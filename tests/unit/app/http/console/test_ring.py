"""The bounded history behind the charts, and how it is drawn: empty, short, long, with gaps."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_app.http.console.charts import HEIGHT, WIDTH, chart
from msgx_app.http.console.ring import (
    EVERY_S,
    KEPT,
    MAX_SAMPLES,
    Point,
    Ring,
    Sample,
    newly_dead,
    oldest_ages,
    rate_now,
    throughput,
)

START = datetime(2027, 3, 14, 6, 0, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Shanghai")


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def samples(*finished: int, every_s: float = EVERY_S) -> list[Sample]:
    return [Sample(after(n * every_s), 0, float(n), each) for n, each in enumerate(finished)]


def test_the_ring_is_bounded_and_keeps_its_distance() -> None:
    """However often it is looked, and however long."""
    ring = Ring()
    for n in range(10 * MAX_SAMPLES):
        ring.add(Sample(after(n * EVERY_S / 3), 0, 0.0, n))
    kept = ring.view()
    assert len(kept) == MAX_SAMPLES
    assert kept[-1].at - kept[0].at >= KEPT
    assert min(b.at - a.at for a, b in pairwise(kept)) >= timedelta(seconds=EVERY_S)


def test_a_clock_that_goes_back_begins_a_new_history() -> None:
    ring = Ring()
    for at in (0, 100, 50, 80):
        ring.add(Sample(after(at), 0, 0.0, 0))
    assert [each.at for each in ring.view()] == [after(50), after(80)]


def test_throughput_is_messages_a_minute_and_never_negative() -> None:
    """Retention removes finished messages: that is no throughput."""
    points = throughput(samples(10, 15, 15, 3, 8))
    assert [each.value for each in points] == [20.0, 0.0, 0.0, 20.0]
    assert rate_now(samples(0, 10, 20, 30, 40, 50, 60)) == 40.0
    assert rate_now(samples(5)) is None
    assert rate_now([]) is None


def test_dead_letters_of_the_last_quarter_of_an_hour() -> None:
    """Fewer than before, by a replay, is none; what is older does not count."""
    seen = [Sample(after(n * 300), 0, 0.0, 0, dead) for n, dead in enumerate((0, 40, 43, 43, 45))]
    assert newly_dead(seen, 47, after(1230)) == 4
    assert newly_dead(seen, 41, after(1230)) == 0
    assert newly_dead(seen, 47, after(9000)) == 0
    assert newly_dead([], 47, after(0)) == 0


def test_what_was_not_seen_is_a_gap() -> None:
    """A store that did not answer for ten minutes is no straight line."""
    seen = [*samples(0, 1), Sample(after(600), 0, 5.0, 9), Sample(after(615), 0, 6.0, 9)]
    assert [each.value for each in throughput(seen)] == [4.0, None, 0.0]
    assert [each.value for each in oldest_ages(seen)] == [0.0, 1.0, None, 5.0, 6.0]
    drawn = chart(oldest_ages(seen), after(615), ZONE, ages=True)
    assert drawn is not None
    assert len(drawn.lines) == 2


@pytest.mark.parametrize("known", [[], [Point(START, 1.0)], [Point(START, None), Point(after(15), 1.0)]])
def test_too_little_is_no_chart(known: list[Point]) -> None:
    assert chart(known, after(20), ZONE) is None


def test_a_short_history_is_at_the_right_end() -> None:
    """Two samples are not stretched over the whole picture."""
    drawn = chart([Point(after(570), 1.0), Point(after(600), 2.0)], after(600), ZONE)
    assert drawn is not None
    xs = [float(x) for x in re.findall(r"([\d.]+) [\d.]+", drawn.lines[0])]
    assert min(xs) > WIDTH * 0.9
    assert [tick.text for tick in drawn.down] == ["14:00", "14:02", "14:04", "14:06", "14:08", "14:10"]


@given(
    st.lists(st.tuples(st.floats(0, 21_600), st.none() | st.floats(0, 1e7)), min_size=2, max_size=600),
    st.booleans(),
)
def test_nothing_is_drawn_outside_the_picture(values: list[tuple[float, float | None]], ages: bool) -> None:
    """Whatever was measured; few grid lines, few points."""
    points = [Point(after(at), value) for at, value in sorted(values, key=lambda each: each[0])]
    drawn = chart(points, after(21_600), ZONE, ages=ages)
    if drawn is None:
        assert sum(value is not None for _, value in values) < 2
        return
    path = " ".join((*drawn.areas, *drawn.lines))
    numbers = [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in numbers)
    assert len(drawn.across) <= 5
    assert len(drawn.down) <= 8
    assert len(numbers) < 1000
