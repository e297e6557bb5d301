"""Pacing by a sleep that can be stopped, and writing to a folder or a sender."""

from __future__ import annotations

import itertools
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_app.simulator import SimulatedMessage, SimulationPlan, pace, send_all, simulate, write_folder
from msgx_core.errors import ConfigError

THREE = [SimulatedMessage(at, f"000{i}-x", b"<MSG/>") for i, at in enumerate((2.0, 5.0, 11.0), start=1)]


class Sleeper:
    def __init__(self, stop_at: int | None = None) -> None:
        self.slept: list[float] = []
        self.stop_at = stop_at

    def __call__(self, seconds: float) -> bool:
        self.slept.append(seconds)
        return len(self.slept) == self.stop_at


class Mailbox:
    def __init__(self) -> None:
        self.rows: list[bytes] = []

    def send(self, raw: bytes) -> int:
        self.rows.append(raw)
        return len(self.rows)


def test_pace_sleeps_what_lies_between() -> None:
    sleeper = Sleeper()
    assert list(pace(THREE, 2.0, sleeper)) == THREE
    assert sleeper.slept == [1.0, 1.5, 3.0]


@pytest.mark.parametrize("speed", [0, None])
def test_no_speed_is_full_speed_and_still_asks_for_stop(speed: float | None) -> None:
    sleeper = Sleeper(stop_at=3)
    assert list(pace(THREE, speed, sleeper)) == THREE[:2]
    assert sleeper.slept == [0.0, 0.0, 0.0]


def test_a_stop_ends_the_stream() -> None:
    assert list(pace(THREE, 1.0, Sleeper(stop_at=1))) == []


def test_a_negative_speed_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="negative"):
        pace(THREE, -1.0, Sleeper())


@given(st.lists(st.floats(0, 1e5), min_size=1), st.floats(0.1, 1000))
def test_the_sleeps_add_up_to_the_last_offset(offsets: list[float], speed: float) -> None:
    messages = [SimulatedMessage(at, "x", b"") for at in sorted(offsets)]
    sleeper = Sleeper()
    assert len(list(pace(messages, speed, sleeper))) == len(offsets)
    assert all(s >= 0 for s in sleeper.slept)
    assert sum(sleeper.slept) == pytest.approx(max(offsets) / speed, rel=1e-6, abs=1e-6)


def test_a_folder_gets_one_file_per_message(tmp_path: Path) -> None:
    plan = SimulationPlan(seed=1, day=date(2027, 3, 14), flights=10)
    messages = list(itertools.islice(simulate(plan), 40))
    target = tmp_path / "new" / "day"
    assert write_folder(messages, target) == 40
    files = sorted(target.iterdir())
    assert [f.name for f in files] == [f"{m.name}.xml" for m in messages]
    assert [f.read_bytes() for f in files] == [m.raw for m in messages]


def test_a_folder_that_is_not_empty_is_refused(tmp_path: Path) -> None:
    (tmp_path / "old.xml").write_text("old")
    with pytest.raises(ConfigError, match="not empty"):
        write_folder(THREE, tmp_path)
    with pytest.raises(ConfigError, match="not a directory"):
        write_folder(THREE, tmp_path / "old.xml")
    assert [p.name for p in tmp_path.iterdir()] == ["old.xml"]


def test_a_sender_gets_the_bytes_in_order() -> None:
    mailbox = Mailbox()
    assert send_all(THREE, mailbox) == 3
    assert mailbox.rows == [m.raw for m in THREE]
