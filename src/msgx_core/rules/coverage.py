"""What a schedule package is complete for: that alone decides deletion by absence (D-11)."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta

from attrs import field, frozen

from msgx_core.errors import Protocol
from msgx_core.model.message import FlightRecord, SchedulePackage
from msgx_core.model.schedule import Coverage, Days, DnldCoverage, Interval, Nothing
from msgx_core.rules.operation_day import instant_of, operation_day
from msgx_core.rules.policy import Policy
from msgx_core.rules.values import parse_flid, parse_time

MAX_RECS = 9999


@frozen
class Listed:
    """One record of a package with its FLID and, where `SODT` is legal, its instant and day."""

    index: int
    flid: int
    record: FlightRecord
    sodt_at: datetime | None = None
    day: date | None = None


@frozen
class CheckedPackage:
    """A package whose counts and FLIDs are right (first part of D-12)."""

    listed: tuple[Listed, ...]
    flids: frozenset[int] = field(init=False)
    days: frozenset[date] = field(init=False)

    @flids.default
    def _flids(self) -> frozenset[int]:
        return frozenset(item.flid for item in self.listed)

    @days.default
    def _days(self) -> frozenset[date]:
        return frozenset(item.day for item in self.listed if item.day is not None)


def check_count(recs: str | None, actual: int, *, largest: int = MAX_RECS) -> None:
    """`RECS` is there, in range, and equal to the records; else `Protocol` (D-12, R-173, R-174)."""
    if not recs:
        raise Protocol("recs-missing", tag="RECS")
    if not (recs.isascii() and recs.isdigit()) or len(recs) > 9 or int(recs) > largest:
        raise Protocol(f"recs-range:{recs[:40]}", tag="RECS", text=recs)
    if int(recs) != actual:
        raise Protocol(f"recs-mismatch:{int(recs)}!={actual}", tag="RECS", text=recs)


def check_package(package: SchedulePackage, policy: Policy) -> CheckedPackage:
    """Counts, FLIDs and repetitions, in the order of D-12; raises `Protocol`."""
    check_count(package.recs, len(package.records))
    flids = [parse_flid(record.flid or "") for record in package.records]
    for index, (flid, record) in enumerate(zip(flids, package.records, strict=True)):
        if flid is None:
            text = record.flid or ""
            raise Protocol(f"flid-invalid:{text[:40]}", tag="FLID", text=text, record=index)
    seen: set[int] = set()
    listed = []
    for index, (flid, record) in enumerate(zip(flids, package.records, strict=True)):
        if flid is None or flid in seen:
            raise Protocol(f"duplicate-flid:{flid}", flid=flid, tag="FLID", record=index)
        seen.add(flid)
        listed.append(_listed(index, flid, record, policy))
    return CheckedPackage(tuple(listed))


def _listed(index: int, flid: int, record: FlightRecord, policy: Policy) -> Listed:
    local = parse_time(record.values.get("SODT", ""))
    if local is None:
        return Listed(index, flid, record)
    instant = instant_of(local, policy)
    return Listed(index, flid, record, instant, operation_day(instant, policy))


def dnld_coverage(package: CheckedPackage, policy: Policy) -> Coverage:
    """Coverage of a `DNLD` by `msgx.schd.dnld-coverage`; may need every `SODT` (`Protocol` if not)."""
    if policy.dnld_coverage is DnldCoverage.WINDOW or not package.listed:
        return Nothing()
    if policy.dnld_coverage is DnldCoverage.SINGLE_DAY:
        if len(package.days) > 1:
            return Nothing()
        need_sodt(package)
        return Days(package.days)
    need_sodt(package)
    instants = [item.sodt_at for item in package.listed if item.sodt_at is not None]
    return Interval(min(instants), max(instants))


def need_sodt(package: CheckedPackage) -> None:
    """Each record has a legal `SODT`, else `Protocol` (D-12)."""
    for item in package.listed:
        text = item.record.values.get("SODT", "")
        if item.sodt_at is None:
            reason = f"bad-time:SODT:{item.flid}" if text else f"sodt-missing:{item.flid}"
            raise Protocol(reason, flid=item.flid, tag="SODT", text=text or None, record=item.index)


def check_scope(package: CheckedPackage, coverage: Coverage) -> None:
    """With whole days covered, every record lies in one of them, else `Protocol` (D-11)."""
    if not isinstance(coverage, Days):
        return
    need_sodt(package)
    for item in package.listed:
        if item.day not in coverage.days:
            raise Protocol(
                f"out-of-scope:{item.flid}",
                flid=item.flid,
                tag="SODT",
                text=item.record.values.get("SODT"),
                record=item.index,
            )


def day_range(first: date, last: date) -> Days:
    """Every day from first to last, both inclusive."""
    return Days(frozenset(first + timedelta(days=n) for n in range((last - first).days + 1)))


def coverage_text(coverage: Coverage) -> str:
    """Coverage as kept in `PROC_STATE.COVERAGE`, for verification and the log."""
    match coverage:
        case Days(days):
            value: dict[str, object] = {"days": sorted(d.isoformat() for d in days)}
        case Interval(first, last):
            value = {"first": first.isoformat(), "last": last.isoformat()}
        case Nothing():
            value = {}
    return json.dumps(value)


def parse_coverage(text: str | None) -> Coverage:
    """The reverse of `coverage_text`."""
    value = json.loads(text or "{}")
    if "days" in value:
        return Days(frozenset(date.fromisoformat(d) for d in value["days"]))
    if "first" in value:
        return Interval(datetime.fromisoformat(value["first"]), datetime.fromisoformat(value["last"]))
    return Nothing()
