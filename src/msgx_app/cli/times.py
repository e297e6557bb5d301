"""Times and days as people type them; a time without a zone is the airport's."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

import typer

from msgx_core.rules.operation_day import operation_day
from msgx_core.rules.values import parse_time

if TYPE_CHECKING:
    from msgx_core.rules.policy import Policy


def parse_instant(text: str, policy: Policy, now: datetime, option: str) -> datetime:
    """ISO 8601, the wire's DDMMMYYHHMM, `now`, or a duration back from now such as `2h`."""
    from msgx_app.settings import parse_duration

    stripped = text.strip()
    if stripped.lower() == "now":
        return now
    local = parse_time(stripped.upper())
    if local is None:
        try:
            local = datetime.fromisoformat(stripped)
        except ValueError:
            try:
                return now - parse_duration(stripped)
            except (ValueError, OverflowError):
                raise typer.BadParameter(
                    f"{text!r} is not a time: write 2027-03-14T06:00, 14MAR270600, or 2h for two hours ago",
                    param_hint=option,
                ) from None
    if local.tzinfo is None:
        local = local.replace(tzinfo=policy.airport_zone, fold=0)
    return local.astimezone(UTC)


def parse_day(text: str, policy: Policy, now: datetime, option: str) -> date:
    """`YYYY-MM-DD`, or `today` for the airport's operation day."""
    if text.strip().lower() == "today":
        return operation_day(now, policy)
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        hint = f"{text!r} is not a day: write 2027-03-14 or today"
        raise typer.BadParameter(hint, param_hint=option) from None


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
