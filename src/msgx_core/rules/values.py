"""Does a text value look as its kind says? (wire: Times, Numbers)"""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

from msgx_core.model.sis import Kind

_NAMES = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_MONTHS = {name: number for number, name in enumerate(_NAMES, start=1)}
_TIME = re.compile(r"(\d\d)([A-Z]{3})(\d\d)(\d\d)(\d\d)", re.ASCII)
_DURATION = re.compile(r"\d\d[0-5]\d", re.ASCII)
_INTEGER = re.compile(r"-?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"-?\d{1,18}(\.\d{1,9})?", re.ASCII)
_FLID = re.compile(r"\d{1,12}", re.ASCII)


@lru_cache(maxsize=8192)
def parse_time(text: str) -> datetime | None:
    """Naive airport local time of `DDMMMYYHHMM`, years 2000-2099; None when it does not parse.

    >>> parse_time("23JAN210535"), parse_time("30FEB270100")
    (datetime.datetime(2021, 1, 23, 5, 35), None)
    """
    match = _TIME.fullmatch(text)
    if match is None or match[2] not in _MONTHS:
        return None
    try:
        return datetime(2000 + int(match[3]), _MONTHS[match[2]], int(match[1]), int(match[4]), int(match[5]))
    except ValueError:
        return None


def format_time(local: datetime) -> str:
    """`DDMMMYYHHMM` of a naive local time.

    >>> format_time(datetime(2021, 1, 23, 5, 35))
    '23JAN210535'
    """
    month = _NAMES[local.month - 1]
    return f"{local:%d}{month}{local:%y%H%M}"


def parse_flid(text: str) -> int | None:
    """A FLID by value: 1-12 digits, not 0; None when it is not one.

    >>> parse_flid("0015"), parse_flid("0"), parse_flid("x")
    (15, None, None)
    """
    if _FLID.fullmatch(text) is None:
        return None
    return int(text) or None


def is_legal(kind: Kind, text: str) -> bool:
    """Whether a non-empty text is a value of that kind."""
    match kind:
        case Kind.TEXT:
            return True
        case Kind.TIME:
            return parse_time(text) is not None
        case Kind.DURATION:
            return _DURATION.fullmatch(text) is not None
        case Kind.INTEGER:
            return _INTEGER.fullmatch(text) is not None
        case Kind.DECIMAL:
            return _DECIMAL.fullmatch(text) is not None
        case Kind.FLID:
            return parse_flid(text) is not None


def problem_of(kind: Kind, tag: str) -> str:
    """The reason for a value that is not of its kind (D-25)."""
    return f"bad-time:{tag}" if kind in (Kind.TIME, Kind.DURATION) else f"bad-number:{tag}"
