"""Kinds of values: what is legal in words, and how text or TOML values become typed ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import time, timedelta
from difflib import get_close_matches
from enum import StrEnum
from typing import Generic, TypeVar
from zoneinfo import ZoneInfo, available_timezones

from attrs import frozen

from .durations import parse_duration
from .errors import Invalid

T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)

OFF_WORDS = ("off", "none", "")
TRUE_WORDS = ("true", "yes", "on", "1")
FALSE_WORDS = ("false", "no", "off", "0")


@frozen
class Kind(Generic[T]):
    """One kind of value: `legal` completes "must be …"; `parse` raises ValueError with a hint or "".

    Calling a kind converts a raw value (text from the environment, any TOML value) or lets a
    converted one through unchanged; it raises `Invalid` and nothing else.
    """

    legal: str
    parse: Callable[[object], T]

    def __call__(self, value: object) -> T:
        try:
            return self.parse(value)
        except (ValueError, OverflowError) as error:
            hint = str(error) if type(error) is ValueError else ""
            raise Invalid(f"must be {self.legal}" + (f" ({hint})" if hint else "")) from None


def refuse(hint: str = "") -> ValueError:
    """The error by which a `parse` says no; `hint` tells what exactly is wrong, or how to put it right."""
    return ValueError(hint)


def as_text(value: object) -> str:
    """The value as stripped text; anything but text is refused."""
    if not isinstance(value, str):
        raise refuse("it is not text")
    return value.strip()


def as_list(value: object) -> list[object]:
    """A TOML array or tuple as a list; a text is split at spaces and commas; none and off are empty."""
    if isinstance(value, str):
        items = [item for item in re.split(r"[\s,]+", value) if item]
        return [] if len(items) == 1 and items[0].lower() in OFF_WORDS else list(items)
    if isinstance(value, list | tuple):
        return list(value)
    raise refuse()


def matching(pattern: str, legal: str, normal: Callable[[str], str] = str) -> Kind[str]:
    """Text that matches `pattern` as a whole once `normal` was applied."""
    regex = re.compile(pattern, re.ASCII)

    def parse(value: object) -> str:
        text = normal(as_text(value))
        if not regex.fullmatch(text):
            raise refuse()
        return text

    return Kind(legal, parse)


def whole(minimum: int, maximum: int | None = None, unit: str = "") -> Kind[int]:
    """A whole number within bounds, both inclusive."""
    noun = f"a whole number{unit}"
    legal = f"{noun}, {minimum} or more" if maximum is None else f"{noun} from {minimum} to {maximum}"

    def parse(value: object) -> int:
        if isinstance(value, str) and re.fullmatch(r"[+-]?\d{1,18}", value.strip(), re.ASCII):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise refuse()
        if value < minimum or (maximum is not None and value > maximum):
            raise refuse()
        return value

    return Kind(legal, parse)


def choice(enum: type[E]) -> Kind[E]:
    """One of the values of `enum`."""
    names = [member.value for member in enum]

    def parse(value: object) -> E:
        text = as_text(value)
        if text not in names:
            raise refuse()
        return enum(text)

    return Kind(" or ".join(names) if len(names) == 2 else "one of " + ", ".join(names), parse)


def optional(kind: Kind[T], word: str = "off") -> Kind[T | None]:
    """`kind`, or None for the words off and none (and TOML's false)."""

    def parse(value: object) -> T | None:
        if value is None or value is False:
            return None
        if isinstance(value, str) and value.strip().lower() in OFF_WORDS:
            return None
        return kind.parse(value)

    return Kind(f"{kind.legal}, or {word}", parse)


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = as_text(value).lower()
    if text in TRUE_WORDS:
        return True
    if text in FALSE_WORDS:
        return False
    raise refuse()


def _local_time(value: object) -> time:
    if isinstance(value, str):
        match = re.fullmatch(r"([01]\d|2[0-3]):([0-5]\d)", value.strip(), re.ASCII)
        if not match:
            raise refuse()
        return time(int(match[1]), int(match[2]))
    if not isinstance(value, time) or value.tzinfo or value.second or value.microsecond:
        raise refuse()
    return value


def _zone(value: object) -> ZoneInfo:
    if isinstance(value, ZoneInfo):
        return value
    name = as_text(value)
    try:
        return ZoneInfo(name)
    except (OSError, KeyError, ValueError):
        close = get_close_matches(name, available_timezones(), n=1)
        raise refuse(f"did you mean {close[0]}?" if close else "") from None


def _duration(value: object) -> timedelta:
    found = parse_duration(value)
    if found <= timedelta(0):
        raise refuse("it is not above zero")
    return found


def durations(at_least: int) -> Kind[tuple[timedelta, ...]]:
    """A list of durations above zero, as one text or as a TOML array."""

    def parse(value: object) -> tuple[timedelta, ...]:
        steps = tuple(_duration(step) for step in as_list(value))
        if len(steps) < at_least:
            raise refuse("it has no step")
        return steps

    return Kind('durations such as "1s 5s 30s 2m" or ["1s", "5s"]', parse)


flag: Kind[bool] = Kind("true or false", _flag)
duration: Kind[timedelta] = Kind("a duration such as 200ms, 5s, 30m, 48h or 7d", _duration)
local_time: Kind[time] = Kind("a local time such as 00:00 or 02:30", _local_time)
zone: Kind[ZoneInfo] = Kind("an IANA time zone name such as Asia/Shanghai", _zone)
airport_code = matching("[A-Z]{3}", "an IATA airport code of three letters (XXX if there is none)", str.upper)
sql_name = matching(
    r"[A-Za-z_][A-Za-z0-9_$]{0,63}(\.[A-Za-z_][A-Za-z0-9_$]{0,63})?",
    "a table or column name: letters, digits, _ and $, at most one dot",
)
topic = matching(r"(?!\.{1,2}$)[A-Za-z0-9._-]{1,249}", "a Kafka topic name: letters, digits, dot, _ and -")
sender = matching(r"[A-Za-z0-9_.-]{1,20}", "1 to 20 letters, digits, dots, _ or -")
routing_id = matching(r"[A-Za-z0-9_.-]{1,23}", "1 to 23 letters, digits, dots, _ or -")
