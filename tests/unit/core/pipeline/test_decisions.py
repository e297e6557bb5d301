"""Where rules meet messages: what is asked of the store, and what a decision says about a fault."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from attrs import define, evolve, field

from msgx_core.errors import Malformed, MessageError
from msgx_core.model.alert import AlertCode
from msgx_core.model.change import FlightQuery, FlightSnapshot
from msgx_core.model.flight import FlightStatus
from msgx_core.model.message import Body, DecodedMessage, ErrorAnswer, ReferencePackage, kind_of
from msgx_core.model.proc import MessageState
from msgx_core.model.request import BindRequest, FailRequest, Request, RequestSlot, RequestState
from msgx_core.model.schedule import DnldCoverage, SnapshotFlag, SnapshotResult
from msgx_core.pipeline.desk import Apply, Close, Decision, Desk, Work
from msgx_core.pipeline.handlers import decide
from msgx_core.ports.telemetry import Silent
from msgx_core.rules.policy import Policy
from msgx_core.testing.clock import ManualClock
from tests.unit.core.build import DAY, NEXT_DAY, NOW, POLICY, flight, meta, node, package, record, sodt
from tests.unit.core.world import World

SINGLE_DAY = evolve(POLICY, dnld_coverage=DnldCoverage.SINGLE_DAY)
ASKED = Request(3, RequestSlot.RQFD, RequestState.SENT, NOW, first_day=DAY, last_day=DAY, sent_at=NOW)
GATES = Request(4, RequestSlot.RQRD, RequestState.SENT, NOW, rtype="GLST", sent_at=NOW)


@define
class Reads:
    """The reading side of a store, over a `World`."""

    world: World = field(factory=World)
    requests: tuple[Request, ...] = ()

    def read(self, query: FlightQuery) -> FlightSnapshot:
        return self.world.read(query)

    def open_requests(self, slot: RequestSlot, expired_since: datetime | None = None) -> list[Request]:
        return [r for r in self.requests if r.slot is slot and (r.is_open or expired_since is not None)]


def decided(
    type_: str, styp: str, body: Body | None, reads: Reads | None = None, policy: Policy = POLICY
) -> Decision:
    def locate(error: MessageError) -> None:
        error.line, error.column = 12, 34

    store: Any = Reads() if reads is None else reads
    message = DecodedMessage(meta(type_, styp), kind_of(type_, styp), body)
    return decide(Work(5, message, NOW, 0.0, locate), Desk(store, ManualClock(NOW), policy, Silent()))


def applied(*message: Any, **how: Any) -> Apply:
    decision = decided(*message, **how)
    assert isinstance(decision, Apply)
    return decision


def closed(*message: Any, **how: Any) -> Close:
    decision = decided(*message, **how)
    assert isinstance(decision, Close)
    return decision


@pytest.mark.parametrize("before", [None, flight(7, day=None), flight(7, live=False)])
def test_an_adft_event_carries_the_generation_of_its_day(before: Any) -> None:
    """D-28: also when the flight is new, adopted or rebuilt."""
    world = World.of(*[] if before is None else [before], covered={DAY: 3})
    put = applied(
        "SCHD", "ADFT", package(record(7, SODT=sodt()), recs=None), reads=Reads(world)
    ).change.flights[0]
    assert json.loads(put.notice or "")["DAY_VERSION"] == 3


@pytest.mark.parametrize(
    ("styp", "body"),
    [
        ("DNLD", package(record(1), record(1))),
        ("DNLD", package(record(7, SODT=sodt(NEXT_DAY)))),
        ("ADFT", package(record(7, SODT=sodt(NEXT_DAY)))),
    ],
)
def test_the_detail_of_a_dead_package_says_where(styp: str, body: Any) -> None:
    """D-25: line, column, flight, tag."""
    close = closed("SCHD", styp, body, reads=Reads(World.of(flight(7))))
    assert (close.outcome.state, close.outcome.code) == (MessageState.DEAD, "PROTOCOL")
    assert (close.outcome.detail or "").startswith("line 12, column 34, record ")


def test_a_day_conflict_is_logged_and_alerted() -> None:
    """R-128, R-165, R-285, R-437, D-10, D-16: `ROLLED_BACK` with `DAY_MISMATCH`, for a schedule and for an
    ADFT."""
    for styp in ("DNLD", "ADFT"):
        close = closed(
            "SCHD", styp, package(record(7, SODT=sodt(NEXT_DAY))), reads=Reads(World.of(flight(7)))
        )
        assert close.outcome.reason == "SAME_FLID_ACROSS_OPERATION_DAYS"
        assert [a.code for a in close.alerts] == [AlertCode.SAME_FLID_ACROSS_OPERATION_DAYS]
        assert [(r.result, r.flags) for r in close.log] == [
            (SnapshotResult.ROLLED_BACK, (SnapshotFlag.DAY_MISMATCH,))
        ]


def test_a_rolled_back_single_day_is_logged_under_its_day() -> None:
    """D-16: one row per attempt and day, once the coverage is known."""
    close = closed(
        "SCHD", "DNLD", package(record(7, SODT=sodt(NEXT_DAY))), Reads(World.of(flight(7))), SINGLE_DAY
    )
    assert [row.operation_day for row in close.log] == [NEXT_DAY]


def test_an_answer_needs_an_open_request() -> None:
    """R-171, D-22, D-32: skipped without one, bound to the one there is, covering its days."""
    body = package(record(1, SODT=sodt()))
    assert closed("SCHD", "RESP", body).outcome.reason == "unmatched-response"
    change = applied("SCHD", "RESP", body, reads=Reads(requests=(ASKED,))).change
    assert (change.request, [r.day for r in change.rosters]) == (BindRequest(3), [DAY])


def test_an_ambiguous_answer_only_upserts() -> None:
    """R-346, D-32: alert, nothing bound, nothing covered, nothing deleted."""
    late = evolve(
        ASKED, request_id=2, state=RequestState.EXPIRED, first_day=NEXT_DAY, last_day=NEXT_DAY, closed_at=NOW
    )
    reads = Reads(World.of(flight(1), flight(2), covered={DAY: 1}), (ASKED, late))
    change = applied("SCHD", "RESP", package(record(1, SODT=sodt())), reads=reads).change
    assert (change.request, change.rosters, change.coverage) == (None, (), "{}")
    assert [a.code for a in change.alerts] == [AlertCode.AMBIGUOUS_ANSWER]
    assert [put.state.flid for put in change.flights] == [1]


def test_an_empty_answer_empties_its_day_with_an_alert() -> None:
    """D-12: legal; flag and alert `EMPTY`."""
    decision = applied("SCHD", "RESP", package(), reads=Reads(World.of(flight(1)), (ASKED,)))
    assert [put.state.status for put in decision.change.flights] == [FlightStatus.DELETED]
    assert [a.code for a in decision.change.alerts] == [AlertCode.EMPTY]
    assert [row.flags for row in decision.log] == [(SnapshotFlag.EMPTY,)]


def test_bad_values_raise_one_alert() -> None:
    """D-14, D-41: one per message, with the place of each in `DETAIL`."""
    for styp, sent in (
        ("DNLD", package(record(1, ESTT="x", MAXP="y"), record(2, ESTT="z"))),
        ("ADFT", package(record(1, ESTT="x"))),
    ):
        change = applied("SCHD", styp, sent).change
        assert [a.code for a in change.alerts] == [AlertCode.BAD_VALUE]
        assert "record 1, flight 1, tag ESTT" in (change.outcome.detail or "")


def test_the_whitelist_speaks_before_the_body() -> None:
    """R-210, D-18: an unsupported `STYP` is skipped however broken its body is."""
    for styp in ("ESTT", "SRVT", "NEW"):
        assert closed("FLOP", styp, None).outcome.reason == "unsupported"
    with pytest.raises(Malformed, match=r"^payload-missing:FLOP$"):
        decided("FLOP", "GTDT", None)


def test_fdel_is_not_on_any_whitelist() -> None:
    """D-06: its own kind; gone already is a success without effect."""
    policy = evolve(POLICY, flop_whitelist=frozenset())
    change = applied("FLOP", "FDEL", record("0007", FDEL=""), Reads(World.of(flight(7))), policy).change
    assert (len(change.flights), set(change.roster_remove)) == (1, {7})
    gone = applied("FLOP", "FDEL", record(7, FDEL=""), Reads(), policy).change
    assert (gone.outcome.state, gone.outcome.reason, gone.flights) == (
        MessageState.SUCCEEDED,
        "already-gone",
        (),
    )


@pytest.mark.parametrize(("count", "reason"), [(0, "adft-records:0"), (2, "adft-records:2")])
def test_an_adft_has_exactly_one_record(count: int, reason: str) -> None:
    """D-17: `adft-records:<n>`; `RECS` is optional and right when present."""
    with pytest.raises(MessageError, match=rf"^{reason}$"):
        decided("SCHD", "ADFT", package(*(record(n + 1) for n in range(count)), recs=None))
    with pytest.raises(MessageError, match=r"^recs-mismatch:2!=1$"):
        decided("SCHD", "ADFT", package(record(1), recs="2"))


def test_a_reference_answer_updates_with_or_without_a_request() -> None:
    """D-32: bound to the open request of its category, applied all the same without one."""
    body = ReferencePackage("1", (node("GLST", GCOD="B07"),))
    assert applied("GLST", "RESP", body, reads=Reads(requests=(GATES,))).change.request == BindRequest(4)
    alone = applied("GLST", "RESP", body).change
    assert (alone.request, len(alone.reference)) == (None, 1)


def test_an_error_answer_fails_its_request() -> None:
    """D-32, R-338: FAILED with an alert; unmatched it is skipped, with a reason of the list."""
    change = applied("EROR", "X", ErrorAnswer(in_type="RQFD"), reads=Reads(requests=(ASKED, GATES))).change
    assert (change.request, [a.code for a in change.alerts]) == (FailRequest(3, "eror"), [AlertCode.EROR])
    both = closed("EROR", "X", ErrorAnswer(), reads=Reads(requests=(ASKED, GATES)))
    assert (both.outcome.reason, closed("EROR", "X", None).outcome.reason) == (
        "ambiguous-error",
        "no-open-request",
    )


def test_the_clock_is_the_only_source_of_time() -> None:
    """R-077: two decisions at the same time are the same; the day is not that of the clock (R-281)."""
    body = package(record(1, SODT=sodt(DAY - timedelta(days=300))))
    assert decided("SCHD", "DNLD", body) == decided("SCHD", "DNLD", body)
    assert applied("SCHD", "DNLD", body).change.flights[0].state.operation_day == DAY - timedelta(days=300)
