"""Airport local time as the mailbox writes it: text, whole seconds, no zone (wire.md, D-43)."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def to_local(at: datetime, zone: ZoneInfo) -> str:
    """`YYYY-MM-DD HH:MM:SS` on the airport's clock; fractions of a second are cut."""
    return at.astimezone(zone).replace(microsecond=0, tzinfo=None).isoformat(" ")


def to_instant(text: object, zone: ZoneInfo) -> datetime | None:
    """The instant (UTC) of a local time; None when it is empty, a zero date or unreadable.

    In the repeated hour the first one is meant; a time that the clock jumped over is moved forward.
    """
    if not isinstance(text, str):
        return None
    try:
        at = datetime.fromisoformat(text.strip())
        # fold=0 is the first of two, and before a gap it is the offset that moves forward.
        return (at if at.tzinfo else at.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
