"""Requests to upstream as XML, in the form of the wire (wire.md "Requests we send", IMP §7.2, D-32)."""

from __future__ import annotations

from datetime import date, timedelta

from msgx_core.model.message import Meta
from msgx_core.model.request import Request, RequestSlot
from msgx_core.rules.operation_day import day_bounds
from msgx_core.rules.policy import Policy
from msgx_core.rules.values import format_time

_STYP_OF_SCHEDULES = "NONE"
_ROOT = (
    '<MSG xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:noNamespaceSchemaLocation="unisysaodbsis.xsd">'
)
_MINUTE = timedelta(minutes=1)
_YEARS = range(2000, 2100)


def request_text(request: Request, sender: str, policy: Policy) -> str:
    """The whole message of a request whose sending has begun: it has its `SEQN` and `SEND_STARTED_AT`.

    `DTTM` is when sending began, in airport local time; so the same request is the same text every time.
    Raises `ValueError` for a request that cannot be written: no number or time yet, no days or no category,
    days that end before they begin or that two digits of a year cannot tell.

    >>> from datetime import UTC, datetime
    >>> from msgx_core.model.request import RequestState
    >>> at = datetime(2021, 1, 22, 21, 35, tzinfo=UTC)
    >>> asked = Request(1, RequestSlot.RQRD, RequestState.PENDING, at, "17", "GLST", send_started_at=at)
    >>> request_text(asked, "RMS", Policy()).splitlines()[-1]
    '  <RQRD><RTYP>GLST</RTYP></RQRD></MSG>'
    """
    if request.seqn is None or request.send_started_at is None:
        raise ValueError(f"request {request.request_id} is not being sent")
    slot = request.slot.value
    meta = (
        ("SNDR", sender),
        ("SEQN", request.seqn),
        ("DTTM", f"{request.send_started_at.astimezone(policy.airport_zone):%Y%m%d%H%M%S}"),
        ("TYPE", slot),
        ("STYP", _styp(request)),
    )
    body = "".join(_element(tag, text) for tag, text in _body(request, policy))
    head = "".join(_element(tag, text) for tag, text in meta)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"{_ROOT}<META>{head}</META>\n  <{slot}>{body}</{slot}></MSG>\n"
    )


def asked_window(first: date, last: date, policy: Policy) -> tuple[str, str]:
    """`STDB` and `STDE` of operation days: from the cut-over of the first to the minute before that after
    the last. `ValueError` when they end before they begin or lie outside 2000–2099.

    >>> asked_window(date(2021, 1, 23), date(2021, 1, 23), Policy())
    ('23JAN210000', '23JAN212359')
    """
    if last < first:
        raise ValueError(f"{last} is before {first}")
    if first.year not in _YEARS or last.year not in _YEARS:
        raise ValueError("days are of the years 2000 to 2099")
    ends = (day_bounds(first, policy)[0], day_bounds(last, policy)[1] - _MINUTE)
    begin, end = (at.astimezone(policy.sis_zone).replace(tzinfo=None) for at in ends)
    if begin.year not in _YEARS or end.year not in _YEARS:
        raise ValueError("days are of the years 2000 to 2099")
    return format_time(begin), format_time(end)


def is_same_request(meta: Meta, request: Request, sender: str) -> bool:
    """Whether a message in the outbound table is this request, by sender, number and type (D-32)."""
    written = (meta.sndr, meta.seqn, meta.type, meta.styp)
    return written == (sender, request.seqn, request.slot.value, _styp(request))


def _styp(request: Request) -> str:
    return _STYP_OF_SCHEDULES if request.slot is RequestSlot.RQFD else request.rtype or ""


def _body(request: Request, policy: Policy) -> tuple[tuple[str, str], ...]:
    if request.slot is RequestSlot.RQRD:
        if not request.rtype:
            raise ValueError(f"request {request.request_id} names no category")
        return (("RTYP", request.rtype),)
    if request.first_day is None or request.last_day is None:
        raise ValueError(f"request {request.request_id} names no days")
    begin, end = asked_window(request.first_day, request.last_day, policy)
    return (("STDB", begin), ("STDE", end))


def _element(tag: str, text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f"<{tag}>{escaped}</{tag}>"
