"""The simulated airport: its terminals, gates, stands, desks, belts, chutes, and who uses them when."""

from __future__ import annotations

import random

from attrs import Factory, define, frozen

from msgx_app.simulator import tables

_PROBES = 4
"""So many resources are looked at for a free one; then the last is taken, as in a full terminal."""

DOMESTIC = "D"
INTERNATIONAL = "I"


@frozen
class Resource:
    """A gate, stand, desk, belt or chute: its code, terminal and the traffic it serves (`D`/`I`)."""

    code: str
    terminal: str
    traffic: str


@frozen
class Registration:
    """An aircraft: registration, airline and type."""

    number: str
    airline: str
    type: str


@frozen
class Site:
    """What the airport has, and the world seen from it."""

    home: tables.Airport
    gates: tuple[Resource, ...]
    stands: tuple[Resource, ...]
    desks: tuple[Resource, ...]
    belts: tuple[Resource, ...]
    chutes: tuple[Resource, ...]
    fleet: tuple[Registration, ...]

    def destinations(self, traffic: str) -> tuple[tables.Airport, ...]:
        """The other airports of that traffic; all others where there are none."""
        others = tuple(a for a in tables.AIRPORTS if a.code != self.home.code)
        domestic = traffic == DOMESTIC
        return tuple(a for a in others if (a.country == self.home.country) is domestic) or others

    def traffic_to(self, airport: tables.Airport) -> str:
        """`D` within the country, else `I`."""
        return DOMESTIC if airport.country == self.home.country else INTERNATIONAL

    def airlines_for(self, airport: tables.Airport) -> tuple[tables.Airline, ...]:
        """The airlines of both ends of a route; all airlines where neither end has one."""
        countries = {self.home.country, airport.country}
        return tuple(a for a in tables.AIRLINES if a.country in countries) or tables.AIRLINES

    def terminal(self, traffic: str) -> str:
        """The terminal of a traffic."""
        return "T1" if traffic == DOMESTIC else "T2"


def build_site(code: str, rng: random.Random) -> Site:
    """The airport of that code; one that the tables do not know lies in the first country."""
    unknown = tables.Airport(code, "ZZZZ", f"{code} AIRPORT", f"{code}机场", tables.COUNTRIES[0].code, 60)
    home = next((a for a in tables.AIRPORTS if a.code == code), unknown)
    return Site(
        home=home,
        gates=(*_row("B{:02d}", 1, 34, DOMESTIC), *_row("C{:02d}", 1, 18, INTERNATIONAL)),
        stands=(*_row("{:d}", 201, 252, DOMESTIC), *_row("{:d}", 301, 326, INTERNATIONAL)),
        desks=(*_row("A{:02d}", 1, 36, DOMESTIC), *_row("F{:02d}", 1, 24, INTERNATIONAL)),
        belts=(*_row("{:02d}", 1, 9, DOMESTIC), *_row("{:02d}", 10, 15, INTERNATIONAL)),
        chutes=(*_row("CH{:04d}", 1, 20, DOMESTIC), *_row("CH{:04d}", 21, 32, INTERNATIONAL)),
        fleet=_fleet(rng),
    )


def _row(pattern: str, first: int, last: int, traffic: str) -> tuple[Resource, ...]:
    terminal = "T1" if traffic == DOMESTIC else "T2"
    return tuple(Resource(pattern.format(n), terminal, traffic) for n in range(first, last + 1))


def _fleet(rng: random.Random) -> tuple[Registration, ...]:
    numbers = iter(rng.sample(range(1000, 9999), 8 * len(tables.AIRLINES)))
    fleet: list[Registration] = []
    for airline in tables.AIRLINES:
        types = rng.sample(tables.AIRCRAFT_TYPES, 4)
        prefix = "B-" if airline.country in {"CN", "HK", "MO"} else f"{airline.country}-"
        fleet += [Registration(f"{prefix}{next(numbers)}", airline.code, t.code) for t in types * 2]
    return tuple(fleet)


@define
class Pool:
    """Hands out resources of one kind so that, as far as they go, no two flights overlap on one."""

    resources: tuple[Resource, ...]
    rng: random.Random
    _busy: dict[str, list[tuple[int, int]]] = Factory(dict)

    def take(self, traffic: str, start: int, end: int) -> str:
        """The code of a resource for that traffic and those minutes of the stretch."""
        choice = [r for r in self.resources if r.traffic == traffic]
        probes = self.rng.sample(choice, min(_PROBES, len(choice)))
        code = next((r.code for r in probes if self._free(r.code, start, end)), probes[-1].code)
        self._busy.setdefault(code, []).append((start, end))
        return code

    def several(self, traffic: str, start: int, end: int, count: int) -> tuple[str, ...]:
        """So many neighbours, as check-in desks are given out."""
        choice = [r.code for r in self.resources if r.traffic == traffic]
        first = choice.index(self.take(traffic, start, end))
        first = min(first, max(0, len(choice) - count))
        return tuple(choice[first : first + count])

    def _free(self, code: str, start: int, end: int) -> bool:
        return all(end <= s or start >= e for s, e in self._busy.get(code, ()))
