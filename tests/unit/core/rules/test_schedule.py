"""A schedule package: replaces each flight it names, deletes by absence inside its coverage only."""

from datetime import date, timedelta
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.flight import DeleteReason, FlightState, FlightStatus
from msgx_core.model.message import FlightRecord
from msgx_core.model.schedule import Coverage, Days, Interval, Nothing, Roster
from msgx_core.rules.coverage import day_range
from msgx_core.rules.schedule import SchedulePlan
from tests.unit.core.build import DAY, NEXT_DAY, at, flight, package, record, sodt
from tests.unit.core.world import World

TODAY = Days(frozenset({DAY}))
BOTH = day_range(DAY, NEXT_DAY)


def today(flid: int, **fields: str) -> FlightRecord:
    return record(flid, SODT=sodt(), **fields)


def deleted(plan: SchedulePlan) -> set[int]:
    return {put.state.flid for put in plan.flights if not put.state.is_live}


def test_a_record_makes_a_flight_with_its_day() -> None:
    """R-188, R-281, D-11: created at version 1, on the roster of its day, by any complete record."""
    world = World()
    plan = world.schedule(package(today(1, FLNO="QX1"), record(2)))
    assert [(p.state.flid, p.state.version, p.read_version) for p in plan.flights] == [
        (1, 1, None),
        (2, 1, None),
    ]
    assert (world.flights[1].operation_day, world.flights[2].operation_day) == (DAY, None)
    assert dict(plan.roster_add) == {1: DAY}
    assert (plan.rosters, world.generation(DAY)) == ((), 0), "a roster without a generation (D-11)"


def test_a_record_replaces_all_fields() -> None:
    """R-169, R-184, D-14, R-187: what is not carried is cleared; the day stays even without `SODT`."""
    world = World.of(flight(1, SODT=sodt(), STND="2", GTDT=({"GATE": "B1"},)))
    world.schedule(package(record(1, FLNO="QX1")))
    assert dict(world.flights[1].fields) == {"FLNO": "QX1"}
    assert (world.flights[1].operation_day, world.flights[1].sodt_at) == (DAY, None)


def test_a_flight_without_day_is_adopted() -> None:
    """R-189, D-08: made by a FLOP, bound by the next schedule."""
    world = World.of(flight(1, day=None, STND="2"))
    world.schedule(package(today(1)), TODAY)
    assert (world.flights[1].operation_day, world.roster(DAY)) == (DAY, {1})


def test_a_deleted_flight_is_rebuilt_from_nothing() -> None:
    """D-07: active again, empty before the record, versions go on, the day stays bound."""
    world = World.of(flight(1, live=False, version=4, STND="2"))
    plan = world.schedule(package(record(1, FLNO="QX1")))
    assert (world.flights[1].status, world.flights[1].version) == (FlightStatus.ACTIVE, 5)
    assert (dict(world.flights[1].fields), world.flights[1].operation_day) == ({"FLNO": "QX1"}, DAY)
    assert plan.flights[0].changed == ("FLNO",), "all its tags, as of a new flight (D-28)"


def test_an_archived_flight_starts_above_its_floor() -> None:
    """D-37: the floor keeps no day."""
    world = World(floors={1: 9})
    world.schedule(package(record(1, SODT=sodt(NEXT_DAY))))
    assert (world.flights[1].version, world.flights[1].operation_day) == (10, NEXT_DAY)


def test_absence_from_a_covered_day_deletes() -> None:
    """R-199, R-319, R-323, D-11, R-325: upsert N, delete O − N, replace the roster, generation + 1; other
    days stay."""
    world = World.of(flight(1), flight(2), flight(3, day=NEXT_DAY), covered={DAY: 4, NEXT_DAY: 7})
    plan = world.schedule(package(today(1), today(9)), TODAY)
    assert deleted(plan) == {2}
    assert [p.reason for p in plan.flights if p.state.flid == 2] == [DeleteReason.SNAPSHOT_ABSENT]
    assert (plan.deleted, set(plan.roster_remove)) == ({DAY: frozenset({2})}, {2})
    assert (world.roster(DAY), world.generation(DAY)) == ({1, 9}, 5)
    assert (world.roster(NEXT_DAY), world.generation(NEXT_DAY)) == ({3}, 7)


def test_only_the_roster_is_the_basis_of_deletion() -> None:
    """D-11, R-327: a live flight of that day that no complete record ever carried stays."""
    world = World.of(flight(1))
    world.flights[5] = flight(5)
    world.schedule(package(today(1)), TODAY)
    assert world.live == {1, 5}


def test_members_that_are_gone_already_are_passed_over() -> None:
    """D-11, R-325: not existing or already deleted: nothing to do, no event."""
    world = World.of(flight(1))
    world.flights[2] = flight(2, live=False)
    world.rosters[DAY] = Roster(DAY, 1, frozenset({1, 2, 3}))
    plan = world.schedule(package(today(1)), TODAY)
    assert [p.state.flid for p in plan.flights] == [1]
    assert world.roster(DAY) == {1}


@pytest.mark.parametrize("coverage", [None, Nothing()])
def test_without_coverage_nothing_is_deleted(coverage: Coverage | None) -> None:
    """D-11, R-182: a window only upserts: no generation, no deletion."""
    world = World.of(flight(1), flight(2), covered={DAY: 3})
    plan = world.schedule(package(today(1)), coverage)
    assert (deleted(plan), len(plan.rosters), world.live) == (set(), 0, {1, 2})
    assert (world.roster(DAY), world.generation(DAY)) == ({1, 2}, 3)


def test_a_covered_day_without_records_keeps_everything() -> None:
    """D-11: in a package that has records, an empty day is doubt: roster and generation stay, flag EMPTY."""
    world = World.of(flight(1), flight(2, day=NEXT_DAY), covered={DAY: 1, NEXT_DAY: 1})
    plan = world.schedule(package(today(1)), BOTH)
    assert (deleted(plan), set(plan.empty_days)) == (set(), {NEXT_DAY})
    assert (world.generation(DAY), world.generation(NEXT_DAY)) == (2, 1)
    assert world.roster(NEXT_DAY) == {2}


def test_an_empty_package_clears_the_days_it_covers() -> None:
    """D-12, R-328: legal; each covered day loses its roster and gets a generation."""
    world = World.of(flight(1), flight(2, day=NEXT_DAY), covered={DAY: 1})
    plan = world.schedule(package(), BOTH)
    assert (deleted(plan), world.live, set(plan.empty_days)) == ({1, 2}, set(), set())
    assert (world.generation(DAY), world.generation(NEXT_DAY)) == (2, 1)


def test_an_empty_package_without_coverage_does_nothing() -> None:
    """D-12: it deletes nothing."""
    plan = World.of(flight(1)).schedule(package())
    assert (plan.flights, plan.rosters, plan.deleted) == ((), (), {})


def test_observed_deletes_inside_its_interval() -> None:
    """D-11: live flights whose `SODT` lies between first and last, ends included, and nothing else."""
    inside, edge, outside = (flight(n, SODT=sodt(hour=hour)) for n, hour in ((1, 10), (2, 12), (3, 13)))
    world = World.of(inside, edge, outside, flight(4))
    sent = package(record(8, SODT=sodt(hour=8)), record(9, SODT=sodt()))
    plan = world.schedule(sent, Interval(at(hour=8), at()))
    assert (deleted(plan), plan.deleted) == ({1, 2}, {None: frozenset({1, 2})})
    assert world.live == world.roster(DAY) == {3, 4, 8, 9}
    assert plan.rosters == ()


def test_raw_sections_are_replaced_as_a_whole() -> None:
    """R-020, D-39: a complete record without sections takes them away."""
    plan = World.of(flight(1)).schedule(
        package(today(1), evolve(record(2), raw_sections={"SRVT": "<SRVT/>"}))
    )
    assert [p.raw_sections for p in plan.flights] == [{}, {"SRVT": "<SRVT/>"}]


def test_bad_values_and_cut_routes_are_reported() -> None:
    """D-14, D-19: with record and tag, so that the alert can say where."""
    sent = record(2, SODT="noon", MAXP="x", ROUT=[{"APCD": str(n)} for n in range(6)])
    plan = World().schedule(package(today(1), sent))
    assert [(b.flid, b.tag, b.record) for b in plan.dropped] == [(2, "SODT", 1), (2, "MAXP", 1)]
    assert plan.truncated == 2


def test_the_order_of_events() -> None:
    """D-27: records as sent, then what is absent by FLID; ids are allocated in this order."""
    world = World.of(flight(4), flight(3), flight(5))
    plan = world.schedule(package(today(9), today(5), today(1)), TODAY)
    assert [p.state.flid for p in plan.flights] == [9, 5, 1, 3, 4]


DAYS = [DAY + timedelta(days=n) for n in range(-1, 3)]


@st.composite
def worlds(draw: st.DrawFn) -> World:
    def one(flid: int) -> FlightState:
        day = draw(st.sampled_from(DAYS))
        when = sodt(day, draw(st.integers(0, 23)))
        maid: dict[str, Any] = draw(st.sampled_from([{}, {"MAID": draw(st.integers(1, 8))}]))
        return flight(flid, day=day, live=draw(st.booleans()), SODT=when, **maid)

    return World.of(*(one(flid) for flid in draw(st.sets(st.integers(1, 8)))))


@st.composite
def packages(draw: st.DrawFn, world: World, days: list[date]) -> list[FlightRecord]:
    """Records that keep their day, so that the package is legal on those days."""

    def day_of(flid: int) -> date | None:
        held = world.flights.get(flid)
        return draw(st.sampled_from(days)) if held is None else held.operation_day

    chosen = {flid: day_of(flid) for flid in draw(st.sets(st.integers(1, 10)))}
    return [
        record(flid, SODT=sodt(day, draw(st.integers(0, 23))), MAID=str(draw(st.integers(0, 9)) or ""))
        for flid, day in chosen.items()
        if day in days
    ]


@given(st.data(), st.booleans())
def test_absence_never_deletes_outside_the_coverage(data: st.DataObject, whole_days: bool) -> None:
    """INV-7, D-11: whatever is there and whatever comes; the laws of `World` hold as well."""
    world = data.draw(worlds())
    covered = data.draw(st.lists(st.sampled_from(DAYS), min_size=1, unique=True))
    sent = data.draw(packages(world, covered))
    before, sent_flids = dict(world.flights), {int(r.flid or "") for r in sent}
    coverage: Coverage = Days(frozenset(covered))
    if not whole_days:
        coverage = Interval(at(covered[0], 0), at(covered[0], 23))
    plan = world.schedule(package(*sent), coverage)
    for put in plan.flights:
        held = before.get(put.state.flid)
        if put.reason is DeleteReason.SNAPSHOT_ABSENT:
            assert held is not None
            assert put.state.flid not in sent_flids
            inside = held.operation_day in covered if whole_days else _in(held, coverage)
            assert inside, "deleted inside only"
        if put.reason is DeleteReason.CASCADE:
            assert held is not None
            assert held.main_flid in deleted(plan)
    assert sent_flids <= world.live
    if whole_days:
        for day in covered:
            members = {f for f in sent_flids if world.flights[f].operation_day == day}
            assert day in plan.empty_days or world.roster(day) == members


def _in(state: FlightState, coverage: Coverage) -> bool:
    assert isinstance(coverage, Interval)
    return state.sodt_at is not None and coverage.first <= state.sodt_at <= coverage.last


@given(st.data())
def test_the_same_package_again_changes_nothing_but_versions(data: st.DataObject) -> None:
    """D-14, D-15, R-322: a complete package is idempotent; only versions and the generation go on."""
    world = data.draw(worlds())
    sent = package(*data.draw(packages(world, [DAY])))
    world.schedule(sent, TODAY)
    fields = {f.flid: (f.status, f.operation_day, f.fields, f.mafl) for f in world.flights.values()}
    roster, generation = world.roster(DAY), world.generation(DAY)
    plan = world.schedule(sent, TODAY)
    assert {f.flid: (f.status, f.operation_day, f.fields, f.mafl) for f in world.flights.values()} == fields
    assert all(put.changed == () for put in plan.flights)
    assert (world.roster(DAY), world.generation(DAY)) == (roster, generation + 1)
