"""Values for machines and for people."""

from __future__ import annotations

import enum
import json
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_app.answers.machine import machine
from msgx_app.cli import output

AT = datetime(2027, 3, 14, 14, 5, tzinfo=timezone(timedelta(hours=8)))


class Colour(enum.Enum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (AT, "2027-03-14T06:05:00.000000Z"),
        (date(2027, 3, 14), "2027-03-14"),
        (Colour.RED, "red"),
        ({"A": None, "B": {"C": None, "D": 1}}, {"B": {"D": 1}}),
        (({"A": AT},), [{"A": "2027-03-14T06:05:00.000000Z"}]),
        (frozenset({3, 1}), [1, 3]),
        ("首航", "首航"),
        (False, False),
    ],
)
def test_machine(value: object, expected: object) -> None:
    assert machine(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        (True, "yes"),
        (AT, "2027-03-14 06:05:00Z"),
        (["GTDT", "MAFL"], "GTDT MAFL"),
        ([{"GATE": "B09"}], '[{"GATE": "B09"}]'),
        ("首航 welcome", "首航 welcome"),
        ("a\tb\nc", "a\\tb\\nc"),
        ("\x1b[31mred", "\\x1b[31mred"),
        ("left\u202eright", "left\\u202eright"),
        (7, "7"),
    ],
)
def test_people(value: object, expected: str) -> None:
    assert output.people(value) == expected


@given(st.text())
def test_nothing_that_people_see_moves_their_cursor(text: str) -> None:
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in output.clean(text))


@given(st.lists(st.dictionaries(st.text(max_size=3), st.integers() | st.text(max_size=3)), max_size=4))
def test_an_array_that_is_written_piecemeal_is_one_json_value(items: list[dict[str, object]]) -> None:
    import contextlib
    import io

    written = io.StringIO()
    with contextlib.redirect_stdout(written):
        output.print_json_array(iter(items))
    assert json.loads(written.getvalue()) == items


def test_rows_without_a_terminal_are_tab_separated(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_rows([{"A": 1, "B": "x y"}, {"B": "二"}], ("A", "B"), empty="none")
    assert capsys.readouterr().out == "A\tB\n1\tx y\n-\t二\n"


def test_no_rows_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_rows([], ("A",), empty="no messages")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "no messages\n")


def test_what_is_cut_off_is_told_after_it(capsys: pytest.CaptureFixture[str]) -> None:
    cut = output.First([1, 2, 3], 2, lambda last: f"--after {last}")
    assert list(cut) == [1, 2]
    cut.tell()
    assert "--after 2" in capsys.readouterr().err


@pytest.mark.parametrize(("limit", "kept"), [(3, 3), (4, 3), (None, 3)])
def test_what_is_whole_is_not_called_cut(
    limit: int | None, kept: int, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = output.First([1, 2, 3], limit, str)
    assert len(list(whole)) == kept
    whole.tell()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("size", [0, 1, 499, 500, 501, 1000, 1203])
def test_pages_leave_nothing_out(size: int) -> None:
    def fetch(after: int | None, n: int) -> list[int]:
        start = 0 if after is None else after
        return list(range(start + 1, size + 1))[:n]

    assert list(output.paged(fetch, lambda item: item, None)) == list(range(1, size + 1))


def test_rich_tables_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "on_terminal", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    output.print_rows(
        [{"STATE": "[red]DEAD", "AT": datetime(2027, 3, 14, tzinfo=UTC)}], ("STATE", "AT"), empty=""
    )
    output.print_facts([("REMC", "首航 welcome"), ("NONE", None)], title="flight 1")
    shown = capsys.readouterr().out
    assert "[red]DEAD" in shown
    assert "首航 welcome" in shown
    assert "\x1b" not in shown
    assert "NONE" not in shown
