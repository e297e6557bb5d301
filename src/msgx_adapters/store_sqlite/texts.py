"""Instants and days as text, and the columns that hold them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, overload


@overload
def stamp(value: datetime) -> str: ...
@overload
def stamp(value: None) -> None: ...
@overload
def stamp(value: datetime | None) -> str | None: ...
def stamp(value: datetime | None) -> str | None:
    """An aware instant as UTC text of fixed width, so that text order is time order.

    >>> stamp(datetime(2027, 3, 14, 6, tzinfo=UTC))
    '2027-03-14T06:00:00.000000+00:00'
    """
    if value is None:
        return None
    if value.tzinfo is None:
        raise ValueError(f"a datetime without a zone: {value!r}")
    return value.astimezone(UTC).isoformat(timespec="microseconds")


def day_text(value: date | None) -> str | None:
    """A day as `YYYY-MM-DD`."""
    return None if value is None else value.isoformat()


_OTHER_INSTANTS = frozenset({"BACKFILL_CLAIM_UNTIL", "SCOPE_START", "SCOPE_END", "SINCE"})


@lru_cache(maxsize=256)
def conversions(columns: tuple[str, ...]) -> tuple[tuple[str, Callable[[str], Any]], ...]:
    """Which of these columns hold instants or days, told by their names, and how to read them."""
    found: list[tuple[str, Callable[[str], Any]]] = []
    for name in columns:
        if name.endswith("_AT") or name in _OTHER_INSTANTS:
            found.append((name, datetime.fromisoformat))
        elif name.endswith("_DAY"):
            found.append((name, date.fromisoformat))
    return tuple(found)
