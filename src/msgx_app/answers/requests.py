"""Asking upstream: what a person may ask for, and the request that comes of it (D-32)."""

from __future__ import annotations

from msgx_app.answers.parts import WithStore
from msgx_app.answers.times import parse_day
from msgx_app.refusals import BadValue, Negative
from msgx_core.errors import Conflict
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.ports.operations import Audit
from msgx_core.rules.outbound import asked_window

MOST_DAYS = 31
"""So many days need no word more: an empty answer deletes the roster of every one of them (D-11)."""

_RANGE = ".."


def schedule_request(days: str, at: WithStore, *, confirmed: bool = False, how: str) -> Request:
    """For `DAY` or `DAY..DAY`, both inclusive. Raises `BadValue`.

    More than `MOST_DAYS` have to be `confirmed`; `how` says to people how that is done.
    """
    first, _, last = days.partition(_RANGE)
    now = at.clock.now()
    begin = parse_day(first, at.policy, now)
    end = parse_day(last, at.policy, now) if _RANGE in days else begin
    try:
        asked_window(begin, end, at.policy)
    except ValueError as error:
        raise BadValue(str(error)) from error
    number = (end - begin).days + 1
    if number > MOST_DAYS and not confirmed:
        raise BadValue(
            f"{begin}..{end} are {number} days, and an empty answer deletes the roster of every one: "
            f"at most {MOST_DAYS} at a time, or {how} if you mean it"
        )
    return Request(0, RequestSlot.RQFD, RequestState.PENDING, now, first_day=begin, last_day=end)


def reference_request(category: str, at: WithStore) -> Request:
    """For all records of a category."""
    return Request(0, RequestSlot.RQRD, RequestState.PENDING, at.clock.now(), rtype=category)


def asked(wanted: Request, at: WithStore, who: Audit) -> Request:
    """Leave the request for the lease holder to send; it has a number then. Raises `Negative`."""
    if not at.settings.mailbox.write_enabled:
        raise Negative("refused: msgx.mailbox.write-enabled = false, nothing is written into this mailbox")
    try:
        return at.store.create_request(wanted, who, at.clock.now())
    except Conflict as error:
        raise Negative(f"refused: {error}; ask again when that message is finished") from error
