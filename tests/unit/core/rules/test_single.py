"""Messages about one flight: ADFT, FLOP, FDEL, and how they meet a flight in each stage of its life."""

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.errors import Protocol
from msgx_core.model.change import FlightSnapshot
from msgx_core.model.flight import DeleteReason, FlightStatus
from msgx_core.rules.policy import MissingFlight
from msgx_core.rules.single import NoEffect, life_of
from msgx_core.states.flight import FLIGHT, FlightEvent, FlightLife
from msgx_core.testing.strategies import plain_tags
from tests.unit.core.build import DAY, NEXT_DAY, POLICY, Tag, flight, record, sodt
from tests.unit.core.world import Single, World

WORLDS = {
    FlightLife.ABSENT: World(),
    FlightLife.ACTIVE: World.of(flight(7, version=4, STND="2")),
    FlightLife.DELETED: World.of(flight(7, version=4, live=False, STND="2")),
    FlightLife.ARCHIVED: World(floors={7: 4}),
}


def meet(life: FlightLife, missing: MissingFlight = MissingFlight.CREATE) -> World:
    met = WORLDS[life]
    return World(
        dict(met.flights), dict(met.rosters), dict(met.floors), evolve(POLICY, missing_flight=missing)
    )


@pytest.mark.parametrize("life", list(FlightLife))
def test_how_a_message_meets_a_flight(life: FlightLife) -> None:
    """D-07, D-37: an archived flight is known by its version floor alone."""
    met = meet(life)
    assert life_of(7, FlightSnapshot(flights=met.flights, floors=met.floors)) is life


@pytest.mark.parametrize(
    ("life", "version"),
    [(FlightLife.ABSENT, 1), (FlightLife.ACTIVE, 5), (FlightLife.DELETED, 5), (FlightLife.ARCHIVED, 5)],
)
def test_an_adft_makes_a_flight_live_from_any_life(life: FlightLife, version: int) -> None:
    """R-203, D-07, D-17, D-37: versions go on counting; only a live flight keeps its fields."""
    world = meet(life)
    world.adft(record(7, RENO="B1"))
    kept = {"STND": "2"} if life is FlightLife.ACTIVE else {}
    assert (world.flights[7].status, world.flights[7].version) == (FlightStatus.ACTIVE, version)
    assert dict(world.flights[7].fields) == {**kept, "RENO": "B1"}


def test_an_adft_only_sets() -> None:
    """R-203, D-17, R-201: empty tags and empty collections change nothing, collections with elements
    replace."""
    world = World.of(flight(7, STND="2", GTDT=({"GATE": "B1"},), CKDT=({"CHKC": "1"},)))
    world.adft(record(7, STND="", GTDT=[{"GTNO": "0"}], CKDT=[{"CHKC": "5"}, {"CHKC": "6"}]))
    assert dict(world.flights[7].fields) == {
        "STND": "2",
        "GTDT": ({"GATE": "B1"},),
        "CKDT": ({"CHKC": "5"}, {"CHKC": "6"}),
    }


def test_an_adft_with_sodt_binds_the_day_and_touches_no_roster() -> None:
    """R-207, R-202, R-204, D-11: no roster, no generation."""
    world = World()
    world.adft(record(7, SODT=sodt()))
    assert (world.flights[7].operation_day, world.rosters) == (DAY, {})


def test_an_adft_without_sodt_keeps_the_day_or_has_none() -> None:
    """D-09, D-10: null only for flights that have had no `SODT`."""
    world = World.of(flight(7, SODT=sodt()))
    world.adft(record(7, STND="2"))
    world.adft(record(8, SODT="noon"))
    assert (world.flights[7].operation_day, world.flights[8].operation_day) == (DAY, None)


@pytest.mark.parametrize("live", [True, False])
def test_an_adft_never_moves_a_flight_to_another_day(live: bool) -> None:
    """D-10: `SAME_FLID_ACROSS_OPERATION_DAYS`, also after a deletion: the day stays bound (D-07)."""
    world = World.of(flight(7, live=live))
    with pytest.raises(Protocol, match=r"^SAME_FLID_ACROSS_OPERATION_DAYS$"):
        world.adft(record(7, SODT=sodt(NEXT_DAY)))
    assert world.flights[7].version == 1


def test_an_adft_leaves_raw_sections() -> None:
    """R-272, D-39: they are replaced by complete records only."""
    assert (
        World.of(flight(7)).adft(evolve(record(7), raw_sections={"SRVT": "<SRVT/>"}))[0].raw_sections is None
    )


def test_a_rebuild_by_adft_starts_without_raw_sections() -> None:
    """D-07, D-39: empty state means no section of the life before either."""
    assert World.of(flight(7, live=False)).adft(record(7, RENO="B1"))[0].raw_sections == {}


@pytest.mark.parametrize(
    ("life", "missing", "reason"),
    [
        (FlightLife.DELETED, MissingFlight.CREATE, "flight-deleted"),
        (FlightLife.DELETED, MissingFlight.SKIP, "flight-deleted"),
        (FlightLife.ARCHIVED, MissingFlight.CREATE, "flight-archived"),
        (FlightLife.ARCHIVED, MissingFlight.SKIP, "flight-archived"),
        (FlightLife.ABSENT, MissingFlight.SKIP, "missing-flight"),
    ],
)
def test_late_news_does_not_resurrect(life: FlightLife, missing: MissingFlight, reason: str) -> None:
    """R-217, D-07, D-08: skipped with a reason of the closed list, and the table agrees."""
    assert meet(life, missing).flop("STND", record(7, STND="9")) is NoEffect(reason)
    assert FLIGHT.allows(life, FlightEvent.CHANGE) == (life is FlightLife.ABSENT)


def test_a_flop_for_an_unknown_flight_makes_it_without_day() -> None:
    """R-217, R-282, D-08, R-218: to be adopted by the next schedule."""
    world = World()
    world.flop("GTDT", record(7, GTDT=[{"GATE": "B1"}], SODT=sodt()))
    made = world.flights[7]
    assert (made.version, made.operation_day, dict(made.fields)) == (1, None, {"GTDT": ({"GATE": "B1"},)})
    assert world.rosters == {}


@given(plain_tags())
def test_a_flop_keeps_day_and_roster(sent: dict[str, Tag]) -> None:
    """R-251, R-213 to R-215, D-15: one step, whatever the body says beside its own tag."""
    world = World.of(flight(7, SODT=sodt(), STND="1"), covered={DAY: 3})
    world.flop("STND", record(7, **{**sent, "STND": "9"}))
    after = world.flights[7]
    assert (after.version, after.operation_day, dict(after.fields)) == (2, DAY, {"SODT": sodt(), "STND": "9"})
    assert (world.roster(DAY), world.generation(DAY)) == ({7}, 3)


def test_a_flop_that_says_what_is_known_is_a_step_too() -> None:
    """D-15: applied is applied; `CHANGED` is empty."""
    puts = World.of(flight(7, STND="2")).flop("STND", record(7, STND="2"))
    assert not isinstance(puts, NoEffect)
    assert [(p.state.version, p.changed) for p in puts] == [(2, ())]


def test_fdel_is_a_soft_delete() -> None:
    """R-293, R-302, D-06, R-292: version + 1, tombstone, off the roster; the fields and the day stay
    stored."""
    world = World.of(flight(7, STND="2"), flight(8), covered={DAY: 3})
    puts = world.fdel(7)
    assert not isinstance(puts, NoEffect)
    assert [(p.state.version, p.reason, p.document, p.changed) for p in puts] == [
        (2, DeleteReason.FDEL, None, ())
    ]
    assert (world.flights[7].status, dict(world.flights[7].fields)) == (FlightStatus.DELETED, {"STND": "2"})
    assert (world.roster(DAY), world.generation(DAY)) == ({8}, 3), "and no generation (R-299)"


@pytest.mark.parametrize("life", [FlightLife.ABSENT, FlightLife.DELETED, FlightLife.ARCHIVED])
def test_fdel_of_a_gone_flight_is_an_idempotent_success(life: FlightLife) -> None:
    """D-06, R-295: `already-gone`, no version, no event."""
    world = meet(life)
    assert world.fdel(7) is NoEffect.ALREADY_GONE
    assert world.flights == WORLDS[life].flights


def play(world: World, kind: str) -> Single:
    if kind == "fdel":
        return world.fdel(7)
    return world.adft(record(7, STND="1")) if kind == "adft" else world.flop("STND", record(7, STND="2"))


@given(st.lists(st.sampled_from(["adft", "flop", "fdel"]), max_size=8))
def test_versions_only_rise(kinds: list[str]) -> None:
    """R-358, D-15, D-37: by one with each effect; `World` checks each step."""
    world = World(floors={7: 3})
    expected = 3
    for kind in kinds:
        puts = play(world, kind)
        expected += not isinstance(puts, NoEffect)
        assert 7 not in world.flights or world.flights[7].version == expected
