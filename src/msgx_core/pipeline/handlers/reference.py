"""Reference data and resource status (IMP §13, D-40, H-70)."""

from __future__ import annotations

from msgx_core.errors import Malformed
from msgx_core.model.change import Change, FlightQuery
from msgx_core.model.message import MsgKind, ReferencePackage
from msgx_core.model.request import BindRequest, RequestSlot
from msgx_core.pipeline.desk import Apply, Decision, Desk, Work, succeeded
from msgx_core.pipeline.handlers.common import observe
from msgx_core.rules.reference import plan_reference, plan_resource_status
from msgx_core.rules.requests import match_reference_answer
from msgx_core.rules.snapshot_log import mark_sender


def decide_reference(work: Work, desk: Desk) -> Decision:
    """Data changes in ①, no cache step; a `RESP` closes the request it answers, if there is one (D-32)."""
    meta, body = work.message.meta, work.message.body
    if not isinstance(body, ReferencePackage):
        raise Malformed(f"payload-missing:{meta.type}", tag=meta.type)
    now = desk.clock.now()
    plan = plan_reference if work.message.kind is MsgKind.REFERENCE else plan_resource_status
    changes = plan(meta, body, msg_id=work.msg_id, now=now, policy=desk.policy)
    snapshot = desk.read(FlightQuery(sndr=meta.sndr))
    observe(work, desk, snapshot)
    request = None
    if meta.styp == "RESP":
        request = match_reference_answer(desk.store.open_requests(RequestSlot.RQRD), meta.type)
    return Apply(
        Change(
            msg_id=work.msg_id,
            at=now,
            outcome=succeeded(),
            reference=changes,
            request=None if request is None else BindRequest(request.request_id),
            sender=mark_sender(snapshot.sender, meta),
        )
    )
