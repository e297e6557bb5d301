"""Values: durations, numbers, words, times, zones, lists, addresses, tokens."""

from __future__ import annotations

from datetime import time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_app.settings import catalogue, format_duration, kinds, parse_duration
from msgx_app.settings.errors import Invalid
from msgx_app.settings.network import Bind, bind, tokens
from msgx_app.settings.output import DnldCoverage, MissingFlight
from msgx_app.settings.styps import EXTENDED_STYPS, KNOWN_STYPS, Whitelist, whitelist
from msgx_app.settings.text import text_of

MILLISECONDS = st.integers(min_value=0, max_value=10**12)
RAW = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.times() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("200ms", 0.2),
        ("5s", 5),
        ("30m", 1800),
        ("1h", 3600),
        ("48h", 172800),
        ("7d", 604800),
        ("1h30m", 5400),
    ],
)
def test_durations_by_example(text: str, seconds: float) -> None:
    assert parse_duration(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["200ms", "1s", "60s", "2m", "30m", "1h", "24h", "48h", "7d", "31d", "90d"])
def test_durations_of_the_table_come_back_as_written(text: str) -> None:
    assert format_duration(parse_duration(text)) == text


@given(MILLISECONDS)
def test_every_duration_round_trips(milliseconds: int) -> None:
    value = timedelta(milliseconds=milliseconds)
    assert parse_duration(format_duration(value)) == value


@given(st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(0, 99), st.integers(0, 9999))
def test_compound_durations_add_up(d: int, h: int, m: int, s: int, ms: int) -> None:
    expected = timedelta(days=d, hours=h, minutes=m, seconds=s, milliseconds=ms)
    assert parse_duration(f"{d}d{h}h{m}m{s}s{ms}ms") == expected


@pytest.mark.parametrize(
    "bad", ["", "5", 5, "5 s", "-5s", "1.5h", "5x", "30m1h", "9" * 30 + "d", True, None, "٣s"]
)
def test_what_is_no_duration(bad: object) -> None:
    with pytest.raises(Invalid, match="must be a duration such as"):
        kinds.duration(bad)


def test_a_bare_number_is_told_its_unit_is_missing() -> None:
    with pytest.raises(Invalid, match="unit is missing: ms, s, m, h or d"):
        kinds.duration(30)


@pytest.mark.parametrize("given_as", ["1s 5s 2m", "1s,5s, 2m", ["1s", "5s", "2m"], [" 1s", "5s", "120s"]])
def test_lists_of_durations(given_as: object) -> None:
    steps = kinds.durations(1)(given_as)
    assert [step.total_seconds() for step in steps] == [1, 5, 120]


def test_a_list_of_durations_may_be_empty_only_where_said() -> None:
    assert kinds.durations(0)("") == ()
    with pytest.raises(Invalid, match="no step"):
        kinds.durations(1)([])


@pytest.mark.parametrize("bad", ["abc", 0, -1, "0", 1.0, True, "1e3", "1_000", [], "9" * 30])
def test_what_is_no_whole_number(bad: object) -> None:
    with pytest.raises(Invalid, match="must be a whole number, 1 or more"):
        kinds.whole(1)(bad)


@pytest.mark.parametrize(("word", "value"), [("true", True), ("Off", False), ("1", True), ("no", False)])
def test_flags(word: str, value: bool) -> None:
    assert kinds.flag(word) is value


@pytest.mark.parametrize(
    ("given_as", "value"), [("00:00", time(0)), ("23:59", time(23, 59)), (time(2), time(2))]
)
def test_local_times(given_as: object, value: time) -> None:
    assert kinds.local_time(given_as) == value


@pytest.mark.parametrize("bad", ["24:00", "2:00", "02:60", "0200", time(2, 0, 1), 200])
def test_what_is_no_local_time(bad: object) -> None:
    with pytest.raises(Invalid, match="must be a local time such as"):
        kinds.local_time(bad)


def test_zones_are_looked_up_and_suggested() -> None:
    assert kinds.zone("Europe/Berlin").key == "Europe/Berlin"
    with pytest.raises(Invalid, match="did you mean Asia/Shanghai"):
        kinds.zone("Asia/Shangai")


@pytest.mark.parametrize("bad", ["", "Asia", "../Asia/Shanghai", "/etc/passwd", "Nowhere/AtAll", 8])
def test_what_is_no_zone(bad: object) -> None:
    with pytest.raises(Invalid, match="must be an IANA time zone name"):
        kinds.zone(bad)


def test_choices_name_what_is_legal() -> None:
    assert kinds.choice(DnldCoverage)("single-day") is DnldCoverage.SINGLE_DAY
    with pytest.raises(Invalid, match="one of window, single-day, observed"):
        kinds.choice(DnldCoverage)("days")
    with pytest.raises(Invalid, match="must be create or skip"):
        kinds.choice(MissingFlight)("")


@pytest.mark.parametrize("word", ["off", "OFF", "none", "", False, None])
def test_off_is_none(word: object) -> None:
    assert kinds.optional(kinds.duration)(word) is None


def test_whitelists_by_name_and_by_list() -> None:
    assert whitelist("extended") == Whitelist("extended", EXTENDED_STYPS)
    assert whitelist("gtdt, ESTT") == whitelist(["GTDT", "ESTT"])
    assert whitelist("gtdt ESTT") == Whitelist("list", frozenset({"GTDT", "ESTT"}))
    with pytest.raises(Invalid, match="all stands alone"):
        whitelist(["all", "GTDT"])
    with pytest.raises(Invalid, match="is empty"):
        whitelist([])


def test_the_known_sub_types_are_those_of_the_design() -> None:
    assert len(KNOWN_STYPS) == 26 + 5 + 8
    assert not KNOWN_STYPS & {"FDEL", "SRVT", "VIPF"}


@pytest.mark.parametrize(
    ("text", "address", "loopback"),
    [
        ("127.0.0.1:8080", Bind("127.0.0.1", 8080), True),
        ("[::1]:0", Bind("::1", 0), True),
        ("localhost:80", Bind("localhost", 80), True),
        ("0.0.0.0:8080", Bind("0.0.0.0", 8080), False),
        ("[::]:8080", Bind("::", 8080), False),
        ("gate.example:8080", Bind("gate.example", 8080), False),
    ],
)
def test_addresses(text: str, address: Bind, loopback: bool) -> None:
    found = bind(text)
    assert found == address
    assert found is not None
    assert found.is_loopback is loopback
    assert str(address) == text


@pytest.mark.parametrize(
    "bad", ["8080", ":8080", "127.0.0.1", "127.0.0.1:99999", "999.0.0.1:80", "::1:80", 80]
)
def test_what_is_no_address(bad: object) -> None:
    with pytest.raises(Invalid, match="must be an address such as"):
        bind(bad)


def test_tokens_are_digests_and_stay_hidden() -> None:
    digest = "ab" * 32
    found = tokens([f"board:reader:{digest}", f"ops:operator:{digest}"])
    assert [(token.name, token.role) for token in found] == [("board", "reader"), ("ops", "operator")]
    assert digest not in repr(found) + text_of(found)
    assert tokens("none") == ()


@pytest.mark.parametrize("bad", ["secret", "a:root:" + "0" * 64, ["a:reader:" + "0" * 64] * 2, {"a": 1}])
def test_what_is_no_token_list(bad: object) -> None:
    with pytest.raises(Invalid, match="must be none or a list of NAME:ROLE") as caught:
        tokens(bad)
    assert "secret" not in str(caught.value)


@given(st.sampled_from(sorted(catalogue())), RAW)
def test_any_value_converts_or_is_invalid_and_converted_ones_stay(key: str, raw: Any) -> None:
    kind = catalogue()[key].spec.kind
    try:
        value = kind(raw)
    except Invalid:
        return
    assert kind(value) == value
    if not key.endswith((".tokens", ".url")):
        assert kind(text_of(value)) == value
