"""Values as text: typed ones as a user would write them, raw ones as shown in a problem."""

from __future__ import annotations

import json
import re
from datetime import time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from .durations import format_duration
from .network import Bind, Token
from .styps import Whitelist
from .urls import Url, mask

HIDDEN: Final = "***"
_LONGEST_SHOWN = 100
_SECRET_NAME = re.compile(r"pass|pwd|secret|token", re.IGNORECASE)


def text_of(value: object) -> str:
    """A typed value in the form that the configuration reads back; secrets masked."""
    if value is None:
        return "off"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, timedelta):
        return format_duration(value)
    if isinstance(value, time):
        return value.strftime("%H:%M")
    if isinstance(value, Url | Bind | Token | Whitelist | ZoneInfo):
        return str(value)
    if isinstance(value, tuple):
        return " ".join(text_of(item) for item in value) or "none"
    return str(value)


def has_secret(value: object) -> bool:
    """True when `text_of` masks something of `value`."""
    if isinstance(value, Url):
        return value.masked != value.text
    return isinstance(value, tuple) and any(isinstance(item, Token) for item in value)


def shown(key: str, value: object, *, secret: bool = False) -> str:
    """A raw value as part of a message: quoted, cut, on one line, without passwords.

    Values of secret settings, and of unknown keys that sound like one, are not shown at all.
    """
    if secret or _SECRET_NAME.search(key):
        return HIDDEN
    try:
        text = mask(json.dumps(value, ensure_ascii=False))
    except (TypeError, ValueError):
        text = mask(str(value))
    text = text.encode("utf-8", "backslashreplace").decode()  # what the environment could not decode
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…"
