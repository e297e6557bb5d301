"""The checks of a package in their order: with two faults the earlier check speaks; nothing is written."""

from itertools import combinations

import pytest

from msgx_core.errors import Protocol
from msgx_core.model.message import FlightRecord, SchedulePackage
from msgx_core.model.schedule import Days, Roster
from msgx_core.rules.coverage import check_package
from msgx_core.rules.schedule import own_day, plan_schedule, schedule_query
from tests.unit.core.build import DAY, NEXT_DAY, NOW, POLICY, flight, package, record, sodt
from tests.unit.core.world import World

TODAY = Days(frozenset({DAY}))
BOUND_ELSEWHERE, LISTED_ELSEWHERE = 60, 70


def world() -> World:
    """60 is bound to the next day; 70 is on the roster of today and lives under the next day."""
    made = World.of(flight(BOUND_ELSEWHERE, day=NEXT_DAY), flight(LISTED_ELSEWHERE, day=NEXT_DAY))
    made.rosters[DAY] = Roster(DAY, 1, frozenset())
    return made


def right(flid: int = 1) -> FlightRecord:
    return record(flid, SODT=sodt())


FAULTS: dict[str, list[FlightRecord]] = {
    # in the order of D-12; the count and the roster are no records, see `faulty`
    "flid-invalid:x": [record("x", SODT=sodt())],
    "duplicate-flid:20": [right(20), right(20)],
    "sodt-missing:30": [record(30)],
    "out-of-scope:40": [record(40, SODT=sodt(NEXT_DAY))],
    "collection-mixed:GTDT": [record(50, SODT=sodt(), GTDT=[{"GTNO": "0"}, {"GATE": "B1"}])],
    "SAME_FLID_ACROSS_OPERATION_DAYS": [record(BOUND_ELSEWHERE, SODT=sodt())],
    f"roster-day-mismatch:{LISTED_ELSEWHERE}": [],
}
ORDER = ["recs-missing", *FAULTS]


def faulty(*reasons: str) -> tuple[World, SchedulePackage]:
    """A package with these faults, the later ones first in it; and the flights it meets."""
    records = [r for reason in reversed(ORDER) if reason in reasons for r in FAULTS.get(reason, [])]
    met = world()
    if f"roster-day-mismatch:{LISTED_ELSEWHERE}" in reasons:
        met.rosters[DAY] = Roster(DAY, 1, frozenset({LISTED_ELSEWHERE}))
    return met, package(right(), *records, recs=None if "recs-missing" in reasons else "right")


@pytest.mark.parametrize("reason", ORDER)
def test_each_fault_alone_rejects_the_whole_package(reason: str) -> None:
    """R-162, R-163, R-326, D-12, INV-4, R-179: the reason is the one of the closed list, and nothing is
    written."""
    met, body = faulty(reason)
    flights, rosters = dict(met.flights), dict(met.rosters)
    with pytest.raises(Protocol) as caught:
        met.schedule(body, TODAY)
    assert caught.value.reason == reason
    assert (met.flights, met.rosters) == (flights, rosters)


@pytest.mark.parametrize(("first", "second"), [*combinations(ORDER, 2)])
def test_the_earlier_check_wins(first: str, second: str) -> None:
    """D-12: the first failure in this order wins, wherever the records stand in the package."""
    met, body = faulty(first, second)
    with pytest.raises(Protocol) as caught:
        met.schedule(body, TODAY)
    assert caught.value.reason == first


@pytest.mark.parametrize(
    ("recs", "reason"), [("x", "recs-range:x"), ("10000", "recs-range:10000"), ("7", "recs-mismatch:7!=2")]
)
def test_the_count_speaks_before_a_flid(recs: str, reason: str) -> None:
    """D-12: all three checks of `RECS` come first."""
    with pytest.raises(Protocol) as caught:
        world().schedule(package(record("x"), record("x"), recs=recs))
    assert caught.value.reason == reason


def test_a_bad_sodt_is_fatal_only_where_coverage_needs_it() -> None:
    """D-12, D-14: without coverage it is a bad optional value."""
    met = world()
    plan = met.schedule(package(record(1, SODT="noon")))
    assert ([b.tag for b in plan.dropped], met.flights[1].operation_day) == (["SODT"], None)
    with pytest.raises(Protocol, match=r"^bad-time:SODT:1$"):
        met.schedule(package(record(1, SODT="noon")), TODAY)


def test_an_overfull_collection_speaks_before_the_day() -> None:
    """D-12, D-19: collections unmixed and within limits, then day ownership."""
    stands = [{"PSST": str(n)} for n in range(10)]
    with pytest.raises(Protocol, match=r"^collection-overflow:PSDT$") as caught:
        world().schedule(package(record(BOUND_ELSEWHERE, SODT=sodt()), record(5, PSDT=stands)))
    assert (caught.value.flid, caught.value.record) == (5, 1)


def test_a_flight_is_bound_to_one_day_for_ever() -> None:
    """R-283, R-284, R-291, D-10, R-191, R-330: a wrong day rejects the package even when the flight is
    deleted."""
    met = World.of(flight(1, live=False))
    with pytest.raises(Protocol, match=r"^SAME_FLID_ACROSS_OPERATION_DAYS$") as caught:
        met.schedule(package(right(2), record(1, SODT=sodt(NEXT_DAY))))
    assert (caught.value.flid, caught.value.tag, caught.value.record) == (1, "SODT", 1)
    assert caught.value.detail is not None
    assert "2027-03-15, bound to 2027-03-14" in caught.value.detail


@pytest.mark.parametrize(
    ("bound", "wanted", "day"), [(None, None, None), (None, DAY, DAY), (DAY, None, DAY), (DAY, DAY, DAY)]
)
def test_binding_a_day(bound: object, wanted: object, day: object) -> None:
    """R-188 to R-190: bound once; a record without `SODT` keeps it."""
    before = flight(1, day=DAY if bound else None)
    assert own_day(1, DAY if wanted else None, before) == day
    assert own_day(1, DAY, None) == DAY


def test_deleted_members_of_another_day_do_not_fail_the_package() -> None:
    """D-11: a flight of O − N that is already deleted is passed over, whatever its day."""
    met = world()
    met.flights[LISTED_ELSEWHERE] = flight(LISTED_ELSEWHERE, day=NEXT_DAY, live=False)
    met.rosters[DAY] = Roster(DAY, 1, frozenset({LISTED_ELSEWHERE}))
    assert met.schedule(package(right()), TODAY).deleted == {DAY: frozenset()}


def test_planning_without_the_scope_check_still_rejects() -> None:
    """D-11, architecture (Embedding): `plan_schedule` is public: `Protocol`, never a KeyError."""
    met = world()
    body = check_package(package(right(), record(40, SODT=sodt(NEXT_DAY))), POLICY)
    snapshot = met.read(schedule_query(body, TODAY, "AODB"))
    with pytest.raises(Protocol, match=r"^out-of-scope:40$"):
        plan_schedule(body, TODAY, snapshot, msg_id=2, now=NOW, policy=POLICY)
