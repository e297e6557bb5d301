"""A copy kept by versions is right, however often and in whatever order events come (R-351, D-28, D-29)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from msgx_core import Held, flights_in, is_behind, take_flight, take_notice

Event = tuple[str, Mapping[str, Any]]


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Event], dict[int, Mapping[str, Any] | None]]:
    """What msgx sends about some flights, in its order, and how each is in the end.

    Versions only rise, also over a deletion; not every version has a full state of its own, but the newest
    one of a live flight has (one row for each flight, D-29).
    """
    events: list[Event] = []
    ends: dict[int, Mapping[str, Any] | None] = {}
    for flid in range(1, draw(st.integers(1, 4)) + 1):
        version = 0
        for last in [*[False] * draw(st.integers(0, 6)), True]:
            version += draw(st.integers(1, 3))
            about = {"FLID": flid, "STATE_VERSION": version}
            if draw(st.booleans()):
                events.append(("msg", {**about, "KIND": "DELETE", "DELETED": True, "REASON": "FDEL"}))
                ends[flid] = None
                continue
            events.append(("msg", {**about, "KIND": "UPSERT", "CHANGED": ["GTDT"]}))
            state = {**about, "STATE": "ACTIVE", "GTDT": [{"GATE": f"G{version}"}]}
            if last or draw(st.booleans()):
                events.append(("schd", {"SCHD": {"FLTR": [state]}}))
            ends[flid] = state
    return events, ends


def taken(events: list[Event]) -> dict[int, Held]:
    """A copy after these events."""
    copy: dict[int, Held] = {}

    def keep(flid: int, held: Held | None) -> None:
        if held is not None:
            copy[flid] = held

    for topic, value in events:
        if topic == "msg":
            keep(value["FLID"], take_notice(copy.get(value["FLID"]), value))
        else:
            for flight in flights_in(value):
                keep(flight["FLID"], take_flight(copy.get(flight["FLID"]), flight))
    return copy


@given(histories(), st.data())
def test_duplicates_and_disorder_change_nothing(
    history: tuple[list[Event], dict[int, Mapping[str, Any] | None]], data: st.DataObject
) -> None:
    """R-351: the newest version wins, whatever came first and however often."""
    events, ends = history
    more = data.draw(st.lists(st.sampled_from(events), max_size=8))
    mixed = data.draw(st.permutations([*events, *more]))
    copy = taken(mixed)
    live = {flid: state for flid, state in ends.items() if state is not None}
    assert {flid: held.flight for flid, held in copy.items() if held.flight is not None} == live
    assert all(copy[flid].flight is None for flid, state in ends.items() if state is None)


@given(histories())
def test_nothing_is_behind_in_the_end(
    history: tuple[list[Event], dict[int, Mapping[str, Any] | None]],
) -> None:
    """When all has come no notice tells of more than is held."""
    events, _ = history
    copy = taken(events)
    notices = [value for topic, value in events if topic == "msg"]
    assert not any(is_behind(copy.get(notice["FLID"]), notice) for notice in notices)


def test_a_notice_tells_what_is_still_to_come() -> None:
    """`msg` may be ahead of `schd`: then a consumer waits for the full state."""
    notice = {"FLID": 7, "KIND": "UPSERT", "STATE_VERSION": 4, "CHANGED": ["GTDT"]}
    assert is_behind(None, notice)
    assert is_behind(Held(3), notice)
    assert not is_behind(Held(4), notice)
    assert take_notice(Held(3), notice) == Held(3)
