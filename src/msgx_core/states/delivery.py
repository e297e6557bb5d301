"""Delivery of an event (IMP §3, D-28, D-29)."""

from __future__ import annotations

import enum

from msgx_core.model.events import EventStatus
from msgx_core.states.machine import Machine, rows


class DeliveryEvent(enum.Enum):
    """What can happen to an outbox row."""

    CONFIRM = "confirm"
    RETRY = "retry"
    EXHAUST = "exhaust"
    REQUEUE = "requeue"
    DISCARD = "discard"
    SUPERSEDE = "supersede"


_S = EventStatus

DELIVERY: Machine[EventStatus, DeliveryEvent] = Machine(
    name="delivery",
    initial=frozenset({_S.PENDING}),
    terminal=frozenset({_S.SENT, _S.DISCARDED}),
    transitions=(
        *rows("R-112", DeliveryEvent.CONFIRM, ((_S.PENDING, _S.SENT),)),
        *rows("R-113", DeliveryEvent.RETRY, ((_S.PENDING, _S.PENDING),)),
        *rows("R-114", DeliveryEvent.EXHAUST, ((_S.PENDING, _S.DEAD),)),
        *rows("R-373", DeliveryEvent.REQUEUE, ((_S.DEAD, _S.PENDING),)),
        *rows("R-373", DeliveryEvent.DISCARD, ((_S.DEAD, _S.DISCARDED),)),
        # `schd` only: a new version takes the row over, whatever became of the old one.
        *rows("R-374", DeliveryEvent.SUPERSEDE, ((s, _S.PENDING) for s in _S)),
    ),
)
