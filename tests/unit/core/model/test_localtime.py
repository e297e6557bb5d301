"""Airport local time and instants, over the days on which the clock changes (D-43, D-32)."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.localtime import earliest_local, to_instant, to_local

ZONES = [
    ZoneInfo(name) for name in ("Asia/Shanghai", "Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns")
]
CHANGES = [
    datetime(2021, 3, 27, tzinfo=UTC),
    datetime(2021, 4, 3, tzinfo=UTC),
    datetime(2021, 10, 30, tzinfo=UTC),
]
instants = st.builds(
    lambda day, seconds: day + timedelta(seconds=seconds), st.sampled_from(CHANGES), st.floats(0, 4 * 86_400)
)
zones = st.sampled_from(ZONES)


@given(at=instants, zone=zones)
def test_there_and_back(at: datetime, zone: ZoneInfo) -> None:
    """The same instant in whole seconds, or its twin of the repeated time."""
    back = to_instant(to_local(at, zone), zone)
    assert back is not None
    behind = at.replace(microsecond=0) - back
    assert behind in (timedelta(0), timedelta(minutes=30), timedelta(hours=1))
    assert to_local(back, zone) == to_local(at, zone)


@given(since=instants, later=st.floats(0, 2 * 86_400), zone=zones)
def test_nothing_later_bears_an_earlier_time(since: datetime, later: float, zone: ZoneInfo) -> None:
    assert earliest_local(since, zone) <= to_local(since + timedelta(seconds=later), zone)


@given(since=instants, zone=zones)
def test_and_hardly_anything_else_is_included(since: datetime, zone: ZoneInfo) -> None:
    first = datetime.fromisoformat(earliest_local(since, zone))
    assert datetime.fromisoformat(to_local(since, zone)) - first <= timedelta(hours=1)


@pytest.mark.parametrize("zone", ZONES)
def test_on_an_ordinary_day_it_is_the_time_itself(zone: ZoneInfo) -> None:
    at = datetime(2021, 1, 23, 4, 5, 6, tzinfo=UTC)
    assert earliest_local(at, zone) == to_local(at, zone)
