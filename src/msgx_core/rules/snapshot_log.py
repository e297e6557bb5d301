"""Flags, digests and rows of the schedule log; a trace, never read by a decision (FST §5.6, D-16, H-53)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import date, datetime

from attrs import evolve, frozen

from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.change import FlightSnapshot
from msgx_core.model.message import Meta
from msgx_core.model.schedule import (
    Coverage,
    Days,
    Roster,
    SenderMark,
    SnapshotFlag,
    SnapshotLogRow,
    SnapshotResult,
)
from msgx_core.rules.coverage import CheckedPackage
from msgx_core.rules.operation_day import day_bounds
from msgx_core.rules.policy import Policy
from msgx_core.rules.schedule import SchedulePlan

DROP_FROM_RECS = 20


def flid_digest(flids: Iterable[int]) -> str:
    """SHA-256 of the sorted FLIDs joined by commas (H-53)."""
    return hashlib.sha256(",".join(map(str, sorted(flids))).encode()).hexdigest()


def mark_sender(held: SenderMark | None, meta: Meta, schedule_recs: int | None = None) -> SenderMark:
    """The sender's mark after this message; `schedule_recs` for a schedule that commits."""
    mark = SenderMark(meta.sndr, int(meta.seqn), meta.dttm) if held is None else held
    mark = evolve(mark, seqn=int(meta.seqn), dttm=meta.dttm)
    if schedule_recs is None:
        return mark
    if meta.styp == "DNLD":
        return evolve(mark, schedule_dttm=meta.dttm, dnld_recs=schedule_recs)
    return evolve(mark, schedule_dttm=meta.dttm, resp_recs=schedule_recs)


def seqn_regressed(held: SenderMark | None, meta: Meta) -> bool:
    """Whether the sender's `SEQN` went down; observed, never blocks (R-129)."""
    return held is not None and int(meta.seqn) < held.seqn


def flags_of(meta: Meta, recs: int, held: SenderMark | None) -> tuple[SnapshotFlag, ...]:
    """What is odd about a schedule, compared with its sender's last ones (H-53)."""
    flags = [SnapshotFlag.EMPTY] if recs == 0 else []
    if held is not None:
        last = held.dnld_recs if meta.styp == "DNLD" else held.resp_recs
        if last is not None and last >= DROP_FROM_RECS and 2 * recs < last:
            flags.append(SnapshotFlag.RECS_DROP)
        if held.schedule_dttm is not None and meta.dttm < held.schedule_dttm:
            flags.append(SnapshotFlag.OUT_OF_ORDER)
        if seqn_regressed(held, meta):
            flags.append(SnapshotFlag.SEQN_REGRESSION)
    return tuple(flags)


def flag_alerts(msg_id: int, flags: Iterable[SnapshotFlag], empty_days: Iterable[date]) -> tuple[Alert, ...]:
    """One alert per flag; covered days without a record are EMPTY too (D-11)."""
    alerts = [Alert(AlertCode(flag.value), msg_id) for flag in flags if flag is not SnapshotFlag.DAY_MISMATCH]
    days = ", ".join(day.isoformat() for day in sorted(empty_days))
    if days:
        alerts.append(Alert(AlertCode.EMPTY, msg_id, detail=f"no record for {days}; roster kept"))
    return tuple(alerts)


@frozen
class LogContext:
    """What all rows of one attempt share."""

    msg_id: int
    recv_at: datetime
    recs: int | None = None
    flags: tuple[SnapshotFlag, ...] = ()
    duration_ms: int | None = None

    def row(self, result: SnapshotResult) -> SnapshotLogRow:
        """A row with nothing but the shared values."""
        return SnapshotLogRow(
            msg_id=self.msg_id,
            recv_at=self.recv_at,
            result=result,
            recs=self.recs,
            flags=self.flags,
            duration_ms=self.duration_ms,
        )


def committed_rows(
    shared: LogContext,
    package: CheckedPackage,
    coverage: Coverage,
    plan: SchedulePlan,
    snapshot: FlightSnapshot,
    policy: Policy,
) -> tuple[SnapshotLogRow, ...]:
    """One row per covered day, else one for the attempt."""
    if isinstance(coverage, Days) and coverage.days:
        new = {roster.day: roster.flids for roster in plan.rosters}
        return tuple(
            _day_row(shared, day, plan, snapshot.rosters.get(day), new, policy)
            for day in sorted(coverage.days)
        )
    instants = sorted(item.sodt_at for item in package.listed if item.sodt_at is not None)
    row = evolve(
        shared.row(SnapshotResult.COMMITTED),
        scope_start=instants[0] if instants else None,
        scope_end=instants[-1] if instants else None,
        deleted_count=sum(len(flids) for flids in plan.deleted.values()),
        new_flid_digest=flid_digest(package.flids),
    )
    return (row,)


def _day_row(
    shared: LogContext,
    day: date,
    plan: SchedulePlan,
    old: Roster | None,
    new: Mapping[date, frozenset[int]],
    policy: Policy,
) -> SnapshotLogRow:
    version = 0 if old is None else old.version
    before = frozenset() if old is None else old.flids
    after = new.get(day, before)
    start, end = day_bounds(day, policy)
    flags = shared.flags
    if day in plan.empty_days and SnapshotFlag.EMPTY not in flags:
        flags = (*flags, SnapshotFlag.EMPTY)
    return evolve(
        shared.row(SnapshotResult.COMMITTED),
        operation_day=day,
        scope_start=start,
        scope_end=end,
        old_version=version,
        new_version=version + 1 if day in new else version,
        deleted_count=len(plan.deleted.get(day, ())),
        flags=flags,
        old_flid_digest=flid_digest(before),
        new_flid_digest=flid_digest(after),
    )


def bare_rows(
    shared: LogContext, coverage: Coverage, result: SnapshotResult, policy: Policy
) -> tuple[SnapshotLogRow, ...]:
    """Rows of an attempt that was rolled back or only finished: per covered day, else one."""
    if not isinstance(coverage, Days) or not coverage.days:
        return (shared.row(result),)
    rows = []
    for day in sorted(coverage.days):
        start, end = day_bounds(day, policy)
        rows.append(evolve(shared.row(result), operation_day=day, scope_start=start, scope_end=end))
    return tuple(rows)
