"""Every refusal says where: flight, tag, text and record, so that a person finds it (D-25)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from msgx_core.errors import Malformed, MessageError, Protocol
from msgx_core.model.message import Node, ReferencePackage
from msgx_core.model.schedule import Days, Roster
from msgx_core.model.sis import MAX_KEY_CHARS, MAX_VALUE_CHARS
from msgx_core.rules.coverage import check_count, check_package, check_scope, need_sodt
from msgx_core.rules.merge import read_flop
from msgx_core.rules.records import read_record
from msgx_core.rules.reference import plan_reference, plan_resource_status
from tests.unit.core.build import DAY, NEXT_DAY, NOW, POLICY, flight, meta, node, package, record, sodt
from tests.unit.core.world import World

TODAY = Days(frozenset({DAY}))
LONG = "9" * 50
WORD = "x" * (MAX_VALUE_CHARS + 1)
KEY = "k" * (MAX_KEY_CHARS + 1)


def checked(*records: Any) -> Any:
    return check_package(package(*records), POLICY)


def reference(styp: str, *records: Node, type_: str = "GLST") -> Callable[[], object]:
    body = ReferencePackage(str(len(records)), records)
    plan = plan_resource_status if type_ == "RSTA" else plan_reference
    return lambda: plan(meta(type_, styp), body, msg_id=1, now=NOW, policy=POLICY)


def status(**tags: str) -> Callable[[], object]:
    """The second of two states of resources has these tags."""
    right = node("RSTA", RTYP="GATE", RSID="B1", STAT="E")
    return reference(
        "RESP", right, node("RSTA", **{"RTYP": "GATE", "RSID": "B2", "STAT": "D"} | tags), type_="RSTA"
    )


def elsewhere() -> object:
    """A roster has a flight of another day."""
    world = World.of(flight(9, day=NEXT_DAY))
    world.rosters[DAY] = Roster(DAY, 1, frozenset({9}))
    return world.schedule(package(record(7, SODT=sodt())), TODAY)


# what is done, the error, its reason, and its place: flid, tag, text, record, ordinal
CASES: dict[str, tuple[Callable[[], object], type[MessageError], str, tuple[object, ...]]] = {
    "no count": (lambda: check_count(None, 1), Protocol, "recs-missing", (None, "RECS", None, None, 0)),
    "count is no number": (
        lambda: check_count(LONG, 1),
        Protocol,
        f"recs-range:{LONG[:40]}",
        (None, "RECS", LONG, None, 0),
    ),
    "count is wrong": (
        lambda: check_count("02", 1),
        Protocol,
        "recs-mismatch:2!=1",
        (None, "RECS", "02", None, 0),
    ),
    "FLID is none": (
        lambda: checked(record(7), record(LONG)),
        Protocol,
        f"flid-invalid:{LONG[:40]}",
        (None, "FLID", LONG, 1, 0),
    ),
    "FLID is missing": (lambda: checked(record(None)), Protocol, "flid-invalid:", (None, "FLID", "", 0, 0)),
    "FLID is there twice": (
        lambda: checked(record(7), record(8), record(7)),
        Protocol,
        "duplicate-flid:7",
        (7, "FLID", None, 2, 0),
    ),
    "no SODT": (
        lambda: need_sodt(checked(record(7, SODT=sodt()), record(8))),
        Protocol,
        "sodt-missing:8",
        (8, "SODT", None, 1, 0),
    ),
    "SODT is no time": (
        lambda: need_sodt(checked(record(7, SODT=sodt()), record(8, SODT="soon"))),
        Protocol,
        "bad-time:SODT:8",
        (8, "SODT", "soon", 1, 0),
    ),
    "outside the days": (
        lambda: check_scope(checked(record(7, SODT=sodt()), record(8, SODT=sodt(NEXT_DAY))), TODAY),
        Protocol,
        "out-of-scope:8",
        (8, "SODT", sodt(NEXT_DAY), 1, 0),
    ),
    "another day": (
        lambda: World.of(flight(8, day=NEXT_DAY)).schedule(
            package(record(7, SODT=sodt()), record(8, SODT=sodt()))
        ),
        Protocol,
        "SAME_FLID_ACROSS_OPERATION_DAYS",
        (8, "SODT", f"{DAY}, bound to {NEXT_DAY}", 1, 0),
    ),
    "another day by ADFT": (
        lambda: World.of(flight(8, day=NEXT_DAY)).adft(record(8, SODT=sodt())),
        Protocol,
        "SAME_FLID_ACROSS_OPERATION_DAYS",
        (8, "SODT", f"{DAY}, bound to {NEXT_DAY}", 0, 0),
    ),
    "roster of another day": (
        elsewhere,
        Protocol,
        "roster-day-mismatch:9",
        (9, None, f"roster of {DAY}, flight of {NEXT_DAY}", None, 0),
    ),
    "mixed": (
        lambda: read_record(record(7, GTDT=[{"GTNO": "0"}, {"GATE": "B1"}]), 7, index=3),
        Protocol,
        "collection-mixed:GTDT",
        (7, "GTDT", None, 3, 0),
    ),
    "overfull": (
        lambda: read_record(record(7, PSDT=[{"PSST": f"{n}"} for n in range(10)]), 7, index=3),
        Protocol,
        "collection-overflow:PSDT",
        (7, "PSDT", None, 3, 9),
    ),
    "long value": (
        lambda: read_record(record(7, REMC=WORD), 7, index=3),
        Protocol,
        "value-too-long:REMC",
        (7, "REMC", None, 3, 0),
    ),
    "long value of an element": (
        lambda: read_record(record(7, GTDT=[{"GATE": "B1"}, {"GATE": WORD}]), 7, index=3),
        Protocol,
        "value-too-long:GATE",
        (7, "GATE", None, 3, 1),
    ),
    "no body of a FLOP": (
        lambda: read_flop("GTDT", None),
        Malformed,
        "payload-missing:FLOP",
        (None, "FLOP", None, None, 0),
    ),
    "no tag of a FLOP": (
        lambda: read_flop("GTDT", record(7, STND="1")),
        Malformed,
        "payload-missing:GTDT",
        (7, None, None, 0, 0),
    ),
    "no FLID of a FLOP": (
        lambda: read_flop("GTDT", record("x", GTDT=[{"GATE": "B1"}])),
        Malformed,
        "flid-invalid:x",
        (None, "FLID", "x", 0, 0),
    ),
    "empty in a FLOP": (
        lambda: read_flop("ACFT", record(7, ACFT="")),
        Malformed,
        "payload-empty:ACFT",
        (7, "ACFT", None, 0, 0),
    ),
    "bad time in a FLOP": (
        lambda: read_flop("GTDT", record(7, GTDT=[{"GATE": "B1"}, {"GOTM": "soon"}])),
        Malformed,
        "bad-time:GOTM",
        (7, "GOTM", "soon", 0, 1),
    ),
    "nothing to add": (reference("ADD"), Malformed, "payload-missing:GLST", (None, "GLST", None, None, 0)),
    "empty full list": (reference("DNLD"), Protocol, "empty-full-list", (None, "GLST", None, None, 0)),
    "key twice": (
        reference("DNLD", node("GLST", GCOD="1"), node("GLST", GCOD="1")),
        Protocol,
        "duplicate-key:1",
        (None, "GCOD", None, 1, 0),
    ),
    "no key": (
        reference("ADD", node("GLST", GCOD="1"), node("GLST", GNAM="x")),
        Protocol,
        "key-missing:GCOD",
        (None, "GCOD", None, 1, 0),
    ),
    "long key": (
        reference("ADD", node("GLST", GCOD="1"), node("GLST", GCOD=KEY)),
        Protocol,
        "value-too-long:GCOD",
        (None, "GCOD", KEY, 1, 0),
    ),
    "long text deep down": (
        reference("ADD", node("GLST", GCOD="1"), node("GLST", GCOD="2", GNAM=WORD)),
        Protocol,
        "value-too-long:GNAM",
        (None, "GNAM", None, 1, 0),
    ),
    "two states in a download": (
        reference("DNLD", node("RSTA"), node("RSTA"), type_="RSTA"),
        Protocol,
        "rsta-records:2",
        (None, "RSTA", None, None, 0),
    ),
    "no such type": (status(RTYP="SHOP"), Protocol, "rsta-invalid:RTYP", (None, "RTYP", "SHOP", 1, 0)),
    "no status": (status(STAT=""), Protocol, "rsta-invalid:STAT", (None, "STAT", "", 1, 0)),
    "window without a time": (status(STRT="x"), Protocol, "rsta-invalid:STRT", (None, "STRT", "x", 1, 0)),
    "window that ends first": (
        status(STRT=sodt(hour=12), ENDT=sodt(hour=11)),
        Protocol,
        "rsta-invalid:ENDT",
        (None, "ENDT", sodt(hour=11), 1, 0),
    ),
    "window of no time": (
        status(STRT=sodt(), ENDT=sodt()),
        Protocol,
        "rsta-invalid:ENDT",
        (None, "ENDT", sodt(), 1, 0),
    ),
    "no resource": (status(RSID=""), Protocol, "key-missing:RSID", (None, "RSID", None, 1, 0)),
}


@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_where(case: str) -> None:
    """D-12, D-25: reason of the closed list, and the place as far as there is one."""
    act, kind, reason, place = CASES[case]
    with pytest.raises(kind) as caught:
        act()
    error = caught.value
    assert error.reason == reason
    assert (error.flid, error.tag, error.text, error.record, error.ordinal) == place


def test_a_bad_value_that_is_dropped_says_where_too() -> None:
    """D-14: for the alert's detail."""
    sent = record(7, ESTT="soon", GTDT=[{"GATE": "B1"}, {"GOTM": "later", "GATE": "B2"}])
    (scalar, inside) = read_record(sent, 7, index=3).dropped
    assert (scalar.flid, scalar.tag, scalar.text, scalar.record) == (7, "ESTT", "soon", 3)
    assert (inside.flid, inside.tag, inside.text, inside.record) == (7, "GOTM", "later", 3)
    assert (scalar.reason, inside.reason) == ("bad-time:ESTT", "bad-time:GOTM")
