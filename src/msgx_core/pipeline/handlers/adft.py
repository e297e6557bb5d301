"""`ADFT`: one extra flight, added or updated (IMP §12.3, D-17)."""

from __future__ import annotations

from msgx_core.errors import Malformed, Protocol
from msgx_core.model.change import Change, FlightQuery
from msgx_core.model.message import FlightRecord, SchedulePackage
from msgx_core.model.schedule import SnapshotFlag, SnapshotResult
from msgx_core.pipeline.desk import Apply, Close, Decision, Desk, Work, dead, succeeded
from msgx_core.pipeline.handlers.common import bad_values, day_alert, observe
from msgx_core.rules.coverage import check_count
from msgx_core.rules.merge import flop_flid
from msgx_core.rules.records import read_record
from msgx_core.rules.single import Step, plan_adft, wanted_day
from msgx_core.rules.snapshot_log import LogContext, mark_sender


def decide_adft(work: Work, desk: Desk) -> Decision:
    """Sets only; a conflict of the day is dead, logged and alerted (D-10, D-16)."""
    record = _only_record(work)
    flid = flop_flid(record)
    values = read_record(record, flid, max_points=desk.policy.route_max_points)
    maid = values.values.get("MAID")
    day = wanted_day(values, desk.policy)
    query = FlightQuery(
        flids=frozenset({flid}),
        maids=frozenset({maid}) if isinstance(maid, int) else frozenset(),
        days=frozenset() if day is None else frozenset({day}),
        sndr=work.message.meta.sndr,
    )
    at = Step(desk.read(query), work.msg_id, desk.clock.now(), desk.policy)
    observe(work, desk, at.snapshot, values.truncated)
    try:
        puts = plan_adft(values, at)
    except Protocol as error:
        work.locate(error)
        shared = LogContext(work.msg_id, work.recv_at, recs=1, flags=(SnapshotFlag.DAY_MISMATCH,))
        log = (shared.row(SnapshotResult.ROLLED_BACK),)
        return Close(dead(error), day_alert(error, work.msg_id), log)
    detail, alerts = bad_values(work, values.dropped)
    return Apply(
        Change(
            msg_id=work.msg_id,
            at=at.now,
            outcome=succeeded(None, detail),
            flights=puts,
            sender=mark_sender(at.snapshot.sender, work.message.meta),
            alerts=alerts,
        )
    )


def _only_record(work: Work) -> FlightRecord:
    body = work.message.body
    if not isinstance(body, SchedulePackage):
        raise Malformed("payload-missing:SCHD", tag="SCHD")
    if len(body.records) != 1:
        raise Protocol(f"adft-records:{len(body.records)}", tag="FLTR")
    if body.recs:
        check_count(body.recs, 1)
    return body.records[0]
