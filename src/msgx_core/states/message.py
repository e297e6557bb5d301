"""Processing of a message (IMP §3, D-02, D-24, D-25)."""

from __future__ import annotations

import enum

from msgx_core.model.proc import TERMINAL_STATES, MessageState
from msgx_core.states.machine import Machine, rows


class MessageEvent(enum.Enum):
    """What can happen to a message."""

    SUCCEED = "succeed"
    SKIP = "skip"
    FAIL = "fail"
    DIE = "die"
    REPLAY = "replay"
    READMIT = "readmit"


_S = MessageState
_UNFINISHED = (_S.PENDING, _S.FAILED)

MESSAGE: Machine[MessageState, MessageEvent] = Machine(
    name="message",
    initial=frozenset({_S.PENDING}),
    terminal=TERMINAL_STATES,
    transitions=(
        *rows("R-106", MessageEvent.SUCCEED, ((s, _S.SUCCEEDED) for s in _UNFINISHED)),
        *rows("R-107", MessageEvent.SKIP, ((s, _S.SKIPPED) for s in _UNFINISHED)),
        *rows("R-108", MessageEvent.FAIL, ((s, _S.FAILED) for s in _UNFINISHED)),
        *rows("R-109", MessageEvent.DIE, ((s, _S.DEAD) for s in _UNFINISHED)),
        *rows("R-120", MessageEvent.REPLAY, ((s, _S.PENDING) for s in (_S.FAILED, _S.DEAD))),
        *rows("D-24", MessageEvent.READMIT, ((_S.SKIPPED, _S.PENDING),)),
    ),
)
