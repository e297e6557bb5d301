"""Values of the core: records as a codec gives them, flights, rosters, events, requests."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

from attrs import evolve
from hypothesis import strategies as st

from msgx_core.model.events import DueEvent, Target
from msgx_core.model.flight import Child, Fields, FieldValue, FlightState, FlightStatus
from msgx_core.model.message import FlightRecord
from msgx_core.model.schedule import Roster
from msgx_core.model.sis import COLLECTIONS, MODEL_TAGS, SCALARS, SINGLES, Kind
from msgx_core.testing.strategies.tags import plain_tags
from msgx_core.testing.strategies.texts import FLIDS
from msgx_core.testing.wire import PlainValue, flight_record

DAYS = st.dates(date(2000, 1, 2), date(2099, 12, 30))
INSTANTS = st.builds(
    lambda at, zone: at.astimezone(zone),
    st.datetimes(datetime(2000, 1, 2), datetime(2099, 12, 30), timezones=st.just(UTC)),
    st.sampled_from([UTC, timezone(timedelta(hours=8))]),
)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=30) | st.sampled_from(
    ["", "北京首都", "延误：天气", "\U00020bb7野家", "a'b\"c\\d", "null", "1e5", " ", "\u2028"]
)
"""Text that a store must keep, whatever it is."""


def records(flid: int = 7, *, empties: bool = True) -> st.SearchStrategy[FlightRecord]:
    """Decoded records of that flight.

    >>> from hypothesis import given
    >>> @given(records(9))
    ... def is_of_flight_nine(record):
    ...     assert record.flid == "9" and "FLID" in record.tags
    >>> is_of_flight_nine()
    """
    return plain_tags(empties=empties).map(lambda sent: flight_record(sent, flid))


def fields() -> st.SearchStrategy[Fields]:
    """Legal fields of a stored flight, in table order.

    >>> from hypothesis import given
    >>> @given(fields())
    ... def has_no_empty_value(held):
    ...     assert all(held.values())
    >>> has_no_empty_value()
    """
    return plain_tags(empties=False).map(_as_stored)


def _as_stored(sent: Mapping[str, PlainValue]) -> Fields:
    stored: dict[str, FieldValue] = {}
    for tag in (tag for tag in MODEL_TAGS if tag in sent):
        value = sent[tag]
        if isinstance(value, str):
            stored[tag] = int(value) if SCALARS[tag].kind is Kind.FLID else value
        elif isinstance(value, Mapping):
            stored[tag] = value
        else:
            stored[tag] = tuple(value)[:4] if COLLECTIONS[tag].truncated else tuple(value)
    return stored


def any_fields(texts: st.SearchStrategy[str] = ANY_TEXT) -> st.SearchStrategy[dict[str, FieldValue]]:
    """Fields of any text, legal or not: what a store keeps as it is."""
    tags: dict[str, st.SearchStrategy[Any]] = {}
    for tag, scalar in SCALARS.items():
        tags[tag] = FLIDS if scalar.kind is Kind.FLID else texts
    for tag, single in SINGLES.items():
        tags[tag] = st.dictionaries(st.sampled_from(single.attributes), texts)
    for tag, row in COLLECTIONS.items():
        keys = [*row.attributes, *row.keys, "TEXT"]
        elements = st.dictionaries(st.sampled_from(keys), texts)
        tags[tag] = st.lists(elements, min_size=1, max_size=4).map(tuple)
    return st.fixed_dictionaries({}, optional=tags)


@st.composite
def flight_states(
    draw: st.DrawFn, *, flids: st.SearchStrategy[int] = FLIDS, held: st.SearchStrategy[Fields] | None = None
) -> FlightState:
    """Whole stored flights, live and deleted; only a live one without a main flight has a `MAFL`.

    >>> from hypothesis import given
    >>> @given(flight_states())
    ... def carries_a_list_only_as_a_main_flight(flight):
    ...     assert not flight.mafl or flight.carries_mafl
    >>> carries_a_list_only_as_a_main_flight()
    """
    created = draw(INSTANTS)
    state = FlightState(
        flid=draw(flids),
        status=draw(st.sampled_from(FlightStatus)),
        version=draw(st.integers(1, 10**9)),
        operation_day=draw(st.none() | DAYS),
        fields=draw(fields() if held is None else held),
        last_msg_id=draw(st.integers(1, 10**9)),
        created_at=created,
        updated_at=created + draw(st.timedeltas(timedelta(0), timedelta(days=30))),
        sodt_at=draw(st.none() | INSTANTS),
    )
    children = draw(st.lists(st.builds(Child, FLIDS, st.none() | st.just("QX1")), max_size=2))
    if not state.carries_mafl:
        return state
    others = {child.flid: child for child in children if child.flid != state.flid}
    return _with_children(state, tuple(others[flid] for flid in sorted(others)))


def _with_children(state: FlightState, children: tuple[Child, ...]) -> FlightState:
    return evolve(state, mafl=children)


def rosters() -> st.SearchStrategy[Roster]:
    """Rosters of a day, never covered ones (generation 0) among them.

    >>> from hypothesis import given
    >>> @given(rosters())
    ... def counts_from_zero(roster):
    ...     assert roster.version >= 0
    >>> counts_from_zero()
    """
    return st.builds(Roster, DAYS, st.integers(0, 99), st.frozensets(FLIDS, max_size=6))


def due_events(target: Target | None = None) -> st.SearchStrategy[DueEvent]:
    """Unsent events of one topic or both.

    >>> from hypothesis import given
    >>> @given(due_events(Target.MSG))
    ... def is_a_json_object(event):
    ...     assert event.payload.startswith("{") and event.target is Target.MSG
    >>> is_a_json_object()
    """
    targets = st.sampled_from(Target) if target is None else st.just(target)
    flid, version = FLIDS, st.integers(1, 10**6)
    return st.builds(
        lambda event_id, to, flid, version, attempts: DueEvent(
            event_id, to, flid, version, f'{{"FLID":{flid},"STATE_VERSION":{version}}}', attempts
        ),
        st.integers(1, 10**9),
        targets,
        flid,
        version,
        st.integers(0, 7),
    )
