"""A simulated day is well formed, complete in kinds, and believable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date, datetime, timedelta
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msgx_app.simulator import BROKEN, FAULTS, SimulatedMessage, SimulationPlan, simulate
from msgx_core.model import sis

DAY = date(2027, 3, 14)
PLAN = SimulationPlan(seed=7, day=DAY, flights=160)
MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split()
plans = st.builds(
    SimulationPlan,
    seed=st.integers(),
    day=st.dates(date(2001, 1, 1), date(2098, 12, 1)),
    flights=st.integers(40, 70),
    airport=st.sampled_from(["KMG", "SIN", "XYZ"]),
    timezone=st.sampled_from(["Asia/Shanghai", "America/St_Johns", "Europe/Paris", "UTC"]),
)
few = settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def parse(message: SimulatedMessage) -> ET.Element:
    return ET.fromstring(message.raw)


def meta(root: ET.Element, tag: str) -> str:
    return (root.findtext(f"META/{tag}") or "").strip()


def readable(messages: Iterable[SimulatedMessage]) -> Iterator[tuple[SimulatedMessage, ET.Element]]:
    return ((m, parse(m)) for m in messages if m.fault not in BROKEN | {"doctype"})


def flight_time(text: str) -> datetime:
    month = MONTHS.index(text[2:5]) + 1
    return datetime(2000 + int(text[5:7]), month, int(text[:2]), int(text[7:9]), int(text[9:11]))


@pytest.fixture(scope="module")
def day() -> list[SimulatedMessage]:
    return list(simulate(PLAN))


@given(plans)
@few
def test_every_kind_of_message_and_fault_occurs(plan: SimulationPlan) -> None:
    messages = list(simulate(plan))
    kinds = {(meta(r, "TYPE"), meta(r, "STYP")) for m, r in readable(messages) if not m.fault}
    assert {styp for kind, styp in kinds if kind == "FLOP"} == {*sis.FLOP_ROWS, "FDEL"}
    assert {(category, "DNLD") for category in sis.CATEGORIES} <= kinds
    assert {("REGN", "ADD"), ("GLST", "UPD"), ("SLST", "DEL"), ("FLTL", "RESP")} <= kinds
    assert {("RSTA", "DNLD"), ("RSTA", "RESP"), ("SCHD", "DNLD"), ("SCHD", "ADFT")} <= kinds
    assert {m.fault for m in messages} == {"", *FAULTS}


@given(plans)
@few
def test_recs_is_the_number_of_records(plan: SimulationPlan) -> None:
    for message, root in readable(simulate(plan)):
        declared = root.findtext("RECS") or root.findtext("SCHD/RECS")
        records = len(root.findall(meta(root, "TYPE"))) if root.find("RECS") is not None else 0
        records += len(root.findall("SCHD/FLTR"))
        if message.fault == "recs-mismatch":
            assert declared != str(records)
        elif declared is not None:
            assert declared == str(records)
        else:
            assert meta(root, "TYPE") in {"FLOP", "SCHS"} or meta(root, "STYP") == "ADFT"


@given(plans)
@few
def test_every_value_fits_the_tag_table(plan: SimulationPlan) -> None:
    checked = 0
    for message, root in readable(simulate(plan)):
        if message.fault in {"bad-time", "bad-flid", "overflow"}:
            continue
        for holder in (*root.iterfind("FLOP"), *root.iterfind("SCHD/FLTR")):
            assert (holder.findtext("FLID") or "").strip().isdigit()
            for element in holder:
                if element.tag in {"FLID", "FFID", "FDEL"}:
                    continue
                assert element.tag in sis.MODEL_TAGS
                if element.tag in sis.COLLECTIONS:
                    assert_element(element)
                    checked += 1
                elif element.tag in sis.SCALARS:
                    assert_value(sis.SCALARS[element.tag].kind, (element.text or "").strip())
                    checked += 1
            for tag, collection in sis.COLLECTIONS.items():
                assert collection.limit is None or len(holder.findall(tag)) <= collection.limit
    assert checked > 500


def assert_element(element: ET.Element) -> None:
    collection = sis.COLLECTIONS[element.tag]
    allowed = {*collection.keys, *(("SCAT", "SCDT") if collection.truncated else ())}
    assert {c.tag for c in element} <= allowed
    for child in element:
        assert_value(collection.keys.get(child.tag, sis.Kind.TIME), child.text or "")
    for name, value in element.items():
        assert_value(collection.attributes.get(name, sis.Kind.INTEGER), value)


def assert_value(kind: sis.Kind, text: str) -> None:
    if kind is sis.Kind.TIME and text:
        flight_time(text)
    elif kind is sis.Kind.DURATION:
        assert len(text) == 4
        assert int(text[2:]) < 60
    elif kind in {sis.Kind.INTEGER, sis.Kind.FLID} and text:
        assert text.isdigit()


@given(plans)
@few
def test_a_schedule_holds_the_flights_of_its_48_hours(plan: SimulationPlan) -> None:
    zone = ZoneInfo(plan.timezone)
    start = datetime(plan.day.year, plan.day.month, plan.day.day, tzinfo=zone)
    packages = [
        root
        for m, root in readable(simulate(plan))
        if not m.fault and (meta(root, "TYPE"), meta(root, "STYP")) == ("SCHD", "DNLD")
    ]
    assert len(packages) == 2
    assert len(packages[0].findall("SCHD/FLTR")) == plan.flights
    for hours, root in zip((0, 13), packages, strict=True):
        first = (start.astimezone(ZoneInfo("UTC")) + timedelta(hours=hours)).astimezone(zone)
        last = (start.astimezone(ZoneInfo("UTC")) + timedelta(hours=48)).astimezone(zone)
        times = [flight_time(r.findtext("SODT") or "") for r in root.iterfind("SCHD/FLTR")]
        slack = timedelta(hours=1)  # a repeated hour on the wire
        assert all(first.replace(tzinfo=None) - slack <= t < last.replace(tzinfo=None) + slack for t in times)
        flids = [r.findtext("FLID") for r in root.iterfind("SCHD/FLTR")]
        assert len(set(flids)) == len(flids)


def test_proportions_are_believable() -> None:
    messages = list(simulate(evolve(PLAN, flights=600)))
    package = next(root for m, root in readable(messages) if m.name.endswith("schd-dnld"))
    records = package.findall("SCHD/FLTR")
    share = {tag: Counter(r.findtext(tag) for r in records) for tag in ("MVIN", "FLIN", "FLTY")}
    hours = Counter((r.findtext("SODT") or "")[7:9] for r in records)
    assert 0.4 < share["MVIN"]["A"] / 600 < 0.6
    assert 0.7 < share["FLIN"]["D"] / 600 < 0.88
    assert share["FLTY"]["J"] / 600 > 0.85
    assert 0.05 < sum(r.find("MAID") is not None for r in records) / 600 < 0.3
    assert hours["03"] * 4 < hours["08"]
    kinds = Counter(meta(r, "STYP") for _, r in readable(messages) if meta(r, "TYPE") == "FLOP")
    assert kinds["GTDT"] > kinds["DELY"] > kinds["CNCL"]
    assert 3 < len(messages) / 600 < 12
    assert 0 < sum(bool(m.fault) for m in messages) / len(messages) < 0.04
    assert any("首航" in m.raw.decode() or "加班" in m.raw.decode() for m in messages)


def test_reference_records_have_keys_and_keep_every_shape(day: list[SimulatedMessage]) -> None:
    lists = {
        meta(r, "TYPE"): r
        for m, r in reversed(list(readable(day)))
        if not m.fault and r.find("RECS") is not None
    }
    full = {meta(r, "TYPE"): r for m, r in readable(day) if not m.fault and m.offset_s < 60}
    assert list(full)[:13] == list(sis.CATEGORIES)
    for name, category in sis.CATEGORIES.items():
        keys = [record.findtext(category.key) for record in full[name].iterfind(name)]
        assert all(keys)
        assert len(set(keys)) == len(keys)
    assert len(full["COUL"].findall("COUL[REGC][1]/REGC")) > 1
    assert full["AIRL"].find("AIRL/TRML[@MVIN='A'][@FLIN='D']") is not None
    assert full["AIRC"].find("AIRC/SUBC/CODE") is not None
    assert any(not (e.text or "").strip() for e in full["REGN"].iterfind("REGN/MTOW"))
    assert {r.findtext("RTYP") for r in lists["RSTA"].iterfind("RSTA")} <= sis.RSTA_TYPES
    assert "昆明长水" in ET.tostring(full["ARPT"], encoding="unicode")
