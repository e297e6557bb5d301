"""How flights come and go: schedules, flights added later (`ADFT`), deletions (`FDEL`), and their scripts."""

from __future__ import annotations

import random
from collections.abc import Sequence

from attrs import evolve

from msgx_app.simulator.airport import Site
from msgx_app.simulator.clock import Clock
from msgx_app.simulator.elements import Group, stand
from msgx_app.simulator.flight import Flight
from msgx_app.simulator.markup import Tag
from msgx_app.simulator.plan import WINDOW_MIN, SimulationPlan
from msgx_app.simulator.timetable import Timetable
from msgx_app.simulator.traffic import Script, script
from msgx_app.simulator.world import Event, Outgoing, World

Family = tuple[Flight, ...]
_DELETED_SHARE = 0.015
_ADDED_SHARE = 0.02
_DOOMED_NOT_BEFORE_MIN = 5 * 60


def schedule_event(at_s: float, new: Sequence[Flight], first_min: int = 0) -> Event:
    """Takes `new` flights in and sends the `DNLD` of all flights of the window, as they are now.

    The window is `first_min` to the end of the 48 hours; an empty window is not sent.
    """

    def run(world: World, now_s: float) -> Outgoing | None:
        world.flights.update((f.flid, f) for f in new)
        inside = [f for f in world.flights.values() if f.scheduled and first_min <= f.sodt_min < WINDOW_MIN]
        inside.sort(key=lambda f: (f.sodt_min, f.flid))
        return world.schedule("DNLD", inside, now_s) if inside else None

    return Event(at_s, run)


def script_events(flights: Sequence[Flight], site: Site, clock: Clock, rng: random.Random) -> list[Event]:
    """The scripts of all main flights; code shares follow theirs."""
    shares: dict[int, list[int]] = {}
    for flight in flights:
        if flight.main is not None:
            shares.setdefault(flight.main, []).append(flight.flid)
    events: list[Event] = []
    for flight in flights:
        if flight.main is None:
            events += script(Script(flight, tuple(shares.get(flight.flid, ())), site, clock, rng))
    return events


def doomed_families(flights: Sequence[Flight], rng: random.Random) -> list[Family]:
    """The flights that will be deleted: each a main flight behind its code shares, or one code share.

    At least one family with a code share when there is one, and one code share alone when there are two.
    """
    mains = [f for f in flights if f.main is None and f.sodt_min >= _DOOMED_NOT_BEFORE_MIN]
    shared = {f.main for f in flights if f.main is not None}
    with_shares = [f for f in mains if f.flid in shared]
    chosen = rng.sample(with_shares, min(1, len(with_shares)))
    others = [f for f in mains if f not in chosen]
    chosen += rng.sample(others, min(len(others), round(_DELETED_SHARE * len(flights))))
    gone = {f.flid for f in chosen}
    families = [(*(c for c in flights if c.main == f.flid), f) for f in chosen]
    left = [f for f in flights if f.main is not None and f.main not in gone]
    if len(with_shares) > 1 and left:
        families.append((rng.choice(left),))
    return families


def deletion_events(
    families: Sequence[Family], rng: random.Random, first_s: float, last_s: float
) -> list[Event]:
    """The `FDEL`s, some hours before the flight; a code share goes before its main flight."""
    events = []
    for family in families:
        latest_s = min(last_s, family[-1].sodt_min * 60 - 7200)
        at_s = rng.uniform(first_s, max(first_s, latest_s))
        events += [_deletion(round(at_s + 2 * i, 3), flight.flid) for i, flight in enumerate(family)]
    return events


def _deletion(at_s: float, flid: int) -> Event:
    def run(world: World, now_s: float) -> Outgoing | None:
        flight = world.flights.pop(flid, None)
        if flight is None:
            return None
        world.deleted[flid] = flight
        children = (Tag("FLID", str(flid)), Tag("FFID", flight.ffid), Tag("FDEL"))
        return world.send("FLOP", "FDEL", (Tag("FLOP", children=children),), now_s)

    return Event(at_s, run)


def added_events(plan: SimulationPlan, timetable: Timetable, rng: random.Random) -> list[Event]:
    """Flights that come by `ADFT`, the first after a `FLOP` that nobody could place, and their scripts.

    An `ADFT` that only sets a few values of a scheduled flight is among them.
    """
    scheduled = [f for f in timetable.flights if f.main is None]
    last_min = int(plan.end_s // 60)
    events: list[Event] = []
    for i in range(max(1, round(_ADDED_SHARE * plan.flights))):
        at_min = rng.uniform(0.1, 0.6) * last_min
        first = min(int(at_min) + 180, WINDOW_MIN - 60)
        flight = timetable.fill(1, first, min(first + 600, WINDOW_MIN - 1))[0]
        flight = flight.with_values(FLTY="C", REMC="加班包机")
        at_s = round(at_min * 60, 3)
        if i == 0:
            events.append(_early(at_s - 600, flight, timetable.clock))
        events.append(_addition(at_s, flight))
        follows = script(Script(flight, (), timetable.site, timetable.clock, rng))
        events += [e for e in follows if e.at_s > at_s]
    target = rng.choice(scheduled)
    sets = {"RENO": rng.choice(timetable.site.fleet).number, "PAXC": "148", "LBWT": "1834.5"}
    sets |= {"LBNO": "121", "ALSC": "A"}
    events.append(_partial(rng.uniform(0.2, 0.7) * plan.end_s, target.flid, sets))
    return events


def _early(at_s: float, flight: Flight, clock: Clock) -> Event:
    """A `FLOP` of a flight that only comes later: it knows nothing but its stand."""
    at = flight.sodt_min
    group: Group = (stand(1, "231", clock.wire(at - 30), clock.wire(at + 30)),)

    def run(world: World, now_s: float) -> Outgoing | None:
        bare = evolve(flight, values={}, groups={})
        world.flights[flight.flid] = bare
        return world.flop(flight.flid, "PSDT", lambda f: f.with_group("PSDT", group), now_s)

    return Event(round(at_s, 3), run)


def _addition(at_s: float, flight: Flight) -> Event:
    def run(world: World, now_s: float) -> Outgoing | None:
        known = world.flights.get(flight.flid)
        groups = {**(known.groups if known else {}), **{k: g for k, g in flight.groups.items() if g}}
        values = {**(known.values if known else {}), **{k: v for k, v in flight.values.items() if v}}
        world.flights[flight.flid] = full = evolve(flight, values=values, groups=groups)
        return world.send("SCHD", "ADFT", (Tag("SCHD", children=(full.record(),)),), now_s)

    return Event(at_s, run)


def _partial(at_s: float, flid: int, sets: dict[str, str]) -> Event:
    """An `ADFT` for a known flight: some values, and an empty tag that changes nothing (D-17)."""

    def run(world: World, now_s: float) -> Outgoing | None:
        flight = world.flights.get(flid)
        if flight is None:
            return None
        world.flights[flid] = flight.with_values(**sets)
        tags = (Tag("FLID", str(flid)), Tag("ACFT"), *(Tag(n, t) for n, t in sets.items()))
        body = Tag("SCHD", children=(Tag("RECS", "1"), Tag("FLTR", children=tags)))
        return world.send("SCHD", "ADFT", (body,), now_s)

    return Event(round(at_s, 3), run)
