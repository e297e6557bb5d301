"""Of a flight: values at the edge of a rule, where a slip would not be seen in an ordinary message."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve

from msgx_core.errors import Malformed, Protocol
from msgx_core.model.change import FlightSnapshot
from msgx_core.model.schedule import Nothing
from msgx_core.model.sis import MAX_VALUE_CHARS
from msgx_core.rules.coverage import check_package
from msgx_core.rules.merge import flop_flid, read_flop
from msgx_core.rules.operation_day import instant_of, operation_day
from msgx_core.rules.policy import Policy
from msgx_core.rules.records import read_record
from msgx_core.rules.render import utc_text
from msgx_core.rules.schedule import plan_schedule
from tests.unit.core.build import DAY, NEXT_DAY, NOW, POLICY, at, flight, package, record, sodt
from tests.unit.core.world import World

LONG = "9" * 50
WORD = "x" * (MAX_VALUE_CHARS + 1)


@pytest.fixture
def machine_far_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's own zone is twelve hours behind."""
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Etc/GMT+12")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("machine_far_behind")
def test_the_zone_of_the_machine_means_nothing() -> None:
    """R-077, R-281: the day is the airport's, wherever the program runs."""
    kiritimati = Policy(airport_zone=ZoneInfo("Pacific/Kiritimati"))
    assert operation_day(datetime(2027, 3, 14, 10, 30, tzinfo=UTC), kiritimati) == NEXT_DAY
    assert operation_day(datetime(2027, 3, 14, 9, 30, tzinfo=UTC), kiritimati) == DAY
    assert instant_of(datetime(2027, 3, 14, 12), kiritimati).utcoffset() == timedelta(0)
    assert utc_text(datetime(2027, 3, 14, 9, 30, tzinfo=UTC)) == "2027-03-14T09:30:00.000000Z"


def test_the_instant_of_the_plan_is_kept_with_the_flight() -> None:
    """D-11, R-388: an interval and the history sweep are about it; it goes when `SODT` goes."""
    world = World()
    kept = []
    for message in (
        lambda: world.schedule(package(record(7, SODT=sodt(hour=8)))),
        lambda: world.adft(record(7, SODT=sodt(hour=9))),
        lambda: world.flop("STND", record(7, STND="1")),
        lambda: world.fdel(7),
        lambda: world.schedule(package(record(7))),
    ):
        message()
        kept.append(world.flights[7].sodt_at)
    assert kept == [at(hour=8), at(hour=9), at(hour=9), at(hour=9), None]


def test_sections_are_replaced_though_nothing_else_has_changed() -> None:
    """D-15, D-39: with suppress-unchanged the flight takes no step, and its raw sections are the new ones."""
    quiet = evolve(POLICY, suppress_unchanged=True)
    world = World.of(flight(7, FLNO="QX7"), policy=quiet)
    sent = evolve(record(7, FLNO="QX7", SODT=sodt()), raw_sections={"SRVT": "<SRVT/>"})
    first = world.schedule(package(sent)).flights[0]
    again = world.schedule(package(evolve(sent, raw_sections={"SRVT": "<SRVT>2</SRVT>"}))).flights[0]
    assert (first.advanced, again.advanced) == (True, False)
    assert again.raw_sections == {"SRVT": "<SRVT>2</SRVT>"}


def test_a_route_that_is_cut_is_counted() -> None:
    """D-19: with its limit, four unless told otherwise; a truncation is counted."""
    sent = record(7, ROUT=[{"APCD": f"A{n}"} for n in range(6)])
    four, two = read_flop("ROUT", sent), read_flop("ROUT", sent, max_points=2)
    assert (four.truncated, two.truncated) == (2, 4)
    points = tuple({"APCD": f"A{n}"} for n in range(4))
    assert (four.sets["ROUT"], two.sets["ROUT"]) == (points, points[:2])


@pytest.mark.parametrize("text", [LONG, "", None])
def test_what_is_said_about_a_flid(text: str | None) -> None:
    """D-25: forty characters of it in the reason, all of it for the place; nothing when there is none."""
    with pytest.raises(Malformed) as caught:
        flop_flid(record(text, STND="1"))
    assert caught.value.reason == f"flid-invalid:{(text or '')[:40]}"
    assert (caught.value.tag, caught.value.text, caught.value.record) == ("FLID", text or "", 0)


@pytest.mark.parametrize(
    ("tag", "element", "reason"),
    [
        ("FRET", {"REID": WORD}, "value-too-long:REID"),
        ("FRET", {"TEXT": WORD}, "value-too-long:FRET"),
        ("FDIV", {"DDES": WORD}, "value-too-long:DDES"),
        ("FDIV", {"TEXT": WORD}, "value-too-long:FDIV"),
    ],
)
def test_a_single_value_that_is_too_long_is_named(tag: str, element: dict[str, str], reason: str) -> None:
    """D-25: by its attribute, or by its tag where the text is meant."""
    with pytest.raises(Protocol) as caught:
        read_record(record(7, **{tag: element}), 7)
    assert (caught.value.reason, caught.value.tag) == (reason, reason.partition(":")[2])


def test_a_number_alone_is_an_allocation_unless_it_is_zero() -> None:
    """wire (Empty collection): `GTNO="5"` without content is a gate that is not named yet."""
    five = read_record(record(7, GTDT=[{"GTNO": "5"}]), 7)
    assert five.values == {"GTDT": ({"GTNO": "5"},)}
    named = read_record(record(7, GTDT=[{"GTNO": "X"}]), 7)
    assert named.values == {"GTDT": ({"GTNO": "X"},)}
    none = read_record(record(7, GTDT=[{"GTNO": "00"}]), 7)
    assert (dict(none.values), none.empty, none.truncated) == ({}, frozenset({"GTDT"}), 0)


def test_a_day_that_nobody_counted_has_generation_0() -> None:
    """D-28, D-30: in the notice, where the flight has a day."""
    checked = check_package(package(record(1, SODT=sodt()), record(2)), POLICY)
    plan = plan_schedule(checked, Nothing(), FlightSnapshot(), msg_id=1, now=NOW, policy=POLICY)
    with_day, without = (json.loads(put.notice or "") for put in plan.flights)
    assert with_day["DAY_VERSION"] == 0
    assert "DAY_VERSION" not in without


def test_an_empty_delay_beside_a_real_one_is_mixed() -> None:
    """wire (Empty collection): also where there is no sequence number."""
    with pytest.raises(Protocol, match="collection-mixed:DELY"):
        read_record(record(7, DELY=[{}, {"CODE": "1"}]), 7)


def test_what_is_cut_is_counted_over_all_collections() -> None:
    """D-19: of both routes together."""
    sent = record(7, ROUT=[{"APCD": f"A{n}"} for n in range(6)], ERUT=[{"APCD": f"B{n}"} for n in range(7)])
    assert read_record(sent, 7).truncated == 2 + 3
