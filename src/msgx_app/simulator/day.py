"""Simulates an airport's day: `simulate(plan)` gives its messages in order, the same for the same plan."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import count

from attrs import define, field

from msgx_app.simulator.airport import Site, build_site
from msgx_app.simulator.clock import Clock
from msgx_app.simulator.edits import EDITS, Desk, edit_events
from msgx_app.simulator.faults import FAULTS, fault_events
from msgx_app.simulator.flight import Flight
from msgx_app.simulator.lifecycle import (
    added_events,
    deletion_events,
    doomed_families,
    schedule_event,
    script_events,
)
from msgx_app.simulator.plan import SimulatedMessage, SimulationPlan
from msgx_app.simulator.reference import change_events, opening_events
from msgx_app.simulator.timetable import Timetable
from msgx_app.simulator.world import Event, World

_LISTS_FROM_S = 2.0
_LISTS_EVERY_S = 3.0
_SCHEDULE_AT_S = 60.0
_TRAFFIC_FROM_S = 90.0
_DESK_CLOSES_S = 45 * 60
_ALL_FAULTS_FROM_FLIGHTS = 40
_EDITS_PER_FLIGHT = 0.4


def simulate(plan: SimulationPlan) -> Iterator[SimulatedMessage]:
    """The messages of the stretch by `offset_s`; equal plans give equal bytes on every machine.

    Reference lists first, then the 48-hour schedule, then the traffic of the running clock with a second
    schedule in it. `SEQN` rises by one from message to message, duplicates excepted.
    """
    return Simulation(plan).messages()


@define
class Simulation:
    """One run of a plan, for those who also want to see the flights: `flights` is what is true so far.

    After the last message `flights` is what a receiver must hold that supports every `FLOP` kind, apart
    from the flights of `unknown-flight` faults.
    """

    plan: SimulationPlan
    _site: Site = field(init=False)
    _clock: Clock = field(init=False)
    _world: World = field(init=False)
    _events: list[Event] = field(init=False)
    _started: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        self._clock = Clock.of(self.plan)
        self._site = build_site(self.plan.airport, self._chance("site"))
        self._world = World(self.plan, self._site, self._clock, self._chance("looks"))
        self._events = sorted(self._all_events(), key=lambda e: e.at_s)

    @property
    def flights(self) -> Mapping[int, Flight]:
        """The live flights by FLID as the messages given out so far have them."""
        return self._world.flights

    def messages(self) -> Iterator[SimulatedMessage]:
        """Runs the stretch, once; raises RuntimeError the second time."""
        if self._started:
            raise RuntimeError("a simulation runs once; make a new one from the same plan")
        self._started = True
        return self._run()

    def _run(self) -> Iterator[SimulatedMessage]:
        width = max(4, len(str(len(self._events))))
        numbers = count(1)
        for event in self._events:
            out = event.run(self._world, event.at_s) if event.at_s < self.plan.end_s else None
            if out is not None:
                yield SimulatedMessage(
                    event.at_s, f"{next(numbers):0{width}d}-{out.label}", out.raw, out.fault
                )

    def _chance(self, purpose: str) -> random.Random:
        # A stream per purpose: one more choice here does not change what comes out there.
        return random.Random(f"{self.plan.seed}/{purpose}")

    def _all_events(self) -> list[Event]:
        plan, site, clock = self.plan, self._site, self._clock
        timetable = Timetable(site, clock, self._chance("timetable"), plan.first_flid)
        flights = timetable.fill(plan.flights)
        doomed = doomed_families(flights, self._chance("doomed"))
        lost = {f.flid for family in doomed for f in family}
        kept = [f for f in flights if f.flid not in lost]
        traffic = script_events(flights, site, clock, self._chance("traffic"))
        traffic += added_events(plan, timetable, self._chance("added"))
        last_s = max(_TRAFFIC_FROM_S, plan.end_s - _DESK_CLOSES_S)
        desk = Desk(kept, site, clock, self._chance("edits"), _TRAFFIC_FROM_S, last_s)
        traffic += edit_events(desk, max(len(EDITS), round(_EDITS_PER_FLIGHT * len(kept))))
        traffic += deletion_events(doomed, self._chance("deletions"), _TRAFFIC_FROM_S, last_s)
        traffic += change_events(site, clock, self._chance("changes"), plan.end_s)
        traffic += fault_events(desk, self._chance("faults"), self._fault_count(len(traffic)))
        opening = opening_events(site, _LISTS_FROM_S, _LISTS_EVERY_S)
        opening.append(schedule_event(_SCHEDULE_AT_S, flights))
        second = schedule_event(plan.second_window_h * 3600, (), self._window_start_min())
        return [*opening, second, *(e for e in traffic if e.at_s >= _TRAFFIC_FROM_S)]

    def _window_start_min(self) -> int:
        return max(0, int(self.plan.second_window_h * 60) - 60)

    def _fault_count(self, normal: int) -> int:
        plan = self.plan
        if plan.fault_rate == 0:
            return 0
        least = len(FAULTS) if plan.flights >= _ALL_FAULTS_FROM_FLIGHTS else 0
        # Part of the events lies beyond the end of the stretch and is never sent.
        return max(least, round(plan.fault_rate * normal * min(1.0, plan.hours / 48)))
