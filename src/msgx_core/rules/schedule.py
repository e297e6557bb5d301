"""Schedules: what a checked package does to flights and rosters, all or nothing (IMP §7.1, FST §5, D-11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime

from attrs import frozen

from msgx_core.errors import Protocol
from msgx_core.model.change import FlightPut, FlightQuery, FlightSnapshot, RosterReplace
from msgx_core.model.flight import DeleteReason, FlightState, FlightStatus
from msgx_core.model.schedule import Coverage, Days, Interval
from msgx_core.rules.codeshare import Draft, delete_draft, spread
from msgx_core.rules.coverage import CheckedPackage, Listed, check_scope
from msgx_core.rules.merge import merge_complete
from msgx_core.rules.policy import Policy
from msgx_core.rules.records import BadValue, RecordValues, read_record
from msgx_core.rules.values import parse_flid
from msgx_core.rules.versions import step


@frozen
class SchedulePlan:
    """Everything a package changes, and what the log and the alerts say about it.

    `deleted` maps each covered day (None: not bound to one) to the flights deleted by absence there;
    `empty_days` are covered days without any record in a package that has records.
    """

    flights: tuple[FlightPut, ...]
    rosters: tuple[RosterReplace, ...]
    roster_add: Mapping[int, date]
    roster_remove: frozenset[int]
    deleted: Mapping[date | None, frozenset[int]]
    empty_days: frozenset[date]
    dropped: tuple[BadValue, ...]
    truncated: int


def schedule_query(package: CheckedPackage, coverage: Coverage, sndr: str) -> FlightQuery:
    """What must be read to decide about a package."""
    maids = (parse_flid(item.record.values.get("MAID", "")) for item in package.listed)
    return FlightQuery(
        flids=package.flids,
        maids=frozenset(m for m in maids if m is not None),
        roster_days=coverage.days if isinstance(coverage, Days) else frozenset(),
        days=package.days,
        interval=(coverage.first, coverage.last) if isinstance(coverage, Interval) else None,
        sndr=sndr,
    )


def plan_schedule(
    package: CheckedPackage,
    coverage: Coverage,
    snapshot: FlightSnapshot,
    *,
    msg_id: int,
    now: datetime,
    policy: Policy,
) -> SchedulePlan:
    """Decide a whole package; raises `Protocol` and then nothing of it may be written (INV-4).

    Checks scope, collections and limits, day ownership and roster, in this order (D-12). `snapshot` is the
    answer to `schedule_query`. By absence nothing outside the coverage is deleted (INV-7).

    >>> from datetime import UTC
    >>> from msgx_core.model.message import FlightRecord, SchedulePackage
    >>> from msgx_core.model.schedule import Nothing
    >>> from msgx_core.rules.coverage import check_package
    >>> policy, now = Policy(), datetime(2027, 3, 14, tzinfo=UTC)
    >>> record = FlightRecord("7", {"FLNO": "QX7", "SODT": "14MAR270805"})
    >>> package = check_package(SchedulePackage("1", (record,)), policy)
    >>> plan = plan_schedule(package, Nothing(), FlightSnapshot(), msg_id=1, now=now, policy=policy)
    >>> [(put.state.flid, put.state.version, put.changed) for put in plan.flights]
    [(7, 1, ('FLNO', 'SODT'))]
    """
    check_scope(package, coverage)
    values = [
        read_record(item.record, item.flid, index=item.index, max_points=policy.route_max_points)
        for item in package.listed
    ]
    days = _own_days(package.listed, snapshot)
    members = _members(package, days, coverage)
    deleted = _absent(package.flids, members, coverage, snapshot)
    drafts = _drafts(package.listed, values, days, snapshot)
    for flid in sorted(f for flids in deleted.values() for f in flids):
        drafts[flid] = delete_draft(snapshot.flights[flid], DeleteReason.SNAPSHOT_ABSENT)
    family = spread(drafts, snapshot)
    rosters = _rosters(members, snapshot) if isinstance(coverage, Days) else ()
    return SchedulePlan(
        flights=step(family, snapshot, msg_id=msg_id, now=now, policy=policy, rosters=rosters),
        rosters=rosters,
        roster_add={} if isinstance(coverage, Days) else {f: d for f, d in days.items() if d is not None},
        roster_remove=frozenset(d.flid for d in family.drafts.values() if not d.is_live),
        deleted=deleted,
        empty_days=_empty_days(package, members, coverage),
        dropped=tuple(bad for read in values for bad in read.dropped),
        truncated=sum(read.truncated for read in values),
    )


def own_day(
    flid: int, wanted: date | None, before: FlightState | None, record: int | None = None
) -> date | None:
    """The day a flight has after a record that says `wanted`: bound once, never moved (D-10, FST §5.3).

    Raises `Protocol` `SAME_FLID_ACROSS_OPERATION_DAYS`.
    """
    bound = None if before is None else before.operation_day
    if bound is not None and wanted is not None and bound != wanted:
        raise Protocol(
            "SAME_FLID_ACROSS_OPERATION_DAYS",
            flid=flid,
            tag="SODT",
            text=f"{wanted}, bound to {bound}",
            record=record,
        )
    return wanted if bound is None else bound


def _own_days(listed: Iterable[Listed], snapshot: FlightSnapshot) -> dict[int, date | None]:
    return {i.flid: own_day(i.flid, i.day, snapshot.flights.get(i.flid), i.index) for i in listed}


def _members(
    package: CheckedPackage, days: Mapping[int, date | None], coverage: Coverage
) -> dict[date, frozenset[int]]:
    """The new roster of each covered day that gets one."""
    if not isinstance(coverage, Days):
        return {}
    found: dict[date, set[int]] = {day: set() for day in coverage.days}
    for flid, day in days.items():
        if day is not None:
            found[day].add(flid)
    return {day: frozenset(flids) for day, flids in found.items() if flids or not package.listed}


def _absent(
    listed: frozenset[int],
    members: Mapping[date, frozenset[int]],
    coverage: Coverage,
    snapshot: FlightSnapshot,
) -> dict[date | None, frozenset[int]]:
    """Live flights inside the coverage that the package lacks: O − N, or the interval (D-11)."""
    if isinstance(coverage, Interval):
        missing = snapshot.in_interval - listed
        return {None: frozenset(f for f in missing if snapshot.flights[f].is_live)}
    deleted: dict[date | None, frozenset[int]] = {}
    for day in sorted(members):
        roster = snapshot.rosters.get(day)
        gone = () if roster is None else sorted(roster.flids - listed)
        deleted[day] = frozenset(flid for flid in gone if _lives_on(flid, day, snapshot))
    return deleted


def _lives_on(flid: int, day: date, snapshot: FlightSnapshot) -> bool:
    """Whether a member of O − N is to be deleted; one under another day fails the package (FST §5.5)."""
    state = snapshot.flights.get(flid)
    if state is None or not state.is_live:
        return False
    if state.operation_day != day:
        raise Protocol(
            f"roster-day-mismatch:{flid}", flid=flid, text=f"roster of {day}, flight of {state.operation_day}"
        )
    return True


def _drafts(
    listed: Iterable[Listed],
    values: Iterable[RecordValues],
    days: Mapping[int, date | None],
    snapshot: FlightSnapshot,
) -> dict[int, Draft]:
    return {
        item.flid: Draft(
            item.flid,
            snapshot.flights.get(item.flid),
            FlightStatus.ACTIVE,
            days[item.flid],
            merge_complete(read),
            raw_sections=item.record.raw_sections,
        )
        for item, read in zip(listed, values, strict=True)
    }


def _rosters(members: Mapping[date, frozenset[int]], snapshot: FlightSnapshot) -> tuple[RosterReplace, ...]:
    return tuple(
        RosterReplace(day, snapshot.rosters[day].version if day in snapshot.rosters else 0, members[day])
        for day in sorted(members)
    )


def _empty_days(
    package: CheckedPackage, members: Mapping[date, frozenset[int]], coverage: Coverage
) -> frozenset[date]:
    if not isinstance(coverage, Days) or not package.listed:
        return frozenset()
    return frozenset(coverage.days - set(members))
