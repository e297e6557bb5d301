"""Requests to upstream (IMP §7.2, D-32)."""

from __future__ import annotations

import enum

from msgx_core.model.request import RequestState
from msgx_core.states.machine import Machine, rows


class RequestEvent(enum.Enum):
    """What can happen to a request."""

    CONFIRM_SENT = "confirm-sent"
    ANSWER = "answer"
    EXPIRE = "expire"
    REPLACE = "replace"
    REFUSE = "refuse"
    LOSE = "lose"


_S = RequestState
_OPEN = (_S.PENDING, _S.SENT)

REQUEST: Machine[RequestState, RequestEvent] = Machine(
    name="request",
    initial=frozenset({_S.PENDING}),
    terminal=frozenset({_S.DONE, _S.EXPIRED, _S.FAILED}),
    transitions=(
        *rows("R-337", RequestEvent.CONFIRM_SENT, ((_S.PENDING, _S.SENT),)),
        *rows("R-339", RequestEvent.ANSWER, ((_S.SENT, _S.DONE),)),
        *rows("R-332", RequestEvent.EXPIRE, ((_S.SENT, _S.EXPIRED),)),
        *rows("R-334", RequestEvent.REPLACE, ((s, _S.EXPIRED) for s in _OPEN)),
        *rows("R-338", RequestEvent.REFUSE, ((s, _S.FAILED) for s in _OPEN)),
        *rows("D-32", RequestEvent.LOSE, ((_S.PENDING, _S.FAILED),)),
    ),
)
