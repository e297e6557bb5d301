"""Write-back of the processing time (IMP §6, D-38)."""

from __future__ import annotations

import enum

from msgx_core.states.machine import Machine, rows


class WritebackState(enum.Enum):
    """Derived from the `BACKFILL_*` columns, in this order of precedence."""

    NOT_OWED = "NOT_OWED"
    OWED = "OWED"
    CLAIMED = "CLAIMED"
    WRITTEN = "WRITTEN"
    ABANDONED = "ABANDONED"


class WritebackEvent(enum.Enum):
    """What can happen to an intent."""

    FINISH = "finish"
    CLAIM = "claim"
    CONFIRM = "confirm"
    RETRY = "retry"
    RELEASE = "release"
    ABANDON = "abandon"
    RESUME = "resume"
    REPLAY = "replay"


_S = WritebackState

WRITEBACK: Machine[WritebackState, WritebackEvent] = Machine(
    name="write-back",
    initial=frozenset({_S.NOT_OWED}),
    terminal=frozenset({_S.WRITTEN}),
    transitions=(
        *rows("R-135", WritebackEvent.FINISH, ((_S.NOT_OWED, _S.OWED), (_S.WRITTEN, _S.WRITTEN))),
        *rows("D-25", WritebackEvent.CLAIM, ((_S.OWED, _S.CLAIMED),)),
        *rows("R-143", WritebackEvent.CONFIRM, ((_S.CLAIMED, _S.WRITTEN),)),
        *rows("R-146", WritebackEvent.RETRY, ((_S.CLAIMED, _S.OWED),)),
        *rows("D-04", WritebackEvent.RELEASE, ((_S.CLAIMED, _S.OWED),)),
        *rows("R-145", WritebackEvent.ABANDON, ((_S.CLAIMED, _S.ABANDONED),)),
        *rows("D-38", WritebackEvent.RESUME, ((_S.ABANDONED, _S.OWED),)),
        *rows(
            "H-25", WritebackEvent.REPLAY, ((s, _S.NOT_OWED) for s in (_S.NOT_OWED, _S.OWED, _S.ABANDONED))
        ),
        *rows("H-25", WritebackEvent.REPLAY, ((_S.WRITTEN, _S.WRITTEN),)),
    ),
)
