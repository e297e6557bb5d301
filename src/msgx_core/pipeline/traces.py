"""The rules that a message met, in their order, each with its source and what it came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from attrs import frozen

from msgx_core.model.change import Change, FlightPut
from msgx_core.model.flight import DeleteReason
from msgx_core.model.message import DecodedMessage, FlightRecord, MsgKind, ReferencePackage, SchedulePackage
from msgx_core.model.proc import Outcome
from msgx_core.model.reference import PutRecord, RefChange, RemoveRecord, ReplaceCategory
from msgx_core.model.schedule import Coverage, Days, Interval
from msgx_core.model.sis import FLOP_ROWS
from msgx_core.rules.coverage import parse_coverage
from msgx_core.rules.merge import flop_flid, read_flop
from msgx_core.rules.policy import Policy


@frozen
class Ruled:
    """One rule applied: what it is, where it comes from, what it came to."""

    rule: str
    source: str
    result: str


def traced(message: DecodedMessage, change: Change, policy: Policy) -> Iterator[Ruled]:
    """The rules behind a change, in the order in which they were applied."""
    match message.kind:
        case MsgKind.SCHEDULE:
            yield from _schedule(message, change, policy)
        case MsgKind.ADFT:
            yield Ruled(
                "an ADFT has one record and only sets", "IMP §12.3, D-17", "empty tags change nothing"
            )
            yield from _days(change)
        case MsgKind.FLOP:
            yield from _flop(message, change, policy)
        case MsgKind.FDEL:
            result = change.outcome.reason or "ACTIVE → DELETED, off its roster"
            yield Ruled("a deletion is soft", "IMP §12.3, D-06", result)
        case MsgKind.REFERENCE | MsgKind.RESOURCE_STATUS:
            yield from _reference(message, change)
        case _:
            yield Ruled("an error answer closes the request it names", "IMP §7.2, D-32", "FAILED(eror)")
    yield from _code_share(change.flights)
    yield from _events(change)
    yield from _rest(change)


def _schedule(message: DecodedMessage, change: Change, policy: Policy) -> Iterator[Ruled]:
    body = message.body
    count = len(body.records) if isinstance(body, SchedulePackage) else 0
    yield Ruled("checks before anything is written", "D-12", f"{count} records, as declared; no flight twice")
    coverage = parse_coverage(change.coverage)
    how = (
        f"msgx.schd.dnld-coverage = {policy.dnld_coverage.value}"
        if message.meta.styp == "DNLD"
        else "the request that it answers"
    )
    yield Ruled("coverage decides deletion by absence", "D-11", f"{_covered(coverage)} ({how})")
    yield from _days(change)
    replaced = sum(put.state.is_live and put.reason is None for put in change.flights)
    yield Ruled("a complete record replaces", "IMP §12.1, D-14", f"{replaced} flights put")
    absent = _named(put for put in change.flights if put.reason is DeleteReason.SNAPSHOT_ABSENT)
    yield Ruled("absence deletes inside the coverage alone", "D-11, INV-7", absent or "nothing is absent")
    for roster in change.rosters:
        result = f"{roster.day}: {len(roster.flids)} flights, generation {roster.read_version + 1}"
        yield Ruled("a covered day replaces its roster", "FST §5.4, D-11", result)
    if change.roster_add:
        yield Ruled(
            "each complete record is on the roster of its day", "D-11", f"{len(change.roster_add)} added"
        )


def _covered(coverage: Coverage) -> str:
    match coverage:
        case Days(days):
            return "whole days " + ", ".join(sorted(day.isoformat() for day in days))
        case Interval(first, last):
            return f"from {first.isoformat()} to {last.isoformat()}"
        case _:
            return "nothing: it only upserts"


def _days(change: Change) -> Iterator[Ruled]:
    days = Counter(str(put.state.operation_day or "none") for put in change.flights if put.reason is None)
    if days:
        shown = ", ".join(f"{day}: {n}" for day, n in sorted(days.items()))
        yield Ruled("the day comes from SODT and never changes", "IMP §11.2, D-09, D-10", shown)


def until_closed(message: DecodedMessage, outcome: Outcome, policy: Policy) -> Iterator[Ruled]:
    """What was applied before the rule that ended a message without effects."""
    if message.kind is MsgKind.FLOP and outcome.reason != "unsupported":
        yield from _flop_read(message, policy)


def _flop_read(message: DecodedMessage, policy: Policy) -> Iterator[Ruled]:
    styp = message.meta.styp
    row = FLOP_ROWS[styp]
    yield Ruled("msgx.flop.whitelist, before the body is read", "D-18", f"{styp} is let in ({row.section})")
    if isinstance(message.body, FlightRecord):
        update = read_flop(styp, message.body, max_points=policy.route_max_points)
        sets, clears = " ".join(update.sets), " ".join(sorted(update.clears))
        parts = [f"sets {sets}" if sets else "", f"clears {clears}" if clears else ""]
        said = "; ".join(part for part in parts if part)
        yield Ruled("present replaces, empty clears, absent stays", "IMP §12.2, D-18", said)


def _flop(message: DecodedMessage, change: Change, policy: Policy) -> Iterator[Ruled]:
    yield from _flop_read(message, policy)
    if isinstance(message.body, FlightRecord):
        flid = flop_flid(message.body)
        new = any(put.state.flid == flid and put.read_version is None for put in change.flights)
        result = "unknown: made, without a day" if new else "it is live"
        yield Ruled("the flight's life decides", "D-07, D-08", result)


def _reference(message: DecodedMessage, change: Change) -> Iterator[Ruled]:
    body = message.body
    count = len(body.records) if isinstance(body, ReferencePackage) else 0
    yield Ruled("RECS equals the records", "D-40", f"{count} records")
    if message.kind is MsgKind.RESOURCE_STATUS:
        yield Ruled("each record overwrites its resource", "IMP §13.4, R-425", f"{len(change.reference)} put")
        return
    for text, n in Counter(map(_referred, change.reference)).items():
        yield Ruled("full lists replace, increments put or remove", "IMP §13.3, D-40", f"{text} × {n}")


def _referred(change: RefChange) -> str:
    match change:
        case ReplaceCategory(rtype, records):
            return f"{rtype} replaced by {len(records)} records"
        case PutRecord(record):
            return f"{record.rtype} put"
        case RemoveRecord(rtype, _):
            return f"{rtype} removed"


def _code_share(puts: Sequence[FlightPut]) -> Iterator[Ruled]:
    cascaded = _named(put for put in puts if put.reason is DeleteReason.CASCADE)
    if cascaded:
        yield Ruled("deleting a main flight deletes its shared ones", "IMP §11.4, D-21", cascaded)
    listed = _named(put for put in puts if "MAFL" in put.changed)
    if listed:
        yield Ruled("a change of MAFL is a change of the main flight", "IMP §11.4, D-21", listed)


def _events(change: Change) -> Iterator[Ruled]:
    advanced = [put for put in change.flights if put.advanced]
    same = len(change.flights) - len(advanced)
    if change.flights:
        more = f"; {same} came out the same" if same else ""
        yield Ruled("one version step a flight and message", "D-15", f"{len(advanced)} steps{more}")
        full = sum(put.document is not None for put in advanced)
        yield Ruled(
            "events in the same transaction", "IMP §8, D-27, D-29", f"{len(advanced)} msg, {full} schd"
        )


def _rest(change: Change) -> Iterator[Ruled]:
    if change.roster_remove:
        yield Ruled("what is deleted leaves its roster", "D-06, D-11", f"{len(change.roster_remove)} flights")
    if change.request is not None:
        yield Ruled("an answer closes its request", "D-32", f"request {change.request.request_id}")
    for alert in change.alerts:
        yield Ruled(
            "alerts are written with what they report", "D-41", f"{alert.code.value} {alert.detail or ''}"
        )


def _named(puts: Iterator[FlightPut]) -> str:
    flids = [str(put.state.flid) for put in puts]
    more = f" and {len(flids) - 10} more" if len(flids) > 10 else ""
    return f"flights {' '.join(flids[:10])}{more}" if flids else ""
