"""When the daily request for the next operation day is made (FST §7.1, D-32)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.rules.operation_day import operation_day
from msgx_core.rules.policy import Policy

_DAY = timedelta(days=1)


def last_due(now: datetime, daily_at: time, zone: tzinfo) -> datetime:
    """The latest instant, up to now, at which the airport's clock came to `daily_at`.

    A time that the clock jumps over is moved forward, of a repeated one the first is meant.
    """
    today = now.astimezone(zone).date()
    due = _instant(today, daily_at, zone)
    return due if due <= now else _instant(today - _DAY, daily_at, zone)


def daily_day(
    requests: Sequence[Request], now: datetime, daily_at: time, pause: timedelta, policy: Policy
) -> date | None:
    """The operation day to ask for now; None: nothing is to be asked.

    It is the day after the one at the last `daily_at`. It is asked for until a request that was made since
    then and covers it, this job's or a person's, is `DONE`: never while a schedule request is open, and not
    before `pause` has gone by since one for that day was closed in vain. `requests` are the latest ones; only
    they are looked at, so a restart changes nothing.
    """
    due = last_due(now, daily_at, policy.airport_zone)
    day = operation_day(due, policy) + _DAY
    schedule = [r for r in requests if r.slot is RequestSlot.RQFD]
    if any(r.is_open for r in schedule):
        return None
    tried = [r for r in schedule if r.created_at >= due and _covers(r, day)]
    if any(r.state is RequestState.DONE for r in tried):
        return None
    if any(r.closed_at is not None and now - r.closed_at < pause for r in tried):
        return None
    return day


def _covers(request: Request, day: date) -> bool:
    first, last = request.first_day, request.last_day
    return first is not None and last is not None and first <= day <= last


def _instant(day: date, local: time, zone: tzinfo) -> datetime:
    return datetime.combine(day, local).replace(tzinfo=zone, fold=0).astimezone(UTC)
