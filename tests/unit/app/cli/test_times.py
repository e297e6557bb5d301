"""Times as people type them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest
import typer

from msgx_app.cli.times import age_text, parse_day, parse_instant
from msgx_core.rules.policy import Policy

POLICY = Policy(airport_zone=ZoneInfo("Asia/Shanghai"), sis_zone=ZoneInfo("Asia/Shanghai"))
NOW = datetime(2027, 3, 13, 17, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2027-03-14T06:00", datetime(2027, 3, 13, 22, 0, tzinfo=UTC)),
        ("2027-03-14 06:00", datetime(2027, 3, 13, 22, 0, tzinfo=UTC)),
        ("2027-03-14T06:00Z", datetime(2027, 3, 14, 6, 0, tzinfo=UTC)),
        ("2027-03-14T06:00+02:00", datetime(2027, 3, 14, 4, 0, tzinfo=UTC)),
        ("14MAR270600", datetime(2027, 3, 13, 22, 0, tzinfo=UTC)),
        ("14mar270600", datetime(2027, 3, 13, 22, 0, tzinfo=UTC)),
        ("2h", datetime(2027, 3, 13, 15, 0, tzinfo=UTC)),
        ("now", NOW),
    ],
)
def test_instants(text: str, expected: datetime) -> None:
    assert parse_instant(text, POLICY, NOW, "--at") == expected


@pytest.mark.parametrize("text", ["", "yesterday", "30FEB270600", "25:00", "-2h", "999999999999d"])
def test_no_instants(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a time"):
        parse_instant(text, POLICY, NOW, "--at")


def test_days() -> None:
    assert parse_day("2027-03-14", POLICY, NOW, "--day") == date(2027, 3, 14)
    assert parse_day("today", POLICY, NOW, "--day") == date(2027, 3, 14)
    with pytest.raises(typer.BadParameter, match="is not a day"):
        parse_day("14MAR27", POLICY, NOW, "--day")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (59.9, "59s"), (60, "1m"), (3600, "1h"), (90061, "1d 1h"), (-5, "0s")]
)
def test_ages(seconds: float, text: str) -> None:
    assert age_text(seconds) == text


@pytest.mark.parametrize("text", ["0001-01-01", "9999-12-31", "1969-12-31", "2200-01-01"])
def test_the_ends_of_the_calendar_are_refused(text: str) -> None:
    """There is no day before the first one to count hours to."""
    for parse in (parse_day, parse_instant):
        with pytest.raises(typer.BadParameter, match="outside the years 1970 to 2199"):
            parse(text, POLICY, NOW, "--day")
    with pytest.raises(typer.BadParameter):
        parse_instant("700000d", POLICY, NOW, "--at")
