"""Code share: the list of children, notices to main flights, cascade; one step per flight and message."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.change import FlightPut
from msgx_core.model.flight import Child, DeleteReason, FlightState
from msgx_core.model.schedule import Days
from msgx_core.rules.single import NoEffect
from tests.unit.core.build import DAY, NEXT_DAY, flight, package, record, sodt
from tests.unit.core.world import Single, World

TODAY = Days(frozenset({DAY}))


def main(flid: int = 10, *children: FlightState, **fields: Any) -> FlightState:
    return flight(flid, mafl=[c.as_child for c in sorted(children, key=lambda c: c.flid)], **fields)


def child(flid: int, of: int = 10, flno: str | None = None, *, live: bool = True) -> FlightState:
    fields: dict[str, Any] = {"MAID": of} if flno is None else {"MAID": of, "FLNO": flno}
    return flight(flid, live=live, **fields)


def effects(puts: Single) -> list[tuple[int, tuple[str, ...], DeleteReason | None]]:
    assert not isinstance(puts, NoEffect)
    return [(p.state.flid, p.changed, p.reason) for p in puts]


def listed(world: World, flid: int = 10) -> list[tuple[int, str | None]]:
    return [(c.flid, c.flno) for c in world.flights[flid].mafl]


def test_children_are_listed_by_flid() -> None:
    """R-304, D-21: `{FLID, FLNO}`, ordered by FLID as a number; a child without `FLNO` too."""
    world = World()
    sent = [record(f, MAID="010", **n) for f, n in ((200, {"FLNO": "B"}), (9, {"FLNO": "A"}), (30, {}))]
    world.schedule(package(*sent, record(10)))
    assert listed(world) == [(9, "A"), (30, None), (200, "B")]
    assert all(world.flights[f].mafl == () for f in (9, 30, 200))


def test_an_added_child_is_a_change_of_its_main_flight() -> None:
    """R-251, R-307, D-21: the main flight takes one step and both events in the same message."""
    world = World.of(main())
    assert effects(world.adft(record(11, MAID="10", FLNO="QX11"))) == [
        (11, ("FLNO", "MAID"), None),
        (10, ("MAFL",), None),
    ]
    assert (listed(world), world.flights[10].version) == ([(11, "QX11")], 2)


def test_a_renamed_child_is_a_change_too() -> None:
    """D-21: the list holds the name."""
    world = World.of(main(10, child(11, flno="A")), child(11, flno="A"))
    assert effects(world.adft(record(11, FLNO="B"))) == [(11, ("FLNO",), None), (10, ("MAFL",), None)]


def test_other_changes_of_a_child_do_not_notify() -> None:
    """R-313, D-21 (Departures): main flights hear of changes of the list, not of every change of a child."""
    world = World.of(main(10, child(11)), child(11))
    assert effects(world.flop("STND", record(11, STND="2"))) == [(11, ("STND",), None)]


def test_a_moved_child_changes_both_lists() -> None:
    """D-21: leaves one main flight, joins the other; notices by FLID."""
    world = World.of(main(20, child(11, 20)), child(11, 20), main(10))
    assert effects(world.adft(record(11, MAID="10"))) == [
        (11, ("MAID",), None),
        (10, ("MAFL",), None),
        (20, ("MAFL",), None),
    ]
    assert (listed(world, 10), listed(world, 20)) == ([(11, None)], [])


def test_a_child_that_becomes_a_main_flight_leaves_the_list() -> None:
    """D-14, D-21: a complete record without `MAID`."""
    world = World.of(main(10, child(11)), child(11))
    world.schedule(package(record(11)))
    assert (listed(world), world.flights[10].version) == ([], 2)


def test_a_deleted_child_drops_out() -> None:
    """R-306, R-309: FDEL of a child changes and notifies the main flight."""
    world = World.of(main(10, child(11)), child(11))
    assert effects(world.fdel(11)) == [(11, (), DeleteReason.FDEL), (10, ("MAFL",), None)]


def test_a_revived_child_comes_back() -> None:
    """D-07, D-21."""
    world = World.of(main(), child(11, live=False))
    world.adft(record(11, MAID="10"))
    assert listed(world) == [(11, None)]


def test_a_deleted_main_flight_takes_its_children_along() -> None:
    """R-311, R-310, D-21: live children, one level, same message, each once; the list ends with the
    flight."""
    family = [child(12), child(11), child(13, live=False)]
    world = World.of(main(10, *family[:2]), *family)
    cascaded = (DeleteReason.CASCADE,)
    assert effects(world.fdel(10)) == [(10, (), DeleteReason.FDEL), (11, (), *cascaded), (12, (), *cascaded)]
    assert (world.live, world.flights[10].mafl) == (set(), ())
    assert (world.flights[13].version, world.roster(DAY)) == (1, set())


def test_cascade_spares_what_the_same_package_contains() -> None:
    """D-21: the package speaks for its own flights; what it lacks goes, on any day."""
    tomorrow = flight(13, day=NEXT_DAY, MAID=10)
    world = World.of(
        main(10, child(11), child(12), tomorrow), child(11), child(12), tomorrow, covered={DAY: 1}
    )
    plan = world.schedule(package(record(11, SODT=sodt(), MAID="10")), TODAY)
    reasons = {p.state.flid: p.reason for p in plan.flights}
    absent = DeleteReason.SNAPSHOT_ABSENT
    assert reasons == {11: None, 10: absent, 12: absent, 13: DeleteReason.CASCADE}
    assert (world.roster(DAY), world.roster(NEXT_DAY)) == ({11}, set())


def test_there_are_no_chains() -> None:
    """D-21: a flight with a `MAID` carries no list and gets no notice, and its deletion takes none along."""
    world = World.of(main(10, child(11)), child(11))
    world.adft(record(12, MAID="11"))
    assert (listed(world, 11), world.flights[11].version) == ([], 1)
    assert effects(world.fdel(11)) == [(11, (), DeleteReason.FDEL), (10, ("MAFL",), None)]
    assert world.live == {10, 12}


def test_a_main_flight_that_becomes_a_child_loses_its_list_and_gets_it_back() -> None:
    """D-21: only a live flight with an empty `MAID` carries one."""
    world = World.of(main(10, child(11)), child(11), main(20))
    world.schedule(package(record(10, MAID="20")))
    assert (listed(world, 10), listed(world, 20)) == ([], [(10, None)])
    world.schedule(package(record(10)))
    assert (listed(world, 10), listed(world, 20)) == ([(11, None)], [])


def test_a_flight_that_names_itself_is_its_own_main_flight() -> None:
    """D-21: `MAID` to itself is stored and ignored."""
    world = World.of(child(11))
    world.schedule(package(record(10, MAID="0010")))
    assert (world.flights[10].fields["MAID"], listed(world)) == (10, [(11, None)])
    assert [flid for flid, _, _ in effects(world.fdel(10))] == [10, 11]


def test_the_list_appears_with_the_main_flight() -> None:
    """D-21: a child may come first; also when a FLOP makes the main flight."""
    for styp in ("ADFT", "STND"):
        world = World()
        world.schedule(package(record(11, MAID="10", FLNO="A")))
        sent = record(10, STND="2")
        puts = world.adft(sent) if styp == "ADFT" else world.flop(styp, sent)
        assert [flid for flid, _, _ in effects(puts)] == [10]
        assert (listed(world), effects(puts)[0][1][-1]) == ([(11, "A")], "MAFL")


def test_child_and_main_in_one_package_take_one_step_each() -> None:
    """D-15: one step per flight per message, however many ways it is touched."""
    world = World.of(main(10, child(11)), child(11))
    plan = world.schedule(package(record(11, MAID="10", FLNO="Z"), record(10, STND="1")))
    assert effects(plan.flights) == [(11, ("FLNO",), None), (10, ("STND", "MAFL"), None)]


def test_a_deleted_main_flight_gets_no_notice() -> None:
    """D-21: only a live flight gets a notice."""
    world = World.of(flight(10, live=False))
    assert effects(world.adft(record(11, MAID="10"))) == [(11, ("MAID",), None)]


def test_an_archived_or_unknown_main_flight_is_no_error() -> None:
    """D-21: a child whose main flight is not there is legal."""
    world = World(floors={10: 3})
    assert effects(world.adft(record(11, MAID="10"))) == [(11, ("MAID",), None)]


@st.composite
def messages(draw: st.DrawFn) -> list[tuple[str, int, str]]:
    step = st.tuples(
        st.sampled_from(["adft", "fdel", "flop", "window", "day"]),
        st.integers(1, 5),
        st.sampled_from("012345"),
    )
    return draw(st.lists(step, max_size=12))


def play(world: World, kind: str, flid: int, maid: str) -> tuple[FlightPut, ...]:
    parent = {} if maid == "0" else {"MAID": maid}
    if kind == "fdel":
        puts = world.fdel(flid)
    elif kind == "flop":
        puts = world.flop("STND", record(flid, STND=maid))
    elif kind == "adft":
        puts = world.adft(record(flid, SODT=sodt(), FLNO=maid, **parent))
    else:
        others = [] if kind == "day" else [record((flid % 5) + 1, SODT=sodt(), FLNO=maid)]
        body = package(record(flid, SODT=sodt(), FLNO=maid, **parent), *others)
        puts = world.schedule(body, TODAY if kind == "day" else None).flights
    return () if isinstance(puts, NoEffect) else puts


@given(messages())
def test_after_any_messages_every_list_is_right(sent: list[tuple[str, int, str]]) -> None:
    """R-312, D-15, D-21, R-304 to R-310: lists equal the live children; `World` checks the steps."""
    world = World()
    for kind, flid, maid in sent:
        play(world, kind, flid, maid)
        for state in world.flights.values():
            children = [f for f in world.flights.values() if f.is_live and f.main_flid == state.flid]
            expected = tuple(c.as_child for c in sorted(children, key=lambda c: c.flid))
            assert state.mafl == (expected if state.carries_mafl else ())


@pytest.mark.parametrize("maid", [None, 5])
def test_who_is_a_child_of_whom(maid: int | None) -> None:
    """R-303, R-305: a flight's own view of its family."""
    state = flight(7, FLNO="QX") if maid is None else flight(7, FLNO="QX", MAID=maid)
    assert (state.main_flid, state.carries_mafl, state.as_child) == (maid, maid is None, Child(7, "QX"))
