"""`FLOP` and `FDEL`: one change of one flight (IMP §12.2, §12.3)."""

from __future__ import annotations

from msgx_core.errors import Malformed
from msgx_core.model.change import Change, FlightPut, FlightQuery
from msgx_core.model.message import FlightRecord
from msgx_core.pipeline.desk import Apply, Close, Decision, Desk, Work, skipped, succeeded
from msgx_core.pipeline.handlers.common import observe
from msgx_core.rules.merge import flop_flid, read_flop
from msgx_core.rules.single import NoEffect, Step, plan_fdel, plan_flop
from msgx_core.rules.snapshot_log import mark_sender


def decide_flop(work: Work, desk: Desk) -> Decision:
    """The whitelist decides before the body is read (D-18); then the flight's life decides (D-07, D-08)."""
    styp = work.message.meta.styp
    if styp not in desk.policy.flop_whitelist:
        return Close(skipped("unsupported", f"FLOP/{styp} is not in msgx.flop.whitelist"))
    update = read_flop(styp, _record(work), max_points=desk.policy.route_max_points)
    at = _step(work, desk, update.flid)
    observe(work, desk, at.snapshot, update.truncated)
    planned = plan_flop(update, at)
    if isinstance(planned, NoEffect):
        return Close(skipped(planned.value, f"flight {update.flid}"))
    return Apply(_change(work, at, planned))


def decide_fdel(work: Work, desk: Desk) -> Decision:
    """A delete of a flight that is gone is a success without effect (D-06)."""
    record = _record(work)
    if record is None:
        raise Malformed("payload-missing:FLOP", tag="FLOP")
    flid = flop_flid(record)
    if "FDEL" not in record.tags:
        raise Malformed("payload-missing:FDEL", flid=flid, tag="FDEL", record=0)
    at = _step(work, desk, flid)
    observe(work, desk, at.snapshot)
    planned = plan_fdel(flid, at)
    if isinstance(planned, NoEffect):
        return Apply(_change(work, at, (), planned.value))
    return Apply(_change(work, at, planned))


def _record(work: Work) -> FlightRecord | None:
    body = work.message.body
    return body if isinstance(body, FlightRecord) else None


def _step(work: Work, desk: Desk, flid: int) -> Step:
    snapshot = desk.read(FlightQuery(flids=frozenset({flid}), sndr=work.message.meta.sndr))
    return Step(snapshot, work.msg_id, desk.clock.now(), desk.policy)


def _change(work: Work, at: Step, puts: tuple[FlightPut, ...], reason: str | None = None) -> Change:
    return Change(
        msg_id=work.msg_id,
        at=at.now,
        outcome=succeeded(reason),
        flights=puts,
        roster_remove=frozenset(put.state.flid for put in puts if not put.state.is_live),
        sender=mark_sender(at.snapshot.sender, work.message.meta),
    )
