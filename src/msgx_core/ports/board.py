"""The store port, the flight board: the flights of an operation day in the order of their times, in pages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from typing import Final, Protocol

from attrs import frozen

from msgx_core.model.flight import FlightState

WITHOUT_TIME: Final = datetime(9999, 12, 31, tzinfo=UTC)
"""Stands for the time of a flight without `SODT`: it comes last."""

BoardPlace = tuple[datetime, int]
"""A place on a board: `SODT` as an instant (`WITHOUT_TIME`: none) and FLID."""


BEGINNING: Final[BoardPlace] = (datetime(1, 1, 2, tzinfo=UTC), 0)
"""Before all flights."""


def place_of(state: FlightState) -> BoardPlace:
    """Where a flight stands."""
    return state.sodt_at or WITHOUT_TIME, state.flid


@frozen
class BoardFilter:
    """Which flights; None does not restrict. `day` None: flights without an operation day.

    `mvin` is the value of `MVIN`. `text` is part of `FLNO`, the beginning of FLID, or a whole gate; capital
    letters of A to Z count as small ones. `after` is the place behind which the page begins: `(instant, 0)`
    begins it with the flights of that instant.
    """

    day: date | None
    mvin: str | None = None
    text: str | None = None
    after: BoardPlace | None = None
    limit: int = 100


@frozen
class BoardDay:
    """How much there is on a day's board: live flights by movement, code shares of live flights not counted.

    `moved_until` is the latest `SODT` of a live flight with an actual time (`ACTT`). `earlier` and `later`
    are the nearest days with flights; `without_day` are all flights without an operation day.
    """

    flights: int = 0
    arrivals: int = 0
    departures: int = 0
    cancelled: int = 0
    deleted: int = 0
    moved_until: datetime | None = None
    earlier: date | None = None
    later: date | None = None
    without_day: int = 0


class BoardViews(Protocol):
    """Reads of the board; committed state."""

    def board(self, where: BoardFilter) -> Sequence[FlightState]:
        """Whole flights, deleted ones too, by place.

        Live code shares of a live main flight are left out, as its `MAFL` has them; not so where a text is
        sought, which may be theirs.
        """
        ...

    def board_day(self, day: date | None) -> BoardDay:
        """Sizes of a day; None: of the flights without one, whose neighbour `earlier` is the last day."""
        ...
