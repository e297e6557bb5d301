"""How times, numbers and FLIDs look on the wire."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.sis import Kind
from msgx_core.rules.values import format_time, is_legal, parse_flid, parse_time, problem_of
from msgx_core.testing.strategies import ILLEGAL, LEGAL


@given(st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31, 23, 59)))
def test_a_written_time_is_read_as_the_same_minute(local: datetime) -> None:
    """wire (Times): `DDMMMYYHHMM`, two-digit years are 2000-2099."""
    minute = local.replace(second=0, microsecond=0)
    assert parse_time(format_time(minute)) == minute


@pytest.mark.parametrize(
    "text",
    [
        "",
        "14mar271200",
        "30FEB271200",
        "29FEB271200",
        "14MAR272400",
        "14MAR271260",
        "00MAR271200",
        "14MÄR271200",
        "14MAR27120",
        "14MAR2712000",
        " 14MAR271200",
        "14MAR271200\n",
        "１４MAR271200",
        "20270314120000",
        "-1MAR271200",
    ],
)
def test_anything_else_is_not_a_time(text: str) -> None:
    """D-14, wire (Times): a value that does not parse is never a silent None further on."""
    assert parse_time(text) is None
    assert not is_legal(Kind.TIME, text)


def test_the_leap_day_is_a_time() -> None:
    """wire (Times): the calendar decides."""
    assert parse_time("29FEB281200") == datetime(2028, 2, 29, 12, 0)


@pytest.mark.parametrize("text", ["15", "0015", "000000000015"])
def test_flids_compare_by_value(text: str) -> None:
    """R-278, H-45: leading zeros do not make another flight."""
    assert parse_flid(text) == 15


@pytest.mark.parametrize(
    "text",
    ["", "0", "000000000000", "1234567890123", "-1", "+1", "1.0", "1e3", "x", "１５", "١٥", "1 5", "15\n"],
)
def test_what_is_not_a_flid(text: str) -> None:
    """D-12: 1-12 ASCII digits, not 0."""
    assert parse_flid(text) is None


def test_the_largest_flid_has_twelve_digits() -> None:
    """R-278: Number(1-12)."""
    assert parse_flid("999999999999") == 999_999_999_999


@pytest.mark.parametrize(
    ("kind", "legal", "illegal"),
    [
        (Kind.TEXT, ["x", "北京", "0"], []),
        (Kind.DURATION, ["0000", "0200", "9959"], ["200", "0260", "02:00", "-100", "٠٢٠٠"]),
        (Kind.INTEGER, ["0", "-1", "007", "9" * 18], ["9" * 19, "1.0", "1,000", "+1", "１", "1e3"]),
        (Kind.DECIMAL, ["0", "-1.5", "12345.678"], ["1.", ".5", "1,5", "1.2.3", "NaN", "Infinity", "1e3"]),
        (Kind.FLID, ["1", "0015"], ["0", "x", "1234567890123"]),
    ],
)
def test_each_kind_knows_its_values(kind: Kind, legal: list[str], illegal: list[str]) -> None:
    """wire (Numbers), D-14: kept as the text that was sent, once it is legal."""
    assert [text for text in legal if not is_legal(kind, text)] == []
    assert [text for text in illegal if is_legal(kind, text)] == []


@given(st.data())
def test_the_strategies_speak_of_legal_values(data: st.DataObject) -> None:
    """D-14: what they call legal is legal, what illegal is not: the other properties mean what they say."""
    for kind, texts in LEGAL.items():
        assert is_legal(kind, data.draw(texts))
    for kind, texts in ILLEGAL.items():
        assert not is_legal(kind, data.draw(texts))


@given(st.text(max_size=40))
def test_no_text_can_make_a_check_fail(text: str) -> None:
    """D-25: a bad value is an answer, never an exception of ours."""
    assert {is_legal(kind, text) for kind in Kind} <= {True, False}
    assert parse_flid(text) is None or int(text) == parse_flid(text)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (Kind.TIME, "bad-time:X"),
        (Kind.DURATION, "bad-time:X"),
        (Kind.INTEGER, "bad-number:X"),
        (Kind.DECIMAL, "bad-number:X"),
        (Kind.FLID, "bad-number:X"),
    ],
)
def test_the_reason_says_time_or_number(kind: Kind, reason: str) -> None:
    """D-25: `bad-time:<tag>` and `bad-number:<tag>` of the closed list."""
    assert problem_of(kind, "X") == reason
