"""Single corrections of operators, of every `FLOP` kind there is, sprinkled over the day."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from attrs import frozen

from msgx_app.simulator import elements, tables
from msgx_app.simulator.airport import Site
from msgx_app.simulator.clock import Clock
from msgx_app.simulator.flight import Change, Flight, extend_group, set_group, set_values
from msgx_app.simulator.markup import Tag
from msgx_app.simulator.world import Event, flop_event

_LEAD_MIN = (40, 300)
_BETWEEN_MIN = (4, 20)


@frozen
class Scene:
    """What an edit may look at: the flight as planned, the minute, and the world around."""

    flight: Flight
    minute: int
    site: Site
    clock: Clock
    rng: random.Random

    def at(self, minutes: int) -> str:
        """A flight time so many minutes from the edit."""
        return self.clock.wire(self.minute + minutes)


@frozen
class Edit:
    """An edit: its STYP, the movement it fits (`A`, `D`, or empty) and its steps, minutes apart."""

    styp: str
    movement: str
    steps: Callable[[Scene], Sequence[Change]]


def _time(tag: str, minutes: int, clears: bool = True) -> Callable[[Scene], Sequence[Change]]:
    def steps(s: Scene) -> Sequence[Change]:
        setting = set_values(**{tag: s.at(minutes)})
        return (setting, set_values(**{tag: ""})) if clears else (setting,)

    return steps


def _texts(*changes: dict[str, str]) -> Callable[[Scene], Sequence[Change]]:
    return lambda _: tuple(set_values(**values) for values in changes)


def _emptied(tag: str) -> Callable[[Scene], Sequence[Change]]:
    return lambda _: (set_group(tag),)


def _aircraft(s: Scene) -> Sequence[Change]:
    return (set_values(ACFT=s.rng.choice(tables.AIRCRAFT_TYPES).code),)


def _registration(s: Scene) -> Sequence[Change]:
    return (set_values(RENO=""), set_values(RENO=s.rng.choice(s.site.fleet).number))


def _rerouted(name: str) -> Callable[[Scene], Sequence[Change]]:
    def steps(s: Scene) -> Sequence[Change]:
        home, at = s.site.home.code, s.flight.sodt_min
        others = [a.code for a in s.rng.sample(s.site.destinations("D"), s.rng.choice((1, 2, 4)))]
        points = [*others, home] if s.flight.arriving else [home, *others]
        leaves, arrives = (at - 150, at) if s.flight.arriving else (at, at + 150)
        return (set_group(name, *elements.route(name, s.clock, points, leaves, arrives)),)

    return steps


def _diverted(s: Scene) -> Sequence[Change]:
    there = s.rng.choice(s.site.destinations("D")).code
    tag = Tag("FDIV", "雷雨 & 低云", attributes=(("DDES", there), ("DDIR", "TO")))
    return (set_group("FDIV", tag), set_group("FDIV"))


def _returned(s: Scene) -> Sequence[Change]:
    return (set_group("FRET", Tag("FRET", "旅客突发疾病", attributes=(("REID", "G"),))), set_group("FRET"))


def _delayed(s: Scene) -> Sequence[Change]:
    code, text = s.rng.choice(tables.DELAY_REASONS)
    return (
        set_group("DELY", elements.delay(code, s.clock.wire(s.flight.sodt_min), 25, text)),
        set_group("DELY"),
    )


def _chocks(s: Scene) -> Sequence[Change]:
    stand = s.flight.values.get("STND", "")
    return (extend_group("CHOT", lambda n: elements.chock(n, s.at(0), "ON", stand)),)


def _bridges(s: Scene) -> Sequence[Change]:
    return (
        extend_group("ABTM", lambda n: elements.bridge(n, "212", "D", s.at(0))),
        extend_group("ABTM", lambda n: elements.bridge(n, "212", "U", s.at(9))),
    )


def _two_stands(s: Scene) -> Sequence[Change]:
    first, second = s.rng.sample([r.code for r in s.site.stands if r.traffic == s.flight.traffic], 2)
    times = (s.at(30), s.at(90))
    both = (elements.stand(1, first, *times), elements.stand(1, second, times[1], s.at(150)))
    return (set_group("PSDT", *both),)


EDITS = (
    Edit("ACFT", "", _aircraft),
    Edit("ACTT", "", _time("ACTT", -2)),
    Edit("BOTM", "D", _time("BOTM", 0)),
    Edit("LACL", "D", _time("LACL", 0)),
    Edit("ESTT", "", _time("ESTT", 45)),
    Edit("FINT", "A", _time("FINT", 12)),
    Edit("APPT", "A", _time("APPT", 0)),
    Edit("CNCL", "", _time("CNCL", 0)),
    Edit("EGSR", "", _time("EGSR", -1, clears=False)),
    Edit("EGST", "", _time("EGST", 5)),
    Edit("NAAT", "", _time("NAAT", 3, clears=False)),
    Edit("NEAT", "", _time("NEAT", 30, clears=False)),
    Edit("PEDT", "A", _time("PEDT", -60, clears=False)),
    Edit("PADT", "", _texts({"PADT": "P2"}, {"PADT": ""})),
    Edit("FTSS", "", _texts({"FTSS": "BOR"}, {"FTSS": "POK"})),
    Edit("FLTY", "", _texts({"FLTY": "G"}, {"FLTY": "J"})),
    Edit("FLIN", "", _texts({"FLIN": "M"})),
    Edit("TRML", "", _texts({"TRML": ""}, {"TRML": "T1"})),
    Edit("STND", "", _texts({"STND": "299"}, {"STND": ""})),
    Edit("BDPB", "", _texts({"BDPB": "1"})),
    Edit("REMC", "", _texts({"REMC": tables.REMARKS[2]}, {"REMC": ""})),
    Edit("MAXP", "", _texts({"MAXP": "158"}, {"MAXP": ""})),
    Edit("VIPP", "", _texts({"VIPP": "1", "VIPR": "3"}, {"VIPP": "", "VIPR": ""})),
    Edit("EXSS", "", _texts({"EXSC": "RTG", "EXSR": "滑回 <刹车过热>"}, {"EXSC": "", "EXSR": ""})),
    Edit("HNAG", "", _texts({"PHAG": "YNGH", "FHAG": "", "MHAG": "TECM"})),
    Edit("TAOP", "A", _texts({"TAOP": "", "TAFL": "", "TAID": ""})),
    Edit("RENO", "", _registration),
    Edit("ROUT", "", _rerouted("ROUT")),
    Edit("ERUT", "", _rerouted("ERUT")),
    Edit("FDIV", "A", _diverted),
    Edit("FRET", "D", _returned),
    Edit("DELY", "", _delayed),
    Edit("CHOT", "A", _chocks),
    Edit("ABTM", "", _bridges),
    Edit("PSDT", "", _two_stands),
    Edit("PSDT", "", _emptied("PSDT")),
    Edit("GTDT", "D", _emptied("GTDT")),
    Edit("CKDT", "D", _emptied("CKDT")),
    Edit("CHDT", "D", _emptied("CHDT")),
    Edit("CLDT", "A", _emptied("CLDT")),
)


@frozen
class Desk:
    """Who makes the edits: on which flights, between which seconds of the stretch."""

    flights: Sequence[Flight]
    site: Site
    clock: Clock
    rng: random.Random
    first_s: float
    last_s: float

    def edit(self, edit: Edit, late_s: float = 0) -> Iterator[Event]:
        """The events of one edit on some flight that it fits, none when there is no such flight."""
        fitting = [f for f in self.flights if not edit.movement or f.arriving is (edit.movement == "A")]
        soon = [f for f in fitting if self.first_s < (f.sodt_min - _LEAD_MIN[0]) * 60 < self.last_s]
        if not fitting:
            return
        flight = self.rng.choice(soon or fitting)
        lead_s = self.rng.uniform(*_LEAD_MIN) * 60
        at_s = round(min(max(self.first_s, flight.sodt_min * 60 - lead_s), self.last_s), 3)
        scene = Scene(flight, int(at_s // 60), self.site, self.clock, self.rng)
        for change in edit.steps(scene):
            yield flop_event(at_s, flight.flid, edit.styp, change, late_s)
            at_s = round(at_s + self.rng.uniform(*_BETWEEN_MIN) * 60, 3)


def edit_events(desk: Desk, count: int) -> list[Event]:
    """So many edits, each kind as often as the others, in a random order."""
    order = [EDITS[i % len(EDITS)] for i in range(count)]
    desk.rng.shuffle(order)
    return [event for edit in order for event in desk.edit(edit)]
