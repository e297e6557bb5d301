"""Write-back, events and requests, as the oracle hears of them once they are committed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from msgx_core.model.alert import Alert
from msgx_core.model.events import EventSettled, EventStatus, Target
from msgx_core.model.proc import AbandonReason, WritebackDue
from msgx_core.model.request import Request
from msgx_core.ports.operations import Audit, OperatorResult
from tests.proof.oracle.books import Oracle
from tests.proof.oracle.messages import Message
from tests.proof.oracle.outside import Outside
from tests.proof.oracle.requests import TIMEOUT, Asked
from tests.proof.oracle.writeback import OVERDUE

# Write-back


def claim_writebacks(o: Oracle, w: Outside, result: Sequence[WritebackDue], *rest: Any) -> None:
    """R-137, R-140: all that is due, the least tried first."""
    due = sorted(due_marks(o), key=lambda m: (m.mark.attempts, m.msg_id))
    assert [row.msg_id for row in result] == [m.msg_id for m in due]
    for message in due:
        message.mark.claim(o.now, message.finished_at)


def due_marks(o: Oracle) -> list[Message]:
    """Messages whose write-back is due now."""
    return [
        m
        for m in o.messages.values()
        if m.is_final and m.enqueued_at is not None and m.mark.is_due(o.now, m.enqueued_at)
    ]


def writebacks_done(o: Oracle, w: Outside, result: None, msg_ids: Sequence[int], now: datetime) -> None:
    for msg_id in msg_ids:
        message = o.messages[msg_id]
        assert w.is_marked(msg_id), f"message {msg_id} counts as written back and has no mark (R-143)"
        if message.is_final:
            message.mark.write(o.now)


def writeback_retry(
    o: Oracle, w: Outside, result: None, msg_id: int, next_at: datetime, alert: Alert | None, now: datetime
) -> None:
    message = o.messages[msg_id]
    if not message.is_final:
        return  # let in again while its claim had run out: what was about its last end is over
    assert w.has_row(msg_id), "a row that is gone is given up at once (R-145)"
    assert message.enqueued_at is not None
    assert o.now - message.enqueued_at < OVERDUE, "past R the try was the last one (D-38)"
    if message.mark.retry(o.now):
        o.alerts["BACKFILL_ATTEMPTS", msg_id] += 1


def writeback_abandon(
    o: Oracle, w: Outside, result: None, msg_id: int, reason: AbandonReason, alert: Alert, now: datetime
) -> None:
    message = o.messages[msg_id]
    if not message.is_final:
        return
    assert message.enqueued_at is not None
    gone = not w.has_row(msg_id)
    assert gone or o.now - message.enqueued_at >= OVERDUE, "before R it is only put off (R-146)"
    message.mark.abandon("MISSING_ROW" if gone else "TRANSIENT_DEADLINE")
    o.alerts[str(message.mark.abandoned), msg_id] += 1


def release_claims(o: Oracle, w: Outside, result: None, msg_ids: Sequence[int]) -> None:
    for msg_id in msg_ids:
        o.messages[msg_id].mark.claimed_until = None


# Events


def settle_events(o: Oracle, w: Outside, result: None, settled: Sequence[EventSettled], *rest: Any) -> None:
    """D-28: delivery reports decide. What the bus does not have is not sent."""
    for one in settled:
        event = o.outbox.find(one.target.value, one.flid, one.version)
        if event is None or event.status != "PENDING":
            continue
        sent = one.status is EventStatus.SENT
        if sent:
            assert w.bus_has(one.target.value, one.flid, one.version), "sent is what the bus has (D-28)"
        if event.settle(None if sent else w.refusal(one.flid), o.now):
            o.alerts["DEAD_EVENT", None] += 1


def requeue_events(o: Oracle, w: Outside, result: Sequence[OperatorResult], *rest: Any) -> None:
    for flid, version in _released(o, w, result, rest[-1]):
        o.outbox.let_go_again.add((flid, version))


def discard_events(o: Oracle, w: Outside, result: Sequence[OperatorResult], *rest: Any) -> None:
    for _ in _released(o, w, result, rest[-1], discard=True):
        pass


def _released(
    o: Oracle, w: Outside, result: Sequence[OperatorResult], target: Target, discard: bool = False
) -> Iterable[tuple[int, int]]:
    """R-373: only dead events."""
    for one in result:
        flid, version = w.event_of(target.value, one.target)
        event = o.outbox.find(target.value, flid, version)
        dead = event is not None and event.status == "DEAD"
        assert dead == (one.refused is None)
        if event is not None and dead:
            if discard:
                event.status = "DISCARDED"
            else:
                event.requeue()
            yield flid, version


# Requests


def begin_send(o: Oracle, w: Outside, result: Request | None, request_id: int, now: datetime) -> None:
    if result is None:
        return
    request = o.requests[request_id]
    assert request.begun_at is None, f"request {request_id} is sent a second time (D-32)"
    request.seqn = 1 + max((r.seqn or 0 for r in o.requests.values()), default=0)
    request.begun_at = o.now


def confirm_sent(o: Oracle, w: Outside, result: bool, request_id: int, now: datetime) -> None:
    if not result:
        return
    request = o.requests[request_id]
    assert request.seqn is not None
    assert w.outbound_has(request.seqn), f"request {request_id} counts as sent and is not there (R-337)"
    request.state, request.sent_at = "SENT", o.now


def lose_send(o: Oracle, w: Outside, result: bool, request_id: int, alert: Alert, now: datetime) -> None:
    if not result:
        return
    request = o.requests[request_id]
    assert request.seqn is not None
    assert not w.outbound_has(request.seqn), f"request {request_id} was sent and counts as lost (D-32)"
    request.close("FAILED", "send-lost", o.now)
    o.alerts["SEND_LOST", None] += 1


def expire_requests(
    o: Oracle, w: Outside, result: Sequence[int], sent_before: datetime, now: datetime
) -> None:
    head = o.head()
    for request_id in result:
        request = o.requests[request_id]
        assert request.sent_at is not None
        over = request.sent_at + TIMEOUT
        assert request.answer is None, "a request that is being answered does not expire (D-32)"
        assert over <= o.now, "not before its time is over (R-332)"
        waiting = head is not None and head.received_at is not None and head.received_at < over
        assert not waiting, "what waits may be the answer"
        request.close("EXPIRED", "timeout", o.now)


def create_request(
    o: Oracle, w: Outside, result: Request, request: Request, audit: Audit, now: datetime
) -> None:
    for held in o.requests.values():
        if held.slot == request.slot.value and held.is_open:
            assert held.answer is None, "it is being answered: no new one (D-32)"
            held.close("EXPIRED", "replaced", o.now)
    made = Asked(result.request_id, request.slot.value, request.rtype, request.first_day, request.last_day)
    o.requests[result.request_id] = made
