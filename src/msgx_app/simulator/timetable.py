"""Makes the flights of a window: rotations with turnarounds, code shares, routes and planned resources."""

from __future__ import annotations

import random

from attrs import Factory, define, field, frozen

from msgx_app.simulator import elements, tables
from msgx_app.simulator.airport import DOMESTIC, INTERNATIONAL, Pool, Registration, Site
from msgx_app.simulator.clock import Clock
from msgx_app.simulator.flight import Flight
from msgx_app.simulator.plan import WINDOW_MIN

# Departures and arrivals per hour of the day: quiet nights, a morning peak, an evening peak.
HOURLY = (4, 2, 1, 1, 1, 3, 9, 16, 18, 15, 13, 13, 14, 15, 14, 13, 14, 15, 16, 15, 13, 12, 10, 7)
_DOMESTIC_SHARE = 0.78
_TURNAROUND_SHARE = 0.8
_CODE_SHARE = 0.14
_EVERY_NTH_SHARED = 8
_UNASSIGNED_AFTER_MIN = 34 * 60


@frozen
class Leg:
    """What the two flights of a rotation have in common."""

    airline: tables.Airline
    other: tables.Airport
    traffic: str
    aircraft: Registration
    number: int
    stand: str


@define
class Timetable:
    """Makes flights one rotation after the other; FLIDs count up from `next_flid`."""

    site: Site
    clock: Clock
    rng: random.Random
    next_flid: int
    flights: list[Flight] = Factory(list)
    _numbers: set[str] = Factory(set)
    _mains: int = 0
    _gates: Pool = field(init=False)
    _stands: Pool = field(init=False)
    _desks: Pool = field(init=False)
    _belts: Pool = field(init=False)
    _chutes: Pool = field(init=False)

    def __attrs_post_init__(self) -> None:
        site, rng = self.site, self.rng
        self._gates, self._stands = Pool(site.gates, rng), Pool(site.stands, rng)
        self._desks, self._belts, self._chutes = (Pool(r, rng) for r in (site.desks, site.belts, site.chutes))

    def fill(self, count: int, first_min: int = 0, last_min: int = WINDOW_MIN - 1) -> tuple[Flight, ...]:
        """Exactly so many flights, code shares included, with `SODT` in these minutes; by time and FLID."""
        end = len(self.flights) + count
        begin = len(self.flights)
        while len(self.flights) < end:
            self._rotation(end - len(self.flights), first_min, last_min)
        return tuple(sorted(self.flights[begin:], key=lambda f: (f.sodt_min, f.flid)))

    def _rotation(self, room: int, first_min: int, last_min: int) -> None:
        at = self._time(first_min, last_min)
        ground = self.rng.randrange(45, 150, 5)
        turns = room > 1 and at + ground <= last_min and self.rng.random() < _TURNAROUND_SHARE
        leg = self._leg(at, at + ground)
        if not turns:
            self._add(leg, self.rng.random() < 0.5, at)
            self._share(room - 1)
            return
        arrival, departure = self._add(leg, True, at), self._add(leg, False, at + ground)
        self.flights[-2:] = [_linked(arrival, departure), _linked(departure, arrival)]
        self._share(room - 2)

    def _time(self, first_min: int, last_min: int) -> int:
        for _ in range(50):
            day = self.rng.randrange(0, last_min // 1440 + 1)
            hour = self.rng.choices(range(24), HOURLY)[0]
            at = day * 1440 + hour * 60 + self.rng.randrange(0, 60, 5)
            if first_min <= at <= last_min:
                return at
        return self.rng.randint(first_min, last_min)

    def _leg(self, start: int, end: int) -> Leg:
        rng = self.rng
        wanted = DOMESTIC if rng.random() < _DOMESTIC_SHARE else INTERNATIONAL
        other = rng.choice(self.site.destinations(wanted))
        traffic = self.site.traffic_to(other)
        airline = rng.choice(self.site.airlines_for(other))
        aircraft = rng.choice([r for r in self.site.fleet if r.airline == airline.code])
        stand = self._stands.take(traffic, start - 20, end + 20)
        return Leg(airline, other, traffic, aircraft, self._number(airline.code), stand)

    def _number(self, code: str) -> int:
        number = self.rng.randrange(1000, 9998)
        while f"{code}{number}" in self._numbers or f"{code}{number + 1}" in self._numbers:
            number = self.rng.randrange(1000, 9998)
        self._numbers |= {f"{code}{number}", f"{code}{number + 1}"}
        return number

    def _add(self, leg: Leg, arriving: bool, at: int) -> Flight:
        values = self._values(leg, arriving, at)
        groups = self._arrival_groups(leg, at) if arriving else self._departure_groups(leg, at)
        if at > _UNASSIGNED_AFTER_MIN and self.rng.random() < 0.5:
            groups |= dict.fromkeys(("CLDT",) if arriving else ("GTDT", "CHDT"), ())
        flight = Flight(self._flid(), arriving, at, values, groups)
        self.flights.append(flight)
        self._mains += 1
        return flight

    def _flid(self) -> int:
        self.next_flid += 1
        return self.next_flid - 1

    def _values(self, leg: Leg, arriving: bool, at: int) -> dict[str, str]:
        rng, code = self.rng, leg.airline.code
        seats = next(t.seats for t in tables.AIRCRAFT_TYPES if t.code == leg.aircraft.type)
        values = {"ALCD": code, "FLNO": f"{code}{leg.number + (not arriving)}"}
        values |= {"MVIN": "A" if arriving else "D", "SODT": self.clock.wire(at)}
        values |= {"FLTY": rng.choices(("J", "G", "C"), (93, 4, 3))[0], "FLIN": leg.traffic}
        values |= {"ACFT": leg.aircraft.type, "RENO": leg.aircraft.number}
        values |= {"TRML": self.site.terminal(leg.traffic), "STND": leg.stand}
        values |= {"PHAG": rng.choice(("APGS", "SKYH", "YNGH")), "FHAG": rng.choice(("APGS", "SKYH"))}
        values |= {"MHAG": "TECM", "MAXP": str(seats)}
        if rng.random() < 0.1:
            values["REMC"] = rng.choice(tables.REMARKS)
        elif rng.random() < 0.05:
            values["REMC"] = ""
        return values

    def _arrival_groups(self, leg: Leg, at: int) -> dict[str, elements.Group]:
        wire, kind = self.clock.wire, leg.traffic
        opens, closes = at + 10, at + 50
        codes = [self._belts.take(kind, opens, closes) for _ in range(self.rng.choice((1, 1, 1, 2)))]
        return {
            "CLDT": tuple(
                elements.belt(i, c, wire(opens), wire(closes), kind) for i, c in enumerate(codes, 1)
            ),
            "PSDT": (elements.stand(1, leg.stand, wire(at), wire(at + 60)),),
            "ROUT": self._route("ROUT", leg, True, at),
        }

    def _departure_groups(self, leg: Leg, at: int) -> dict[str, elements.Group]:
        wire, kind, rng = self.clock.wire, leg.traffic, self.rng
        early = 120 if kind == DOMESTIC else 180
        desks = self._desks.several(kind, at - early, at - 45, rng.randint(2, 5))
        gates = [self._gates.take(kind, at - 50, at - 10) for _ in range(rng.choice((1, 1, 1, 1, 2)))]
        chutes = [self._chutes.take(kind, at - early, at - 20) for _ in range(rng.choice((1, 2)))]
        opens, closes = wire(at - early), wire(at - 20)
        groups = {
            "GTDT": tuple(
                elements.gate(i, g, wire(at - 50), wire(at - 15), kind) for i, g in enumerate(gates, 1)
            ),
            "CKDT": elements.desks(desks, wire(at - early), wire(at - 45), kind),
            "CHDT": tuple(elements.chute(i, c, opens, closes, kind) for i, c in enumerate(chutes, 1)),
            "PSDT": (elements.stand(1, leg.stand, wire(at - 60), wire(at)),),
            "ROUT": self._route("ROUT", leg, False, at),
        }
        if rng.random() < 0.2:
            groups["ERUT"] = self._route("ERUT", leg, False, at)
        return groups

    def _route(self, name: str, leg: Leg, arriving: bool, at: int) -> elements.Group:
        vias = [a.code for a in tables.AIRPORTS if a.code not in {leg.other.code, self.site.home.code}]
        stops = self.rng.choices((0, 1, 2, 3), (86, 10, 3, 1))[0]
        points = [self.site.home.code, *self.rng.sample(vias, stops), leg.other.code]
        block = leg.other.block_min + 75 * stops
        if arriving:
            return elements.route(name, self.clock, points[::-1], at - block, at)
        return elements.route(name, self.clock, points, at, at + block)

    def _share(self, room: int) -> None:
        """Sells seats of the newest flight under other airlines' numbers, as far as there is room."""
        main = self.flights[-1]
        forced = self._mains % _EVERY_NTH_SHARED < 2
        count = self.rng.choice((1, 1, 2)) if forced or self.rng.random() < _CODE_SHARE else 0
        partners = [a for a in tables.AIRLINES if a.code != main.values["ALCD"]]
        for partner in self.rng.sample(partners, min(count, room)):
            same = {k: main.values[k] for k in ("MVIN", "SODT", "FLTY", "FLIN", "ACFT", "TRML")}
            values = {"ALCD": partner.code, "FLNO": f"{partner.code}{self._number(partner.code)}", **same}
            values |= {"CSOP": main.values["ALCD"], "CSFT": main.values["FLNO"], "MAID": str(main.flid)}
            groups = {k: g for k, g in main.groups.items() if k in {"ROUT", "GTDT"}}
            child = Flight(self._flid(), main.arriving, main.sodt_min, values, groups, main.flid)
            self.flights.append(child)


def _linked(flight: Flight, other: Flight) -> Flight:
    """The flight with its turnaround: operator, number and FLID of the other flight."""
    v = other.values
    return flight.with_values(TAOP=v["ALCD"], TAFL=v["FLNO"], TAID=str(other.flid))
