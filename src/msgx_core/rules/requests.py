"""Requests and their answers: slots, matching, coverage of an answer (IMP §7.2, D-32)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import datetime, timedelta

from attrs import evolve, frozen

from msgx_core.model.message import ErrorAnswer
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.model.schedule import Coverage, Days, Nothing
from msgx_core.model.sis import CATEGORIES, RSTA
from msgx_core.rules.coverage import day_range
from msgx_core.states.request import REQUEST, RequestEvent


@frozen
class ScheduleAnswer:
    """How a schedule `RESP` is read. `request` None with `ambiguous`: it only upserts, nothing is closed."""

    request: Request | None
    coverage: Coverage
    ambiguous: bool = False


def match_schedule_answer(
    requests: Sequence[Request], now: datetime, late_window: timedelta
) -> ScheduleAnswer | None:
    """The open `RQFD` that a schedule `RESP` answers; None: it matches none (G-RESP-GUARD, D-22).

    `requests` are the `RQFD`s that are open or expired. One that is being answered by another message has its
    answer. Answers carry no id, so the answer is ambiguous when one for another range was sent and expired
    unanswered less than `late_window` ago.
    """
    open_ = next((r for r in requests if r.awaits_answer), None)
    if open_ is None:
        return None
    if any(_may_still_answer(r, open_, now, late_window) for r in requests):
        return ScheduleAnswer(None, Nothing(), ambiguous=True)
    return ScheduleAnswer(open_, request_coverage(open_))


def _may_still_answer(request: Request, open_: Request, now: datetime, late_window: timedelta) -> bool:
    # A send that was begun and never confirmed may have gone out as well.
    return (
        request.state is RequestState.EXPIRED
        and (request.sent_at or request.send_started_at) is not None
        and request.resp_msg_id is None
        and (request.first_day, request.last_day) != (open_.first_day, open_.last_day)
        and request.closed_at is not None
        and now - request.closed_at < late_window
    )


def request_coverage(request: Request) -> Days:
    """The whole operation days of a schedule request's range (D-11)."""
    if request.first_day is None or request.last_day is None:
        raise ValueError(f"request {request.request_id} names no days")
    return day_range(request.first_day, request.last_day)


def match_reference_answer(requests: Sequence[Request], rtype: str) -> Request | None:
    """The open `RQRD` for this category that has no answer yet, matched by type alone (R-412)."""
    return next((r for r in requests if r.awaits_answer and r.rtype == rtype), None)


class ErrorUnmatched(enum.Enum):
    """Why an `EROR` closes nothing; the value is its reason (D-25)."""

    NO_OPEN_REQUEST = "no-open-request"
    AMBIGUOUS = "ambiguous-error"


def match_error(requests: Sequence[Request], answer: ErrorAnswer | None) -> Request | ErrorUnmatched:
    """The open request that an `EROR` refuses: the slot it names, else the only open one (D-32)."""
    open_ = [r for r in requests if r.is_open]
    if not open_:
        return ErrorUnmatched.NO_OPEN_REQUEST
    slot = None if answer is None else _named_slot(answer)
    if slot is not None:
        return next((r for r in open_ if r.slot is slot), ErrorUnmatched.NO_OPEN_REQUEST)
    return open_[0] if len(open_) == 1 else ErrorUnmatched.AMBIGUOUS


def _named_slot(answer: ErrorAnswer) -> RequestSlot | None:
    names = {answer.in_type, answer.in_styp}
    if names & {RequestSlot.RQFD.value, "SCHD"}:
        return RequestSlot.RQFD
    if names & {RequestSlot.RQRD.value, RSTA, *CATEGORIES}:
        return RequestSlot.RQRD
    return None


def expired(request: Request, now: datetime, timeout: timedelta) -> bool:
    """Whether a sent, unbound request got no answer in time; a bound one does not expire."""
    return (
        request.state is RequestState.SENT
        and request.resp_msg_id is None
        and request.sent_at is not None
        and now - request.sent_at >= timeout
    )


def expiry_limit(heard_at: datetime, waiting_since: datetime | None, timeout: timedelta) -> datetime:
    """Requests sent up to then have had their time and no answer.

    `heard_at`: everything that was in the mailbox then has been taken in. `waiting_since`: when the oldest
    unfinished message came into the mailbox; it may be an answer, and so may all that came after it.
    """
    known_until = heard_at if waiting_since is None else min(heard_at, waiting_since)
    return known_until - timeout


def may_replace(open_: Request | None) -> bool:
    """Whether a new request of the slot may be made now: not while an answer is being applied."""
    return open_ is None or open_.resp_msg_id is None


def closed(request: Request, event: RequestEvent, now: datetime, reason: str | None = None) -> Request:
    """The request after a closing event; raises `IllegalTransition` when it is not legal."""
    return evolve(request, state=REQUEST.next(request.state, event), closed_at=now, reason=reason)
