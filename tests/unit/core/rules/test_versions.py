"""Version steps and events of a message: what is counted, what `CHANGED` and `DAY_VERSION` say."""

import json
from datetime import timedelta
from typing import Any

from attrs import evolve

from msgx_core.model.change import FlightPut
from msgx_core.model.schedule import Days
from msgx_core.rules.coverage import day_range
from tests.unit.core.build import DAY, NEXT_DAY, NOW, POLICY, flight, package, record, sodt
from tests.unit.core.world import World

TODAY = Days(frozenset({DAY}))
QUIET = evolve(POLICY, suppress_unchanged=True)


def notices(puts: tuple[FlightPut, ...]) -> dict[int, dict[str, Any]]:
    return {put.state.flid: json.loads(put.notice) for put in puts if put.notice is not None}


def test_every_record_is_a_step_by_default() -> None:
    """D-15, R-170: also one that changes nothing."""
    world = World.of(flight(1, SODT=sodt()))
    plan = world.schedule(package(record(1, SODT=sodt())))
    assert [(p.state.version, p.changed, p.advanced) for p in plan.flights] == [(2, (), True)]
    assert notices(plan.flights)[1]["CHANGED"] == []


def test_unchanged_flights_may_be_passed_over() -> None:
    """D-15: with suppress-unchanged only `LAST_MSG_ID` is new: no version, no event."""
    world = World.of(flight(1, SODT=sodt(), STND="2"), flight(2, SODT=sodt()), policy=QUIET)
    plan = world.schedule(package(record(1, SODT=sodt(), STND="2"), record(2, SODT=sodt(), STND="3")), TODAY)
    first, second = plan.flights
    assert (first.advanced, first.notice, first.read_version) == (False, None, 1)
    assert first.state == evolve(flight(1, SODT=sodt(), STND="2"), last_msg_id=world.msg_id)
    assert (second.advanced, second.changed) == (True, ("STND",))
    assert world.roster(DAY) == {1, 2}


def test_what_suppression_does_not_hide() -> None:
    """D-15, D-07, D-21: a new list, a rebuilt flight, a bound day, a deletion are news."""
    kept = flight(10)
    gone = [flight(11, live=False), flight(14, live=False)]
    world = World.of(kept, *gone, flight(12, day=None), flight(13), policy=QUIET)
    world.flights[12] = evolve(world.flights[12], fields={"SODT": sodt()})
    sent = [record(10), record(11, MAID="10"), record(12, SODT=sodt()), record(14)]
    assert [p.advanced for p in world.schedule(package(*sent)).flights] == [True] * 4
    assert [p.advanced for p in world.schedule(package(*sent)).flights] == [False] * 4
    puts = world.fdel(13)
    assert isinstance(puts, tuple)
    assert puts[0].advanced


def test_changed_lists_all_tags_of_a_new_flight() -> None:
    """D-28: in table order, `MAFL` last and only when there is one."""
    world = World.of(flight(11, MAID=10))
    plan = world.schedule(package(record(10, STND="1", SODT=sodt(), FLNO="QX"), record(12, FLNO="Z")))
    assert notices(plan.flights)[10]["CHANGED"] == ["FLNO", "SODT", "STND", "MAFL"]
    assert notices(plan.flights)[12]["CHANGED"] == ["FLNO"]


def test_changed_names_cleared_tags_too() -> None:
    """D-15: what differs, whichever way."""
    world = World.of(flight(1, STND="1", ESTT="14MAR271200", GTDT=({"GATE": "1"},)))
    plan = world.schedule(package(record(1, ESTT="14MAR271230", CKDT=[{"CHKC": "1"}])))
    assert notices(plan.flights)[1]["CHANGED"] == ["ESTT", "STND", "GTDT", "CKDT"]


def test_events_carry_the_generation_after_the_message() -> None:
    """D-28, R-366: a covered day's events, the deletions too, have the new generation; other days theirs."""
    parent = flight(20, day=NEXT_DAY)
    world = World.of(flight(1), flight(2, MAID=20), parent, covered={DAY: 4, NEXT_DAY: 7})
    world.flights[20] = evolve(parent, mafl=(flight(2).as_child,))
    sent = notices(world.schedule(package(record(1, SODT=sodt())), TODAY).flights)
    assert {flid: (n["OPERATION_DAY"], n["DAY_VERSION"]) for flid, n in sent.items()} == {
        1: ("2027-03-14", 5),
        2: ("2027-03-14", 5),
        20: ("2027-03-15", 7),
    }


def test_an_uncovered_message_keeps_the_generation() -> None:
    """D-11, D-28: a window, an ADFT and a FLOP carry the generation that the day has; never covered is 0."""
    world = World.of(flight(1), flight(2, day=NEXT_DAY), covered={DAY: 4})
    window = notices(
        world.schedule(package(record(1, SODT=sodt()), record(2), record(3, SODT=sodt()))).flights
    )
    assert {flid: n["DAY_VERSION"] for flid, n in window.items()} == {1: 4, 2: 0, 3: 4}
    assert notices(world.adft(record(1, STND="1")))[1]["DAY_VERSION"] == 4


def test_without_a_day_there_is_no_generation() -> None:
    """D-28, D-30: both keys are absent together."""
    sent = notices(World().schedule(package(record(1))).flights)[1]
    assert not {"OPERATION_DAY", "DAY_VERSION"} & set(sent)


def test_each_covered_day_counts_alone() -> None:
    """D-11, R-320: one generation per covered day with records."""
    world = World.of(flight(1), flight(2, day=NEXT_DAY), covered={DAY: 1, NEXT_DAY: 9})
    body = package(record(1, SODT=sodt()), record(2, SODT=sodt(NEXT_DAY)))
    sent = notices(world.schedule(body, day_range(DAY, NEXT_DAY)).flights)
    assert {flid: n["DAY_VERSION"] for flid, n in sent.items()} == {1: 2, 2: 10}


def test_creation_time_stays_and_update_time_moves() -> None:
    """R-008: audit times; a rebuilt flight is still the same row."""
    old = evolve(
        flight(1, live=False), created_at=NOW - timedelta(days=2), updated_at=NOW - timedelta(days=1)
    )
    world = World.of(old)
    world.schedule(package(record(1), record(2)))
    assert (world.flights[1].created_at, world.flights[1].updated_at) == (old.created_at, NOW)
    assert (world.flights[2].created_at, world.flights[2].updated_at) == (NOW, NOW)
