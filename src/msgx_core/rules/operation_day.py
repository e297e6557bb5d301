"""Operation day from `SODT`, zone and cut-over (IMP §11.2, D-09)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache

from msgx_core.model.flight import Fields
from msgx_core.rules.policy import Policy
from msgx_core.rules.values import parse_time


def instant_of(local: datetime, policy: Policy) -> datetime:
    """The instant of a naive wire time. A repeated hour is its first occurrence, a time inside a gap moves
    forward by the gap.
    """
    return local.replace(tzinfo=policy.sis_zone, fold=0).astimezone(UTC)


def sodt_instant(fields: Fields, policy: Policy) -> datetime | None:
    """The instant of a flight's `SODT`; None without one."""
    text = fields.get("SODT")
    local = parse_time(text) if isinstance(text, str) else None
    return None if local is None else instant_of(local, policy)


def operation_day(instant: datetime, policy: Policy) -> date:
    """The airport's day at an instant: the latest one that has begun. Never the receiving time (R-281)."""
    local = instant.astimezone(policy.airport_zone).date()
    day = local + timedelta(days=1)
    while instant < _start(day, policy.day_cutover, policy.airport_zone):
        day -= timedelta(days=1)
    return day


def day_bounds(day: date, policy: Policy) -> tuple[datetime, datetime]:
    """First instant of an operation day and that of the next one."""
    cutover, zone = policy.day_cutover, policy.airport_zone
    return _start(day, cutover, zone), _start(day + timedelta(days=1), cutover, zone)


@lru_cache(maxsize=1024)
def _start(day: date, cutover: time, zone: tzinfo) -> datetime:
    """When the cut-over of that date comes: once, on nights when clocks change as well."""
    return datetime.combine(day, cutover).replace(tzinfo=zone, fold=0).astimezone(UTC)
