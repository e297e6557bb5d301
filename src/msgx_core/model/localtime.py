"""Airport local time as a mailbox writes it: text, whole seconds, no zone (wire.md, D-43)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

_STEP = timedelta(minutes=15)
_LONGEST_SHIFT = timedelta(hours=3)


def to_local(at: datetime, zone: tzinfo) -> str:
    """`YYYY-MM-DD HH:MM:SS` on the airport's clock; fractions of a second are cut.

    >>> from zoneinfo import ZoneInfo
    >>> to_local(datetime(2021, 1, 23, 4, 0, 0, 900_000, tzinfo=UTC), ZoneInfo("Asia/Shanghai"))
    '2021-01-23 12:00:00'
    """
    return at.astimezone(zone).replace(microsecond=0, tzinfo=None).isoformat(" ")


def to_instant(text: object, zone: tzinfo) -> datetime | None:
    """The instant (UTC) of a local time; None when it is empty, a zero date or unreadable.

    In the repeated hour the first one is meant; a time that the clock jumped over is moved forward.

    >>> from zoneinfo import ZoneInfo
    >>> to_instant("2021-01-23 12:00:00", ZoneInfo("Asia/Shanghai"))
    datetime.datetime(2021, 1, 23, 4, 0, tzinfo=datetime.timezone.utc)
    """
    if not isinstance(text, str):
        return None
    try:
        at = datetime.fromisoformat(text.strip())
        # fold=0 is the first of two, and before a gap it is the offset that moves forward.
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def earliest_local(since: datetime, zone: tzinfo) -> str:
    """The smallest local time that anything at or after `since` can bear.

    That is `to_local(since)`, unless the clock is about to be put back: what is written after that bears a
    smaller time than what was written before.

    >>> from zoneinfo import ZoneInfo
    >>> earliest_local(datetime(2021, 10, 31, 0, 50, tzinfo=UTC), ZoneInfo("Europe/Berlin"))
    '2021-10-31 02:00:00'
    """
    start = since.astimezone(UTC)
    # Clocks change at whole quarters of an hour.
    quarter = start.replace(minute=start.minute // 15 * 15, second=0, microsecond=0) + _STEP
    steps = range(int(_LONGEST_SHIFT / _STEP))
    return min(to_local(start, zone), *(to_local(quarter + step * _STEP, zone) for step in steps))
