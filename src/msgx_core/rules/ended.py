"""When a flight has ended and may leave for the history store (FST §8.1, US-14 AC2, R-380 to R-388)."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from attrs import frozen

from msgx_core.model.flight import FlightState
from msgx_core.rules.operation_day import day_bounds, instant_of, operation_day
from msgx_core.rules.policy import Policy
from msgx_core.rules.values import parse_time

_WINDOW = timedelta(hours=48)


class EndedBy(enum.Enum):
    """The conditions. A diverted flight has none of its own: its deciding field is not known (R-385)."""

    SODT = "sodt"
    CNCL = "cncl"
    NAAT = "naat"
    NEAT = "neat"
    DELETED = "deleted"
    NULL_DAY = "null-day"


@frozen
class EndedWindows:
    """How long after its moment each condition holds; None switches it off."""

    sodt: timedelta | None = _WINDOW
    cncl: timedelta | None = _WINDOW
    naat: timedelta | None = _WINDOW
    neat: timedelta | None = _WINDOW
    deleted: timedelta | None = _WINDOW
    null_day: timedelta | None = None


@frozen
class Ended:
    """The condition that has held for longest: its moment, and since when the flight counts as ended."""

    by: EndedBy
    at: datetime
    since: datetime


def ended(state: FlightState, now: datetime, windows: EndedWindows, policy: Policy) -> Ended | None:
    """Why a flight has ended; None while no condition holds. Any one is enough (R-383).

    A window begins when the operation day of its moment is over and runs on the airport's clock, so that
    48 h are two whole airport days, also when clocks change (R-388). A live flight without an operation day
    ends by `null_day` alone, counted from its last change (R-410, H-64).
    """
    held = (found for found in _conditions(state, windows, policy) if found.since <= now)
    return min(held, key=lambda found: found.since, default=None)


def ends_at(moment: datetime, window: timedelta, policy: Policy) -> datetime | None:
    """When the window after the operation day of a moment is over; None: later than there is a date for.

    >>> moment = datetime(2027, 3, 14, 6, tzinfo=UTC)
    >>> ends_at(moment, timedelta(hours=48), Policy())
    datetime.datetime(2027, 3, 17, 0, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        next_day = operation_day(moment, policy) + timedelta(days=1)
        local = datetime.combine(next_day, policy.day_cutover) + window
        return local.replace(tzinfo=policy.airport_zone, fold=0).astimezone(UTC)
    except OverflowError:
        return None


def _conditions(state: FlightState, windows: EndedWindows, policy: Policy) -> Iterator[Ended]:
    for by, moment, window in _moments(state, windows, policy):
        if moment is None or window is None:
            continue
        since = ends_at(moment, window, policy)
        if since is not None:
            yield Ended(by, moment, since)
    if state.is_live and state.operation_day is None and windows.null_day is not None:
        yield Ended(EndedBy.NULL_DAY, state.updated_at, state.updated_at + windows.null_day)


def _moments(
    state: FlightState, windows: EndedWindows, policy: Policy
) -> Iterator[tuple[EndedBy, datetime | None, timedelta | None]]:
    if not state.is_live:
        yield EndedBy.DELETED, state.updated_at, windows.deleted
    if state.operation_day is None:
        return
    planned = state.sodt_at or day_bounds(state.operation_day, policy)[0]
    yield EndedBy.SODT, planned, windows.sodt
    if "CNCL" in state.fields:
        # Free text: a time where it reads as one, else the flight is cancelled as of its plan.
        yield EndedBy.CNCL, _instant(state, "CNCL", policy) or planned, windows.cncl
    yield EndedBy.NAAT, _instant(state, "NAAT", policy), windows.naat
    yield EndedBy.NEAT, _instant(state, "NEAT", policy), windows.neat


def _instant(state: FlightState, tag: str, policy: Policy) -> datetime | None:
    text = state.fields.get(tag)
    local = parse_time(text) if isinstance(text, str) else None
    return None if local is None else instant_of(local, policy)
