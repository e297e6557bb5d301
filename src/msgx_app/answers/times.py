"""Times and days as people write them; a time without a zone is the airport's."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from msgx_app.refusals import BadValue
from msgx_core.rules.operation_day import operation_day
from msgx_core.rules.values import parse_time

if TYPE_CHECKING:
    from msgx_core.rules.policy import Policy

FIRST_YEAR, LAST_YEAR = 1970, 2199


def parse_instant(text: str, policy: Policy, now: datetime) -> datetime:
    """ISO 8601, the wire's DDMMMYYHHMM, `now`, or a duration back from now such as `2h`.

    Raises `BadValue`.
    """
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
                ago = now - parse_duration(stripped)
                _sensible(text, ago.year)
                return ago
            except (ValueError, OverflowError):
                raise BadValue(
                    f"{text!r} is not a time: write 2027-03-14T06:00, 14MAR270600, or 2h for two hours ago"
                ) from None
    _sensible(text, local.year)
    if local.tzinfo is None:
        local = local.replace(tzinfo=policy.airport_zone, fold=0)
    return local.astimezone(UTC)


def parse_day(text: str, policy: Policy, now: datetime) -> date:
    """`YYYY-MM-DD`, or `today` for the airport's operation day. Raises `BadValue`."""
    if text.strip().lower() == "today":
        return operation_day(now, policy)
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise BadValue(f"{text!r} is not a day: write 2027-03-14 or today") from None
    _sensible(text, day.year)
    return day


def _sensible(text: str, year: int) -> None:
    """Refuse what no flight can have: at both ends of the calendar there is no day before or behind."""
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise BadValue(f"{text!r} is outside the years {FIRST_YEAR} to {LAST_YEAR}")
