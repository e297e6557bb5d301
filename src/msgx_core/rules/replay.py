"""Who may be replayed: the whitelist and the reasons of refusal (IMP §9.1, D-25)."""

from __future__ import annotations

from msgx_core.model.proc import UNFINISHED_STATES, MessageState
from msgx_core.states.message import MESSAGE, MessageEvent

REPLAY_WHITELIST: tuple[tuple[str, str | None], ...] = (
    ("CODEC_ERROR", None),
    ("INFRA", None),
    ("PROTOCOL", None),
    ("EXHAUSTED", None),
    ("MALFORMED", "raw-missing"),
)
"""Error code and, where not None, the reason that may be replayed without force."""

HOPELESS = " cannot get better by itself; use --force with a reason if you know better"
"""How the refusal of a cause ends that only force gets past, in the words of the command line."""


def replay_refusal(state: MessageState, code: str | None, reason: str | None, *, force: bool) -> str | None:
    """Why a message may not be replayed; None when it may.

    >>> replay_refusal(MessageState.DEAD, "MALFORMED", "not-well-formed", force=False)
    'MALFORMED not-well-formed cannot get better by itself; use --force with a reason if you know better'
    """
    if not MESSAGE.allows(state, MessageEvent.REPLAY):
        if state in UNFINISHED_STATES:
            return f"{state.value}: it is still waiting for its turn"
        return f"{state.value}: only FAILED and DEAD messages can be replayed"
    if force or any(code == c and reason_ok(r, reason) for c, r in REPLAY_WHITELIST):
        return None
    return f"{code} {reason}{HOPELESS}"


def reason_ok(wanted: str | None, reason: str | None) -> bool:
    """Whether a whitelist entry's reason admits this one."""
    return wanted is None or wanted == reason
