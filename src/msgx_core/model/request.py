"""Requests to upstream and their slots (IMP §7.2, D-32)."""

from __future__ import annotations

import enum
from datetime import date, datetime

from attrs import frozen


class RequestSlot(enum.Enum):
    """One open request each: reference data and flight data."""

    RQRD = "RQRD"
    RQFD = "RQFD"


class RequestState(enum.Enum):
    """`PENDING → SENT → DONE | EXPIRED | FAILED`."""

    PENDING = "PENDING"
    SENT = "SENT"
    DONE = "DONE"
    EXPIRED = "EXPIRED"
    FAILED = "FAILED"


OPEN_REQUEST_STATES = frozenset({RequestState.PENDING, RequestState.SENT})


@frozen
class Request:
    """One row of `REQ_TRACK`. A schedule request names days, a reference request a category."""

    request_id: int
    slot: RequestSlot
    state: RequestState
    created_at: datetime
    seqn: str | None = None
    rtype: str | None = None
    first_day: date | None = None
    last_day: date | None = None
    send_started_at: datetime | None = None
    sent_at: datetime | None = None
    closed_at: datetime | None = None
    reason: str | None = None
    resp_msg_id: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether the request still occupies its slot."""
        return self.state in OPEN_REQUEST_STATES

    @property
    def awaits_answer(self) -> bool:
        """Whether it is open, and no message is bound to it as its answer."""
        return self.is_open and self.resp_msg_id is None


@frozen
class BindRequest:
    """In ①: this message answers that request, which must still be open and unbound."""

    request_id: int


@frozen
class FailRequest:
    """In ①: upstream refused that request (`EROR`)."""

    request_id: int
    reason: str


RequestEffect = BindRequest | FailRequest
