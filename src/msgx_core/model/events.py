"""Outbox events for the two topics (IMP §8, D-27 to D-29)."""

from __future__ import annotations

import enum
from datetime import datetime

from attrs import frozen


class Target(enum.Enum):
    """`MSG_EVENT.TARGET`: change notices and full states."""

    MSG = "KAFKA:msg"
    SCHD = "KAFKA:schd"


class EventStatus(enum.Enum):
    """Delivery state; a dead event is kept for a person (IMP §3)."""

    PENDING = "PENDING"
    SENT = "SENT"
    DEAD = "DEAD"
    DISCARDED = "DISCARDED"


@frozen
class DueEvent:
    """An unsent event. `payload` is the JSON object without `EVENT_ID`."""

    event_id: int
    target: Target
    flid: int
    version: int
    payload: str
    attempts: int


@frozen
class EventSettled:
    """What became of one delivery, valid only for that `event_id` and `version` (D-29).

    `status` PENDING with `next_attempt_at` is a retry; `code` is the refusal (`too-large`,
    `refused:<code>`).
    """

    event_id: int
    target: Target
    flid: int
    version: int
    status: EventStatus
    attempts: int = 0
    next_attempt_at: datetime | None = None
    code: str | None = None
