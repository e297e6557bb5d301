"""One decision per kind of message: read what the rules need, call them, return the decision (IMP §5.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from msgx_core.model.message import MsgKind
from msgx_core.pipeline.desk import Close, Decision, Desk, Work, skipped
from msgx_core.pipeline.handlers.adft import decide_adft
from msgx_core.pipeline.handlers.errors import decide_error_answer
from msgx_core.pipeline.handlers.flop import decide_fdel, decide_flop
from msgx_core.pipeline.handlers.reference import decide_reference
from msgx_core.pipeline.handlers.schedule import decide_schedule

Handler = Callable[[Work, Desk], Decision]


def decide_unsupported(work: Work, desk: Desk) -> Decision:
    """Kept, skipped, and written back like any other (R-059, R-060)."""
    return Close(skipped("unsupported", f"{work.message.meta.type}/{work.message.meta.styp}"))


HANDLERS: Mapping[MsgKind, Handler] = MappingProxyType(
    {
        MsgKind.SCHEDULE: decide_schedule,
        MsgKind.ADFT: decide_adft,
        MsgKind.FLOP: decide_flop,
        MsgKind.FDEL: decide_fdel,
        MsgKind.REFERENCE: decide_reference,
        MsgKind.RESOURCE_STATUS: decide_reference,
        MsgKind.ERROR_ANSWER: decide_error_answer,
        MsgKind.UNSUPPORTED: decide_unsupported,
    }
)


def decide(work: Work, desk: Desk) -> Decision:
    """The decision for a decoded message. Reads the store, writes nothing.

    Raises `MessageError` for a message that is wrong in itself.
    """
    return HANDLERS[work.message.kind](work, desk)
