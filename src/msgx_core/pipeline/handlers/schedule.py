"""`SCHD` `DNLD`/`RESP`: a package of complete records (IMP §7.1, D-11, D-12, D-16)."""

from __future__ import annotations

from attrs import evolve, frozen

from msgx_core.errors import Malformed, Protocol
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.change import Change
from msgx_core.model.message import SchedulePackage
from msgx_core.model.request import BindRequest, Request, RequestSlot
from msgx_core.model.schedule import Coverage, Nothing, SnapshotFlag, SnapshotResult
from msgx_core.pipeline.desk import Apply, Close, Decision, Desk, Work, dead, skipped, succeeded
from msgx_core.pipeline.handlers.common import bad_values, day_alert, observe
from msgx_core.rules.coverage import CheckedPackage, check_package, coverage_text, dnld_coverage
from msgx_core.rules.requests import ScheduleAnswer, match_schedule_answer
from msgx_core.rules.schedule import plan_schedule, schedule_query
from msgx_core.rules.snapshot_log import (
    LogContext,
    bare_rows,
    committed_rows,
    flag_alerts,
    flags_of,
    mark_sender,
)


@frozen
class _Case:
    """How this package is read: its coverage so far, and the request it answers."""

    coverage: Coverage
    request: Request | None = None
    ambiguous: bool = False


def decide_schedule(work: Work, desk: Desk) -> Decision:
    """All checks, then one `Change`; a protocol error rolls the attempt back and is logged."""
    body = work.message.body
    if not isinstance(body, SchedulePackage):
        raise Malformed("payload-missing:SCHD", tag="SCHD")
    case = _case(work, desk)
    if case is None:
        return Close(skipped("unmatched-response", "no open RQFD"))
    return _checked(work, desk, body, case)


def decide_covered(work: Work, desk: Desk, coverage: Coverage) -> Decision:
    """The same for a `RESP` whose coverage was found before: no request is looked at (D-36)."""
    body = work.message.body
    if not isinstance(body, SchedulePackage):
        raise Malformed("payload-missing:SCHD", tag="SCHD")
    return _checked(work, desk, body, _Case(coverage))


def _checked(work: Work, desk: Desk, body: SchedulePackage, case: _Case) -> Decision:
    coverage = case.coverage
    try:
        package = check_package(body, desk.policy)
        if work.message.meta.styp == "DNLD":
            coverage = dnld_coverage(package, desk.policy)
        return _decide(work, desk, package, evolve(case, coverage=coverage))
    except Protocol as error:
        work.locate(error)
        alerts = day_alert(error, work.msg_id)
        flags = (SnapshotFlag.DAY_MISMATCH,) if alerts else ()
        shared = _log_context(work, desk, len(body.records), flags)
        log = bare_rows(shared, coverage, SnapshotResult.ROLLED_BACK, desk.policy)
        return Close(dead(error), alerts, log)


def _case(work: Work, desk: Desk) -> _Case | None:
    """A `RESP` needs an open request (G-RESP-GUARD); a `DNLD` answers none."""
    if work.message.meta.styp == "DNLD":
        return _Case(Nothing())
    now = desk.clock.now()
    requests = desk.store.open_requests(RequestSlot.RQFD, now - desk.policy.late_window)
    answer: ScheduleAnswer | None = match_schedule_answer(requests, now, desk.policy.late_window)
    return None if answer is None else _Case(answer.coverage, answer.request, answer.ambiguous)


def _decide(work: Work, desk: Desk, package: CheckedPackage, case: _Case) -> Decision:
    meta, policy = work.message.meta, desk.policy
    snapshot = desk.read(schedule_query(package, case.coverage, meta.sndr))
    now = desk.clock.now()
    plan = plan_schedule(package, case.coverage, snapshot, msg_id=work.msg_id, now=now, policy=policy)
    observe(work, desk, snapshot, plan.truncated)
    flags = flags_of(meta, len(package.listed), snapshot.sender)
    detail, alerts = bad_values(work, plan.dropped)
    if case.ambiguous:
        alerts = (*alerts, Alert(AlertCode.AMBIGUOUS_ANSWER, work.msg_id))
    change = Change(
        msg_id=work.msg_id,
        at=now,
        outcome=succeeded(None, detail),
        flights=plan.flights,
        rosters=plan.rosters,
        roster_add=plan.roster_add,
        roster_remove=plan.roster_remove,
        request=None if case.request is None else BindRequest(case.request.request_id),
        sender=mark_sender(snapshot.sender, meta, len(package.listed)),
        alerts=(*alerts, *flag_alerts(work.msg_id, flags, plan.empty_days)),
        coverage=coverage_text(case.coverage),
    )
    shared = _log_context(work, desk, len(package.listed), flags)
    return Apply(change, committed_rows(shared, package, case.coverage, plan, snapshot, policy))


def _log_context(work: Work, desk: Desk, recs: int, flags: tuple[SnapshotFlag, ...]) -> LogContext:
    duration_ms = round(1000 * (desk.clock.monotonic_s() - work.started_s))
    return LogContext(work.msg_id, work.recv_at, recs, flags, duration_ms)
