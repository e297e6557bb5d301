"""Updates, schedules and deletions agree with one another and with the simulator's own flights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from msgx_app.simulator import BROKEN, FAULTS, SimulatedMessage, Simulation, SimulationPlan, simulate
from msgx_app.simulator.markup import Style, render
from msgx_core.model import sis

DAY = date(2027, 3, 14)
PLAN = SimulationPlan(seed=7, day=DAY, flights=160)
NO_EFFECT = frozenset(FAULTS) - {"late", "unknown-flight"}
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


@pytest.fixture(scope="module")
def day() -> list[SimulatedMessage]:
    return list(simulate(PLAN))


class Receiver:
    """A receiver that supports every kind: what it holds must be what the simulator holds."""

    def __init__(self) -> None:
        self.flights: dict[int, dict[str, list[object]]] = {}

    def read(self, root: ET.Element) -> None:
        kind, styp = meta(root, "TYPE"), meta(root, "STYP")
        if kind == "FLOP":
            body = root.find("FLOP")
            assert body is not None
            self._flop(styp, body)
        elif kind == "SCHD":
            for record in root.iterfind("SCHD/FLTR"):
                self._record(record, keep=styp == "ADFT")

    def _flop(self, styp: str, body: ET.Element) -> None:
        flid = int(body.findtext("FLID") or "")
        if styp == "FDEL":
            del self.flights[flid]
            return
        held = self.flights.setdefault(flid, {})
        for tag in sis.FLOP_ROWS[styp].tags:
            held[tag] = content(body, tag)

    def _record(self, record: ET.Element, keep: bool) -> None:
        held = dict(self.flights.get(int(record.findtext("FLID") or ""), {})) if keep else {}
        for tag in sis.MODEL_TAGS:
            value = content(record, tag)
            if value or not keep:
                held[tag] = value
        self.flights[int(record.findtext("FLID") or "")] = held


def content(parent: ET.Element, tag: str) -> list[object]:
    """The elements of a tag as plain values; the empty forms and absence are the empty list."""
    elements = parent.findall(tag)
    if tag in sis.COLLECTIONS or tag in sis.SINGLES:
        elements = [e for e in elements if len(e) or (e.text or "").strip() or e.get("CODE")]
        return [
            (tuple(e.items()), (e.text or "").strip(), tuple((c.tag, c.text) for c in e)) for e in elements
        ]
    return [text for e in elements if (text := (e.text or "").strip())]


def held_by(simulation: Simulation) -> dict[int, dict[str, list[object]]]:
    records = {flid: ET.fromstring(render(f.record(), Style())) for flid, f in simulation.flights.items()}
    return {flid: {tag: content(record, tag) for tag in sis.MODEL_TAGS} for flid, record in records.items()}


@given(plans)
@few
def test_a_receiver_of_everything_ends_with_the_simulators_flights(plan: SimulationPlan) -> None:
    simulation, receiver, strays = Simulation(plan), Receiver(), set()
    for message in simulation.messages():
        if message.fault in NO_EFFECT:
            continue
        root = parse(message)
        receiver.read(root)
        if message.fault == "unknown-flight":
            strays.add(int(root.findtext("FLOP/FLID") or ""))
    got = {f: {t: held.get(t, []) for t in sis.MODEL_TAGS} for f, held in receiver.flights.items()}
    assert strays
    assert {f: held for f, held in got.items() if f not in strays} == held_by(simulation)


def test_the_second_schedule_says_what_the_updates_said() -> None:
    simulation, receiver, seen = Simulation(PLAN), Receiver(), 0
    for message in simulation.messages():
        if message.fault in NO_EFFECT:
            continue
        root = parse(message)
        if message.offset_s > 3600 and message.name.endswith("schd-dnld"):
            for record in root.iterfind("SCHD/FLTR"):
                held = receiver.flights[int(record.findtext("FLID") or "")]
                assert {t: content(record, t) for t in sis.MODEL_TAGS} == {
                    t: held.get(t, []) for t in sis.MODEL_TAGS
                }
                seen += 1
        receiver.read(root)
    assert seen > 60


def test_sodt_never_changes(day: list[SimulatedMessage]) -> None:
    told: dict[str, set[str]] = {}
    for _, root in readable(day):
        for record in root.iterfind("SCHD/FLTR"):
            if sodt := record.findtext("SODT"):
                told.setdefault(record.findtext("FLID") or "", set()).add(sodt)
    assert len(told) > PLAN.flights
    assert all(len(times) == 1 for times in told.values())


@given(plans)
@few
def test_code_shares_are_deleted_before_their_main_flight(plan: SimulationPlan) -> None:
    mains: dict[int, int] = {}
    gone: list[int] = []
    for message, root in readable(simulate(plan)):
        for record in root.iterfind("SCHD/FLTR"):
            if record.findtext("MAID"):
                mains[int(record.findtext("FLID") or "")] = int(record.findtext("MAID") or "")
        if meta(root, "STYP") == "FDEL":
            gone.append(int(root.findtext("FLOP/FLID") or ""))
        elif not message.fault:
            told = {
                int(e.text or "") for e in (*root.iterfind("FLOP/FLID"), *root.iterfind("SCHD/FLTR/FLID"))
            }
            assert not told & set(gone)
    families = {main: [c for c, m in mains.items() if m == main] for main in gone if main in mains.values()}
    assert families
    assert len(set(gone)) == len(gone)
    for main, children in families.items():
        assert all(gone.index(child) < gone.index(main) for child in children)


def test_links_between_flights_hold(day: list[SimulatedMessage]) -> None:
    package = next(root for m, root in readable(day) if m.name.endswith("schd-dnld"))
    flights = {r.findtext("FLID") or "": r for r in package.iterfind("SCHD/FLTR")}
    children = [r for r in flights.values() if r.findtext("MAID")]
    turned = [r for r in flights.values() if r.findtext("TAID")]
    assert len(children) >= 10
    assert len(turned) >= PLAN.flights // 2
    for child in children:
        main = flights[child.findtext("MAID") or ""]
        assert main.findtext("MAID") is None
        assert (child.findtext("CSFT"), child.findtext("CSOP")) == (
            main.findtext("FLNO"),
            main.findtext("ALCD"),
        )
        assert child.findtext("SODT") == main.findtext("SODT")
    for flight in turned:
        other = flights[flight.findtext("TAID") or ""]
        assert other.findtext("TAID") == flight.findtext("FLID")
        assert {flight.findtext("MVIN"), other.findtext("MVIN")} == {"A", "D"}
        assert flight.findtext("RENO") == other.findtext("RENO")
        assert flight.findtext("TAFL") == other.findtext("FLNO")
