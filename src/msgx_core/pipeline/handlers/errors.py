"""`EROR`: upstream refuses one of our requests (IMP §7.2, D-32)."""

from __future__ import annotations

from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.change import Change, FlightQuery
from msgx_core.model.message import ErrorAnswer
from msgx_core.model.request import FailRequest, RequestSlot
from msgx_core.pipeline.desk import Apply, Close, Decision, Desk, Work, skipped, succeeded
from msgx_core.pipeline.handlers.common import observe
from msgx_core.rules.requests import ErrorUnmatched, match_error
from msgx_core.rules.snapshot_log import mark_sender


def decide_error_answer(work: Work, desk: Desk) -> Decision:
    """Closes the slot it names, else the only open one, as FAILED with an alert; else none."""
    body = work.message.body
    answer = body if isinstance(body, ErrorAnswer) else None
    open_ = [r for slot in RequestSlot for r in desk.store.open_requests(slot)]
    matched = match_error(open_, answer)
    detail = error_detail(answer)
    alert = Alert(AlertCode.EROR, work.msg_id, detail=detail)
    if isinstance(matched, ErrorUnmatched):
        return Close(skipped(matched.value, detail), (alert,))
    snapshot = desk.read(FlightQuery(sndr=work.message.meta.sndr))
    observe(work, desk, snapshot)
    return Apply(
        Change(
            msg_id=work.msg_id,
            at=desk.clock.now(),
            outcome=succeeded(None, detail),
            request=FailRequest(matched.request_id, "eror"),
            sender=mark_sender(snapshot.sender, work.message.meta),
            alerts=(alert,),
        )
    )


def error_detail(answer: ErrorAnswer | None) -> str | None:
    """What upstream says, in one line."""
    if answer is None:
        return None
    parts = (answer.in_type, answer.in_styp, answer.code, answer.text)
    return " ".join(part[:200] for part in parts if part) or None
