"""What happens to a flight as the clock runs: the script of a departure and of an arrival."""

from __future__ import annotations

import random
from collections.abc import Callable

from attrs import Factory, define

from msgx_app.simulator import elements, tables
from msgx_app.simulator.airport import Site
from msgx_app.simulator.clock import Clock
from msgx_app.simulator.flight import (
    Change,
    Flight,
    alter_group,
    extend_group,
    set_group,
    set_values,
)
from msgx_app.simulator.markup import Tag
from msgx_app.simulator.world import Event, flop_event

_ON_TIME = 0.72


@define
class Script:
    """Collects the steps of one flight; its code shares follow where the whole flight is concerned."""

    flight: Flight
    shares: tuple[int, ...]
    site: Site
    clock: Clock
    rng: random.Random
    events: list[Event] = Factory(list)

    def step(self, minute: float, styp: str, change: Change) -> None:
        """One `FLOP` in that minute."""
        self._add(minute * 60 + round(self.rng.uniform(0, 59), 3), self.flight.flid, styp, change)

    def step_all(self, minute: float, styp: str, change: Change) -> None:
        """The same for the flight and, moments later, for its code shares."""
        at_s = minute * 60 + round(self.rng.uniform(0, 50), 3)
        for i, flid in enumerate((self.flight.flid, *self.shares)):
            self._add(at_s + i, flid, styp, change)

    def chance(self, share: float) -> bool:
        """True in so many of all cases."""
        return self.rng.random() < share

    def wire(self, minute: float) -> str:
        """The flight time of a minute."""
        return self.clock.wire(minute)

    def _add(self, at_s: float, flid: int, styp: str, change: Change) -> None:
        self.events.append(flop_event(at_s, flid, styp, change, always=False))

    def pick(self, what: str) -> str:
        """The code of a resource that serves the flight's traffic."""
        resources = {"gate": self.site.gates, "stand": self.site.stands, "belt": self.site.belts}
        resources |= {"desk": self.site.desks, "chute": self.site.chutes}
        return self.rng.choice([r.code for r in resources[what] if r.traffic == self.flight.traffic])


def script(s: Script) -> list[Event]:
    """All steps of a main flight, from the day before to an hour after it."""
    if s.chance(0.02):
        cancel_min = s.flight.sodt_min - s.rng.randrange(60, 240)
        s.step_all(cancel_min, "CNCL", set_values(CNCL=s.wire(cancel_min)))
        return s.events
    late_min = 0 if s.chance(_ON_TIME) else min(420, int(s.rng.gammavariate(1.6, 28)) + 5)
    if s.flight.arriving:
        _before_arrival(s, late_min)
        _after_arrival(s, s.flight.sodt_min + late_min - s.rng.randrange(0, 12))
    else:
        _check_in(s)
        _before_departure(s, late_min)
        _boarding(s, s.flight.sodt_min + late_min + s.rng.randrange(-3, 8))
    return s.events


def _first_text(key: str, code: str) -> Callable[[elements.Group], elements.Group]:
    return lambda group: (group[0].put(key, code), *group[1:]) if group else group


def _delay(s: Script, minute: float, late_min: int) -> None:
    """The delay, at times in two parts, and the estimated time that follows from it."""
    at = s.flight.sodt_min
    parts = (late_min,) if late_min < 60 or s.chance(0.6) else (late_min - 20, 20)
    delays: list[Tag] = []
    for i, part in enumerate(parts):
        code, text = s.rng.choice(tables.DELAY_REASONS)
        delays.append(elements.delay(code, s.wire(at), part, text if s.chance(0.8) else ""))
        s.step_all(minute + 25 * i, "DELY", set_group("DELY", *delays))
        s.step_all(minute + 25 * i + 1, "ESTT", set_values(ESTT=s.wire(at + sum(parts[: i + 1]))))


def _check_in(s: Script) -> None:
    at = s.flight.sodt_min
    if s.chance(0.25):
        s.step(at - 200, "CHDT", alter_group("CHDT", _first_text("CHUT", s.pick("chute"))))
    if s.chance(0.35):
        s.step(at - 185, "CKDT", alter_group("CKDT", _first_text("CHKC", s.pick("desk"))))
    opened, closed = at - 120 + s.rng.randrange(-4, 6), at - 44 + s.rng.randrange(0, 5)
    s.step(opened, "CKDT", alter_group("CKDT", elements.each("COTM", s.wire(opened))))
    if s.chance(0.6):
        s.step(at - 110, "CHDT", alter_group("CHDT", elements.each("CBTM", s.wire(at - 110))))
    s.step(closed, "CKDT", alter_group("CKDT", elements.each("CCTM", s.wire(closed))))
    if s.chance(0.5):
        s.step(closed + 15, "CKDT", set_group("CKDT"))


def _before_departure(s: Script, late_min: int) -> None:
    at, kind = s.flight.sodt_min, s.flight.traffic
    if s.chance(0.15):
        code = s.pick("stand")
        s.step(at - 105, "PSDT", set_group("PSDT", elements.stand(1, code, s.wire(at - 60), s.wire(at))))
        s.step(at - 104, "STND", set_values(STND=code))
    has_gate = bool(s.flight.groups.get("GTDT"))
    if s.chance(0.2) or not has_gate:
        gate = elements.gate(1, s.pick("gate"), s.wire(at - 50), s.wire(at - 15), kind)
        s.step(at - 95 if has_gate else at - 600, "GTDT", set_group("GTDT", gate))
    if not s.flight.groups.get("CHDT"):
        chute = elements.chute(1, s.pick("chute"), s.wire(at - 120), s.wire(at - 20), kind)
        s.step(at - 590, "CHDT", set_group("CHDT", chute))
    if late_min:
        _delay(s, at - 80, late_min)


def _boarding(s: Script, off: int) -> None:
    wire = s.wire
    s.step(off - 46, "GTDT", alter_group("GTDT", elements.each("GOTM", wire(off - 46))))
    s.step(off - 40, "BOTM", set_values(BOTM=wire(off - 40)))
    s.step(off - 18, "LACL", set_values(LACL=wire(off - 18)))
    s.step(off - 12, "GTDT", alter_group("GTDT", elements.each("GCTM", wire(off - 12))))
    if s.chance(0.5):
        s.step(off - 11, "CHDT", alter_group("CHDT", elements.each("CETM", wire(off - 11))))
    stand = s.flight.values.get("STND", "")
    if s.chance(0.6):
        s.step(
            off - 6,
            "ABTM",
            extend_group("ABTM", lambda n: elements.bridge(n, f"{stand}A", "U", wire(off - 6))),
        )
    s.step(off, "CHOT", extend_group("CHOT", lambda n: elements.chock(n, wire(off), "OFF", stand)))
    s.step_all(off + 12, "ACTT", set_values(ACTT=wire(off + 12)))
    if s.chance(0.01):
        s.step(off + 35, "FRET", set_group("FRET", Tag("FRET", "机械故障返航", attributes=(("REID", "A"),))))
    if s.chance(0.25):
        s.step(off + 50, "GTDT", set_group("GTDT"))
    if s.chance(0.25):
        s.step(off + 55, "CHDT", set_group("CHDT"))


def _before_arrival(s: Script, late_min: int) -> None:
    at, kind = s.flight.sodt_min, s.flight.traffic
    if s.chance(0.2):
        code = s.pick("stand")
        s.step(at - 90, "PSDT", set_group("PSDT", elements.stand(1, code, s.wire(at), s.wire(at + 60))))
        s.step(at - 89, "STND", set_values(STND=code))
    if s.chance(0.25) or not s.flight.groups.get("CLDT"):
        belt = elements.belt(1, s.pick("belt"), s.wire(at + 10), s.wire(at + 50), kind)
        s.step(at - 70, "CLDT", set_group("CLDT", belt))
    if late_min:
        _delay(s, at - 120, late_min)
    else:
        s.step_all(at - 130, "ESTT", set_values(ESTT=s.wire(at - 5)))


def _after_arrival(s: Script, on: int) -> None:
    wire = s.wire
    s.step(on - 24, "APPT", set_values(APPT=wire(on - 24)))
    s.step_all(on - 12, "FINT", set_values(FINT=wire(on)))
    s.step_all(on, "ACTT", set_values(ACTT=wire(on)))
    if s.chance(0.006):
        there = s.rng.choice(s.site.destinations("D")).code
        attributes = (("DDES", there), ("DDIR", "TO"))
        s.step(on - 20, "FDIV", set_group("FDIV", Tag("FDIV", "天气 <雷雨>", attributes=attributes)))
    stand = s.flight.values.get("STND", "")
    s.step(on + 6, "CHOT", extend_group("CHOT", lambda n: elements.chock(n, wire(on + 6), "ON", stand)))
    if s.chance(0.6):
        s.step(
            on + 8, "ABTM", extend_group("ABTM", lambda n: elements.bridge(n, f"{stand}A", "D", wire(on + 8)))
        )
    s.step(on + 17, "CLDT", alter_group("CLDT", elements.each("FBAG", wire(on + 17))))
    s.step(on + 38, "CLDT", alter_group("CLDT", elements.each("LBAG", wire(on + 38))))
    if s.chance(0.4):
        s.step(on + 75, "CLDT", set_group("CLDT"))
    if s.chance(0.3):
        s.step(on + 80, "PSDT", set_group("PSDT"))
