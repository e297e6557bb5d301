"""The operation day: from `SODT`, the zone and the cut-over, never from the receiving time."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.rules.operation_day import day_bounds, instant_of, operation_day, sodt_instant
from msgx_core.rules.policy import Policy
from msgx_core.rules.values import parse_time
from tests.unit.core.build import POLICY

ZONES = [
    "Asia/Shanghai",
    "Europe/Berlin",
    "America/New_York",
    "America/Havana",
    "Asia/Kathmandu",
    "Pacific/Apia",
]


def in_zone(name: str, cutover: time = time(0, 0), sis: str | None = None) -> Policy:
    return Policy(airport_zone=ZoneInfo(name), sis_zone=ZoneInfo(sis or name), day_cutover=cutover)


def local(text: str) -> datetime:
    parsed = parse_time(text)
    assert parsed is not None
    return parsed


@pytest.mark.parametrize(
    ("zone", "cutover", "sodt", "day"),
    [
        ("Asia/Shanghai", time(0), "14MAR270000", date(2027, 3, 14)),
        ("Asia/Shanghai", time(0), "13MAR272359", date(2027, 3, 13)),
        ("Asia/Shanghai", time(4), "14MAR270359", date(2027, 3, 13)),
        ("Asia/Shanghai", time(4), "14MAR270400", date(2027, 3, 14)),
        ("Europe/Berlin", time(2, 30), "01JAN270229", date(2026, 12, 31)),
        ("America/New_York", time(0), "07NOV270130", date(2027, 11, 7)),
    ],
)
def test_the_day_changes_at_the_cut_over(zone: str, cutover: time, sodt: str, day: date) -> None:
    """D-09, R-281, H-46: local date of `SODT` less the cut-over."""
    policy = in_zone(zone, cutover)
    assert operation_day(instant_of(local(sodt), policy), policy) == day


@pytest.mark.parametrize(
    ("zone", "sodt", "utc"),
    [
        ("Europe/Berlin", "28MAR270230", "2027-03-28T01:30"),  # 02:30 does not exist: 03:30 summer time
        ("America/New_York", "14MAR270230", "2027-03-14T07:30"),
        ("Europe/Berlin", "31OCT270230", "2027-10-31T00:30"),  # 02:30 comes twice: the first
        ("America/New_York", "07NOV270130", "2027-11-07T05:30"),
        ("Asia/Shanghai", "28MAR270230", "2027-03-27T18:30"),
    ],
)
def test_gaps_move_forward_and_repeated_hours_are_the_first(zone: str, sodt: str, utc: str) -> None:
    """D-09: a repeated local hour means its first occurrence, a time in a gap moves forward by the gap."""
    assert instant_of(local(sodt), in_zone(zone)) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


def test_the_wire_may_have_another_zone_than_the_airport() -> None:
    """D-09, `msgx.sis.timezone`: 23:30 UTC is already tomorrow in Shanghai."""
    policy = in_zone("Asia/Shanghai", sis="UTC")
    assert operation_day(instant_of(local("14MAR272330"), policy), policy) == date(2027, 3, 15)


@given(
    st.sampled_from(ZONES),
    st.sampled_from([time(0), time(3), time(4, 30), time(23, 59)]),
    st.datetimes(datetime(2012, 1, 1), datetime(2060, 1, 1)),
)
def test_each_instant_is_inside_its_day(zone: str, cutover: time, moment: datetime) -> None:
    """D-09: days are half-open, follow each other, and `day_bounds` says where they begin."""
    policy, instant = in_zone(zone, cutover), moment.replace(tzinfo=UTC)
    day = operation_day(instant, policy)
    first, after = day_bounds(day, policy)
    assert first <= instant < after
    assert day_bounds(day + timedelta(days=1), policy)[0] == after


@pytest.mark.parametrize(
    ("zone", "cutover", "utc"),
    [
        ("America/New_York", time(2, 30), "2027-03-14T07:15"),  # 03:15, the cut-over 02:30 is in the gap
        ("America/New_York", time(1, 30), "2027-11-07T06:15"),  # the second 01:15, after the first 01:30
        ("Europe/Berlin", time(2, 30), "2027-03-28T01:15"),
        ("Europe/Berlin", time(2, 30), "2027-10-31T01:15"),
        ("America/St_Johns", time(0), "2010-11-07T03:00"),  # 00:01 became 23:01 of the day before
    ],
)
def test_a_cut_over_inside_a_clock_change_is_one_instant_for_all(zone: str, cutover: time, utc: str) -> None:
    """D-09: gap and first-occurrence hold for the cut-over too, or a flight is outside its day."""
    policy, instant = in_zone(zone, cutover), datetime.fromisoformat(utc).replace(tzinfo=UTC)
    first, after = day_bounds(operation_day(instant, policy), policy)
    assert first <= instant < after


@given(st.sampled_from(ZONES), st.datetimes(datetime(2012, 1, 1), datetime(2060, 1, 1)))
def test_later_wall_time_is_never_an_earlier_day(zone: str, wall: datetime) -> None:
    """D-09: the day of a time does not go back when the time goes on."""
    policy = in_zone(zone, time(4))
    days = [operation_day(instant_of(wall + timedelta(hours=n), policy), policy) for n in range(0, 30, 3)]
    assert days == sorted(days)


@pytest.mark.parametrize("sodt", [None, "", "not a time"])
def test_no_legal_sodt_no_instant(sodt: str | None) -> None:
    """R-282, D-09: null only for flights that have had no `SODT`."""
    assert sodt_instant({} if sodt is None else {"SODT": sodt}, POLICY) is None
