"""What the SQL stores share of the flight board."""

from __future__ import annotations

from collections.abc import Mapping
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from msgx_core.ports.board import BoardDay

_SMALL = str.maketrans(ascii_uppercase, ascii_lowercase)


def board_day(row: Mapping[str, Any]) -> BoardDay:
    """The sizes of a day."""
    return BoardDay(
        flights=row["FLIGHTS"],
        arrivals=row["ARRIVALS"],
        departures=row["DEPARTURES"],
        cancelled=row["CANCELLED"],
        deleted=row["DELETED"],
        moved_until=row["MOVED_AT"],
        earlier=row["EARLIER_DAY"],
        later=row["LATER_DAY"],
        without_day=row["WITHOUT"],
    )


def folded(text: str | None) -> str | None:
    """A text with the letters A to Z made small, and no others: databases agree on those alone."""
    return None if text is None else text.translate(_SMALL)
