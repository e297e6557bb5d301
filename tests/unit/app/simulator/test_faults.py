"""Faulty messages: each kind is what it says, and the rate is what was asked for."""

from __future__ import annotations

from datetime import date
from xml.etree import ElementTree as ET

import pytest

from msgx_app.simulator import FAULTS, SimulatedMessage, SimulationPlan, simulate
from msgx_core.model import sis

PLAN = SimulationPlan(seed=11, day=date(2027, 3, 14), flights=120, fault_rate=0.1)


@pytest.fixture(scope="module")
def day() -> list[SimulatedMessage]:
    return list(simulate(PLAN))


def of(day: list[SimulatedMessage], fault: str) -> list[tuple[int, SimulatedMessage]]:
    found = [(i, m) for i, m in enumerate(day) if m.fault == fault]
    assert found, fault
    return found


def identity(message: SimulatedMessage) -> tuple[str | None, ...]:
    root = ET.fromstring(message.raw)
    return tuple(root.findtext(f"META/{tag}") for tag in ("SNDR", "TYPE", "STYP", "SEQN"))


def flids(message: SimulatedMessage) -> list[str]:
    root = ET.fromstring(message.raw)
    return [(e.text or "").strip() for e in (*root.iterfind("FLOP/FLID"), *root.iterfind("SCHD/FLTR/FLID"))]


def test_the_rate_is_about_what_was_asked_for(day: list[SimulatedMessage]) -> None:
    assert 0.06 < sum(bool(m.fault) for m in day) / len(day) < 0.2
    assert {m.fault for m in day} == {"", *FAULTS}


def test_a_duplicate_is_an_earlier_message_again(day: list[SimulatedMessage]) -> None:
    for i, message in of(day, "duplicate"):
        assert any(m.raw == message.raw for m in day[:i])


def test_other_content_comes_under_a_used_identity(day: list[SimulatedMessage]) -> None:
    for i, message in of(day, "duplicate-other-content"):
        same = [m for m in day[:i] if m.fault in {"", "late"} and identity(m) == identity(message)]
        assert len(same) == 1
        assert same[0].raw != message.raw


def test_late_messages_are_older_than_the_one_before(day: list[SimulatedMessage]) -> None:
    for i, message in of(day, "late"):
        before = next(m for m in reversed(day[:i]) if not m.fault)
        told = [ET.fromstring(m.raw).findtext("META/DTTM") or "" for m in (before, message)]
        assert told[1] < told[0]


@pytest.mark.parametrize("fault", ["not-xml", "truncated"])
def test_broken_ones_do_not_parse(day: list[SimulatedMessage], fault: str) -> None:
    for _, message in of(day, fault):
        with pytest.raises(ET.ParseError):
            ET.fromstring(message.raw)


def test_unknown_flights_are_never_told_otherwise(day: list[SimulatedMessage]) -> None:
    known = {int(f) for m in day if not m.fault for f in flids(m)}
    for _, message in of(day, "unknown-flight"):
        assert not {int(f) for f in flids(message)} & known


def test_deleted_flights_were_deleted_before(day: list[SimulatedMessage]) -> None:
    for i, message in of(day, "deleted-flight"):
        gone = {f for m in day[:i] if m.name.endswith("flop-fdel") for f in flids(m)}
        assert set(flids(message)) <= gone


def test_the_rest_is_what_it_says(day: list[SimulatedMessage]) -> None:
    assert all(b"<!DOCTYPE" in m.raw for _, m in of(day, "doctype"))
    assert all(identity(m)[1] == "SCHS" for _, m in of(day, "unsupported"))
    assert all(identity(m)[1:3] == ("SCHD", "RESP") for _, m in of(day, "unmatched-resp"))
    assert all(len(set(flids(m))) < len(flids(m)) for _, m in of(day, "duplicate-flid"))
    assert all(b">30FEB27" in m.raw for _, m in of(day, "bad-time"))
    limit = sis.COLLECTIONS["PSDT"].limit or 0
    assert all(len(ET.fromstring(m.raw).findall("FLOP/PSDT")) == limit + 1 for _, m in of(day, "overflow"))
    for _, message in of(day, "bad-flid"):
        text = flids(message)[0]
        assert not (text.isdigit() and len(text) <= 12 and int(text) > 0)


def test_no_rate_no_faults() -> None:
    clean = SimulationPlan(seed=11, day=date(2027, 3, 14), flights=60, fault_rate=0)
    assert {m.fault for m in simulate(clean)} == {""}
