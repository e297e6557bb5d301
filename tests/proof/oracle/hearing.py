"""What the oracle makes of each write of the store, once it is committed: may it be, and what does it do?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgx_core.model.alert import Alert
from msgx_core.model.change import Change, FlightPut
from msgx_core.model.proc import Binding, Holder, NewMessage, Outcome
from msgx_core.ports import Archived
from msgx_core.ports.operations import Audit, OperatorResult
from tests.proof.oracle import hearing_services as of
from tests.proof.oracle.books import Oracle
from tests.proof.oracle.outside import Outside

Heard = Callable[..., None]


# Messages


def enqueue(o: Oracle, w: Outside, result: int, rows: Sequence[NewMessage], now: datetime) -> None:
    o.taken_in(row.msg_id for row in rows if not o.messages[row.msg_id].known)


def bind(
    o: Oracle,
    w: Outside,
    result: Holder | None,
    binding: Binding,
    now: datetime,
    *,
    as_head: bool,
) -> None:
    assert as_head, "the pipeline binds nothing but the head (R-002)"
    o.goes_on_to(binding.msg_id)
    if result is None:
        o.bound(binding.msg_id)


def apply(o: Oracle, w: Outside, result: int, change: Change) -> None:
    o.applied(change.msg_id)


def finish(o: Oracle, w: Outside, result: bool, msg_id: int, now: datetime) -> None:
    if result:
        o.finished(msg_id, w.in_cache)


def close_unapplied(
    o: Oracle,
    w: Outside,
    result: bool,
    msg_id: int,
    outcome: Outcome,
    alerts: Sequence[Alert],
    now: datetime,
    binding: Binding | None = None,
) -> None:
    if result:
        o.closed(msg_id)


def fail(o: Oracle, w: Outside, result: None, msg_id: int, *rest: Any) -> None:
    o.failed(msg_id)


def set_trying(o: Oracle, w: Outside, result: None, msg_id: int, trying: bool) -> None:
    o.tried(msg_id, trying)


def count_interrupted(o: Oracle, w: Outside, result: object, now: datetime) -> None:
    o.interrupted()


# People


def replay(
    o: Oracle,
    w: Outside,
    result: Sequence[OperatorResult],
    msg_ids: Sequence[int],
    whitelist: Sequence[Any],
    *rest: Any,
) -> None:
    for one in result:
        message = o.messages[one.target]
        allowed = message.may_be_replayed(o.now, force=not whitelist)
        assert allowed == (one.refused is None), f"message {one.target}: {one.refused}"
        if allowed:
            message.replay()


def readmit(o: Oracle, w: Outside, result: OperatorResult, msg_id: int, audit: Audit, now: datetime) -> None:
    """D-24: a duplicate runs under the identity that it wanted, with `#<MSG_ID>` behind."""
    message = o.messages[msg_id]
    holder = message.duplicate_of
    allowed = holder is not None and not message.mark.is_claimed(o.now)
    assert allowed == (result.refused is None), f"message {msg_id}: {result.refused}"
    if holder is not None and allowed:
        message.identity = f"{o.messages[holder].identity}#{msg_id}"
        message.replay()


def resume_writebacks(
    o: Oracle, w: Outside, result: Sequence[OperatorResult], msg_ids: Sequence[int] | None, *rest: Any
) -> None:
    """D-38: one more try, at once."""
    for one in result:
        mark = o.messages[one.target].mark
        allowed = mark.abandoned is not None and mark.written_at is None
        assert allowed == (one.refused is None)
        if allowed:
            mark.abandoned, mark.owed_at = None, o.now


# The sweep


def archive_flights(
    o: Oracle,
    w: Outside,
    result: None,
    gone: Sequence[Archived],
    notified: Sequence[FlightPut],
    now: datetime,
) -> None:
    o.archived(a.flid for a in gone)


def cache_settled(o: Oracle, w: Outside, result: None, flids: Sequence[int]) -> None:
    o.keys_settled(flids)


def raise_alert(o: Oracle, w: Outside, result: None, alert: Alert, now: datetime) -> None:
    o.alerted(alert.code.value)


HEARD: Mapping[str, Heard] = {
    heard.__name__: heard
    for heard in (
        *(enqueue, bind, apply, finish, close_unapplied, fail, set_trying, count_interrupted),
        *(
            of.claim_writebacks,
            of.writebacks_done,
            of.writeback_retry,
            of.writeback_abandon,
            of.release_claims,
        ),
        *(
            of.settle_events,
            of.requeue_events,
            of.discard_events,
            of.begin_send,
            of.confirm_sent,
            of.lose_send,
        ),
        *(of.expire_requests, of.create_request, replay, readmit, resume_writebacks, archive_flights),
        *(cache_settled, raise_alert),
    )
}
"""By the name of the store's method. Everything else that it has only reads, or changes nothing told here."""
