"""The flight board of an operation day: by time, in pages, refreshed as flights move."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from attrs import frozen
from litestar import Response

from msgx_app.answers.board import line_of
from msgx_app.answers.times import parse_day
from msgx_app.http.console.desk import GivenConsole, page_of, shows, with_query
from msgx_app.http.console.query import Query
from msgx_app.http.console.table import Entry
from msgx_app.http.office import Desk
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest
from msgx_core.model.flight import FlightState
from msgx_core.ports.board import WITHOUT_TIME, BoardDay, BoardFilter, BoardPlace, place_of
from msgx_core.rules.operation_day import day_bounds, operation_day
from msgx_core.rules.policy import Policy

ENTRY = Entry("flights", "/console/flights", "now")
ROWS: Final = 100
FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2099, 12, 31)
"""Of the wire's times."""

MOVES: Final = ("A", "D")
NO_DAY: Final = "none"
_BACK: Final = timedelta(minutes=30)
_STEP_S: Final = 600
_PLACE: Final = re.compile(r"(-|\d{1,11})\.(\d{1,12})", re.ASCII)
_CLOCK: Final = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


@frozen
class Asked:
    """What the address asks for; `day` None: whatever is on now, empty `day`: flights without one."""

    day: str | None
    move: str | None
    text: str | None
    begin: time | None
    after: BoardPlace | None

    @classmethod
    def of(cls, query: Query) -> Asked:
        """From a query. Raises `Problem`."""
        return cls(
            query.text("day", 10),
            query.choice("move", MOVES),
            query.text("text", 40),
            _clock(query.text("from", 5)),
            _place(query.text("after", 30)),
        )


@frozen
class Shown:
    """The day that is shown and where its page begins; `begins` None: with its first flight.

    `is_instead`: nobody asked for a day, and today has no flights.
    """

    day: date | None
    today: date
    size: BoardDay
    begins: datetime | None
    is_instead: bool = False

    @property
    def before(self) -> date | None:
        """The day before, if there can be flights."""
        return None if self.day in {None, FIRST_DAY} else self.day - timedelta(days=1)

    @property
    def behind(self) -> date | None:
        """The day after."""
        return None if self.day in {None, LAST_DAY} else self.day + timedelta(days=1)


@shows("/console/flights")
async def flights(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """One page of a day."""
    query = Query.of(request)
    asked = Asked.of(query)

    def make(desk: Desk) -> dict[str, Any]:
        shown = _shown(desk, asked)
        begin = None if shown.begins is None else (shown.begins, 0)
        day = NO_DAY if shown.day is None else shown.day.isoformat()
        page = page_of(
            with_query(query.here, day=day),
            asked.after,
            lambda n: desk.store.board(
                BoardFilter(shown.day, asked.move, asked.text, asked.after or begin, n)
            ),
            _cursor,
            ROWS,
        )
        lines = [line_of(flight, desk.policy) for flight in page.rows]
        chosen = {"asked": asked, "shown": shown, "day": day, "moves": MOVES}
        return {**chosen, "page": page, "lines": lines}

    return await console.show(request, "flights.html", make)


def _shown(desk: Desk, asked: Asked) -> Shown:
    today = operation_day(desk.clock.now(), desk.policy)
    if asked.day == NO_DAY:
        return Shown(None, today, desk.store.board_day(None), None)
    if asked.day is not None:
        day = parse_day(asked.day, desk.policy, desk.clock.now())
        if not FIRST_DAY <= day <= LAST_DAY:
            raise Problem(422, f"day: from {FIRST_DAY} to {LAST_DAY}")
        return Shown(day, today, desk.store.board_day(day), _instant(day, asked.begin, desk.policy))
    size, day = desk.store.board_day(today), today
    if not size.flights + size.deleted:
        day = _nearest(today, size)
        size = size if day == today else desk.store.board_day(day)
    begins = _instant(day, asked.begin, desk.policy) or _where_flights_move(asked, size)
    return Shown(day, today, size, begins, is_instead=day != today)


def _nearest(today: date, size: BoardDay) -> date:
    near = [day for day in (size.earlier, size.later) if day is not None]
    return min(near, key=lambda day: abs(day - today), default=today)


def _where_flights_move(asked: Asked, size: BoardDay) -> datetime | None:
    """A little before the last flight that has an actual time: where the day is, by what the AODB says.

    Not by the clock, which knows nothing of a day that comes late or is played back. In steps, so that a page
    that is refreshed stands still. A day of one page, and what somebody seeks, is shown whole.
    """
    is_one_page = size.flights + size.deleted <= ROWS
    if size.moved_until is None or is_one_page or asked.text is not None:
        return None
    seconds = int((size.moved_until - _BACK).timestamp())
    return datetime.fromtimestamp(seconds - seconds % _STEP_S, UTC)


def _instant(day: date, clock: time | None, policy: Policy) -> datetime | None:
    """The instant of that time on an operation day, which may end after midnight."""
    if clock is None:
        return None
    starts, _ = day_bounds(day, policy)
    at = datetime.combine(day, clock, policy.airport_zone).astimezone(UTC)
    if at < starts:
        at = datetime.combine(day + timedelta(days=1), clock, policy.airport_zone).astimezone(UTC)
    return at


def _clock(text: str | None) -> time | None:
    match = None if text is None else _CLOCK.fullmatch(text)
    if text is not None and match is None:
        raise Problem(422, f"from: {text!r} is not a time: write 14:30")
    return None if match is None else time(int(match[1]), int(match[2]))


def _cursor(flight: FlightState) -> str:
    at, flid = place_of(flight)
    return f"{'-' if at == WITHOUT_TIME else int(at.timestamp())}.{flid}"


def _place(text: str | None) -> BoardPlace | None:
    match = None if text is None else _PLACE.fullmatch(text)
    if text is not None and match is None:
        raise Problem(422, f"after: {text!r} is no place on a board")
    if match is None:
        return None
    at = WITHOUT_TIME if match[1] == "-" else datetime.fromtimestamp(int(match[1]), UTC)
    return at, int(match[2])
