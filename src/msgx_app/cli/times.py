"""Times and days as options of the command line, and lengths of time for people."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING

import typer

from msgx_app.answers import times
from msgx_app.refusals import BadValue

if TYPE_CHECKING:
    from msgx_core.rules.policy import Policy


def parse_instant(text: str, policy: Policy, now: datetime, option: str) -> datetime:
    """ISO 8601, the wire's DDMMMYYHHMM, `now`, or a duration back from now such as `2h`."""
    try:
        return times.parse_instant(text, policy, now)
    except BadValue as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def parse_day(text: str, policy: Policy, now: datetime, option: str) -> date:
    """`YYYY-MM-DD`, or `today` for the airport's operation day."""
    try:
        return times.parse_day(text, policy, now)
    except BadValue as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def age_text(seconds: float) -> str:
    """A length of time in its two largest units.

    >>> age_text(3.2), age_text(75), age_text(7260), age_text(200000)
    ('3s', '1m 15s', '2h 1m', '2d 7h')
    """
    left = max(0, int(seconds))
    parts = []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        parts.append((count, unit))
    while len(parts) > 1 and not parts[0][0]:
        parts.pop(0)
    return " ".join(f"{count}{unit}" for count, unit in parts[:2] if count or len(parts) == 1)
