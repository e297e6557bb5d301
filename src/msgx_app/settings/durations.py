"""Durations as people write them (`200ms`, `5s`, `30m`, `48h`, `7d`, `1h30m`) and back again."""

from __future__ import annotations

import re
from datetime import timedelta

_TEXT = re.compile(
    r"(?:(?P<d>\d+)d)?(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m(?!s))?(?:(?P<s>\d+)s)?(?:(?P<ms>\d+)ms)?", re.ASCII
)
_MS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1_000, "ms": 1}
_ONE_MS = timedelta(milliseconds=1)
# 24h, 48h and 60s stay what people write: a larger unit begins above these.
_BEGINS_ABOVE = {"d": 48 * _MS["h"], "m": 60 * _MS["s"]}


def parse_duration(value: object) -> timedelta:
    """The duration that `value` names, zero included, in whole milliseconds.

    Units are ms, s, m, h, d, each at most once and the larger one first. A number without a unit is
    refused. Raises ValueError with a hint, OverflowError past what a timedelta can hold.
    """
    if isinstance(value, timedelta):
        if value < timedelta(0) or value % _ONE_MS:
            raise ValueError("it is negative or finer than a millisecond")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError
    text = str(value).strip()
    match = _TEXT.fullmatch(text)
    if match is None or not text:
        bare = re.fullmatch(r"[\d.]+", text, re.ASCII)
        raise ValueError("its unit is missing: ms, s, m, h or d" if bare else "")
    total_ms = sum(int(count) * _MS[unit] for unit, count in match.groupdict().items() if count)
    return timedelta(milliseconds=total_ms)


def format_duration(value: timedelta) -> str:
    """The text in one unit that `parse_duration` reads back as `value`."""
    total_ms = value // _ONE_MS
    if not total_ms:
        return "0s"
    for unit, size in _MS.items():
        if total_ms % size == 0 and total_ms > _BEGINS_ABOVE.get(unit, 0):
            return f"{total_ms // size}{unit}"
    raise AssertionError("milliseconds divide every duration")
