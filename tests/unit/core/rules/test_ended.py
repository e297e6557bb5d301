"""When a flight has ended: each condition, its window and switch, in airport days (FST §8.1)."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.flight import FlightState
from msgx_core.rules.ended import EndedBy, EndedWindows, ended, ends_at
from msgx_core.rules.operation_day import day_bounds, operation_day, sodt_instant
from msgx_core.rules.policy import Policy
from msgx_core.testing.builders import flight

SHANGHAI = Policy(airport_zone=ZoneInfo("Asia/Shanghai"), sis_zone=ZoneInfo("Asia/Shanghai"))
OFF = EndedWindows(sodt=None, cncl=None, naat=None, neat=None, deleted=None)
H48 = timedelta(hours=48)
ZONES = ["Asia/Shanghai", "Europe/Berlin", "America/Havana", "Pacific/Apia", "Australia/Lord_Howe"]
INSTANTS = st.datetimes(datetime(2026, 1, 1), datetime(2028, 12, 31), timezones=st.just(UTC))
WINDOWS = st.none() | st.timedeltas(timedelta(0), timedelta(days=9))


def planned(sodt: str | None = "14MAR270805", policy: Policy = SHANGHAI, **fields: Any) -> FlightState:
    """A live flight with that plan; its row was changed long after, which means nothing."""
    values = fields if sodt is None else {"SODT": sodt, **fields}
    at = sodt_instant(values, policy)
    day = None if at is None else operation_day(at, policy)
    return evolve(flight(1, day=day, sodt_at=at, fields=values), updated_at=datetime(2027, 6, 1, tzinfo=UTC))


def local(day: int, hour: int = 0, minute: int = 0) -> datetime:
    return datetime(2027, 3, day, hour, minute, tzinfo=ZoneInfo("Asia/Shanghai"))


def since(
    state: FlightState, windows: EndedWindows, policy: Policy = SHANGHAI
) -> tuple[str, datetime] | None:
    found = ended(state, datetime(2030, 1, 1, tzinfo=UTC), windows, policy)
    return None if found is None else (found.by.value, found.since)


def test_two_airport_days_after_the_day_of_the_plan() -> None:
    """R-383, R-388: 48 h after the operation day of `SODT` is over, by the airport's clock."""
    state = planned()
    assert ended(state, local(16, 23, 59), EndedWindows(), SHANGHAI) is None
    found = ended(state, local(17), EndedWindows(), SHANGHAI)
    assert found is not None
    assert (found.by, found.at, found.since) == (EndedBy.SODT, local(14, 8, 5), local(17))


def test_the_operation_day_begins_at_the_cut_over() -> None:
    """R-388, D-09: 03:30 with a cut-over of 04:00 is the day before."""
    policy = evolve(SHANGHAI, day_cutover=time(4))
    assert since(planned("14MAR270330", policy), EndedWindows(), policy) == ("sodt", local(16, 4))


@pytest.mark.parametrize(
    ("windows", "fields", "expected"),
    [
        (evolve(OFF, sodt=H48), {}, ("sodt", local(17))),
        (evolve(OFF, sodt=timedelta(hours=12)), {}, ("sodt", local(15, 12))),
        (evolve(OFF, naat=H48), {"NAAT": "15MAR270100"}, ("naat", local(18))),
        (evolve(OFF, neat=H48), {"NEAT": "14MAR272359"}, ("neat", local(17))),
        (evolve(OFF, cncl=H48), {"CNCL": "13MAR271200"}, ("cncl", local(16))),
        (evolve(OFF, cncl=H48), {"CNCL": "weather"}, ("cncl", local(17))),
        (evolve(OFF, naat=H48), {}, None),
        (evolve(OFF, cncl=H48), {}, None),
        (OFF, {"NAAT": "15MAR270100", "NEAT": "15MAR270100", "CNCL": "Y"}, None),
        (EndedWindows(cncl=timedelta(0)), {"CNCL": "Y"}, ("cncl", local(15))),
    ],
)
def test_each_condition_has_its_window_and_switch(
    windows: EndedWindows, fields: dict[str, Any], expected: object
) -> None:
    """R-381, R-383, R-384, R-386, R-387: any one is enough; `CNCL` is text, a time where it reads as one."""
    assert since(planned(**fields), windows) == expected


def test_a_diverted_flight_has_no_condition_of_its_own() -> None:
    """R-385: the deciding field is not known."""
    assert since(planned(FDIV={"DDES": "SHA"}), OFF) is None


def test_a_deleted_flight_ends_by_its_deletion() -> None:
    """D-33: whatever its plan says; a live one never by its last change."""
    gone = evolve(flight(1, deleted=True, day=None), updated_at=local(14, 23, 59))
    assert since(gone, evolve(OFF, deleted=H48)) == ("deleted", local(17))
    assert since(planned(), evolve(OFF, deleted=H48)) is None


def test_a_flight_without_a_day_stays_unless_told() -> None:
    """R-410, H-64: off by default; then from its last change, whatever else it has."""
    state = evolve(planned(None, NAAT="01JAN270000", CNCL="Y"), updated_at=local(14, 6))
    assert since(state, EndedWindows()) is None
    told = EndedWindows(null_day=timedelta(days=7))
    assert since(state, told) == ("null-day", local(21, 6))
    assert since(planned(), evolve(OFF, null_day=timedelta(0))) is None


def test_a_day_that_stands_without_its_plan() -> None:
    """D-10: the operation day never changes; it alone is enough."""
    state = flight(1, day=date(2027, 3, 14))
    assert since(state, EndedWindows()) == ("sodt", local(17))


def test_windows_beyond_the_calendar_never_end() -> None:
    """No overflow."""
    assert ends_at(local(14), timedelta(days=3_000_000), SHANGHAI) is None
    assert since(planned(), evolve(OFF, sodt=timedelta(days=3_000_000))) is None


@pytest.mark.parametrize(
    ("moment", "expected"),
    [
        ("2027-03-27T12:00:00+00:00", "2027-03-29T22:00:00+00:00"),  # 23 hours among them
        ("2027-10-30T12:00:00+00:00", "2027-11-01T23:00:00+00:00"),  # 25 hours among them
    ],
)
def test_two_days_are_two_days_when_clocks_change(moment: str, expected: str) -> None:
    """R-388: airport days, not hours."""
    policy = Policy(airport_zone=ZoneInfo("Europe/Berlin"), sis_zone=ZoneInfo("Europe/Berlin"))
    assert ends_at(datetime.fromisoformat(moment), H48, policy) == datetime.fromisoformat(expected)


@given(moment=INSTANTS, days=st.integers(0, 9), zone=st.sampled_from(ZONES), hour=st.integers(0, 23))
def test_whole_days_end_with_a_day(moment: datetime, days: int, zone: str, hour: int) -> None:
    """R-388: a window of whole days ends where the operation day after them begins, in any zone."""
    policy = Policy(airport_zone=ZoneInfo(zone), day_cutover=time(hour))
    day = operation_day(moment, policy) + timedelta(days=days + 1)
    assert ends_at(moment, timedelta(days=days), policy) == day_bounds(day, policy)[0]


@given(
    moment=INSTANTS,
    window=st.timedeltas(timedelta(0), timedelta(days=9)),
    more=st.timedeltas(timedelta(0), timedelta(days=9)),
    zone=st.sampled_from(ZONES),
)
def test_never_before_its_time(moment: datetime, window: timedelta, more: timedelta, zone: str) -> None:
    """R-380: never before the day is over, never more than a clock change early; longer windows end later."""
    policy = Policy(airport_zone=ZoneInfo(zone))
    ends, later = ends_at(moment, window, policy), ends_at(moment, window + more, policy)
    assert ends is not None
    assert later is not None
    assert ends >= moment + window - timedelta(hours=26 if zone == "Pacific/Apia" else 1)
    assert later >= ends - timedelta(hours=1)


@given(
    windows=st.builds(EndedWindows, WINDOWS, WINDOWS, WINDOWS, WINDOWS, WINDOWS, WINDOWS),
    now=INSTANTS,
    wait=st.timedeltas(timedelta(0), timedelta(days=900)),
    deleted=st.booleans(),
    fields=st.fixed_dictionaries(
        {},
        optional={
            tag: st.sampled_from(["14MAR270805", "01JAN280000", "x"]) for tag in ("CNCL", "NAAT", "NEAT")
        },
    ),
)
def test_once_ended_always_ended(
    windows: EndedWindows, now: datetime, wait: timedelta, deleted: bool, fields: dict[str, str]
) -> None:
    """R-383: the condition that holds for longest is told, and time takes nothing back."""
    sodt = {"SODT": "14MAR270805"}
    at = sodt_instant(sodt, SHANGHAI)
    state = flight(1, sodt_at=at, deleted=deleted, fields={**sodt, **fields})
    found = ended(state, now, windows, SHANGHAI)
    if found is not None:
        assert found.since <= now
        assert ended(state, now + wait, windows, SHANGHAI) == found
    alone = [
        ended(state, now, evolve(OFF, **{name: getattr(windows, name)}), SHANGHAI)
        for name in ("sodt", "cncl", "naat", "neat", "deleted", "null_day")
    ]
    assert (found is not None) == any(one is not None for one in alone)
