"""Flights and rosters in a dictionary: it answers a `FlightQuery` as the port promises, and whatever is
committed to it must keep the laws that every message keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from attrs import Factory, define

from msgx_core.model.change import FlightPut, FlightQuery, FlightSnapshot, RosterReplace
from msgx_core.model.flight import FlightState
from msgx_core.model.message import FlightRecord, SchedulePackage
from msgx_core.model.schedule import Coverage, Nothing, Roster
from msgx_core.rules.coverage import check_package, check_scope
from msgx_core.rules.merge import read_flop
from msgx_core.rules.policy import Policy
from msgx_core.rules.records import read_record
from msgx_core.rules.schedule import SchedulePlan, plan_schedule, schedule_query
from msgx_core.rules.single import NoEffect, Step, plan_adft, plan_fdel, plan_flop
from tests.unit.core.build import NOW, POLICY

Single = tuple[FlightPut, ...] | NoEffect


@define
class World:
    """What a store holds between two messages."""

    flights: dict[int, FlightState] = Factory(dict)
    rosters: dict[date, Roster] = Factory(dict)
    floors: dict[int, int] = Factory(dict)
    policy: Policy = POLICY
    msg_id: int = 1

    @classmethod
    def of(
        cls, *flights: FlightState, policy: Policy = POLICY, covered: Mapping[date, int] | None = None
    ) -> World:
        """These flights, the live ones on the roster of their day; `covered` gives generations."""
        world = cls({f.flid: f for f in flights}, policy=policy)
        for day, generation in (covered or {}).items():
            world.rosters[day] = Roster(day, generation, frozenset())
        world._to_rosters({f.flid: f.operation_day for f in flights if f.is_live and f.operation_day})
        return world

    def read(self, query: FlightQuery) -> FlightSnapshot:
        """The answer of the port's docstring."""
        rosters = {day: self.rosters.get(day, Roster(day, 0, frozenset())) for day in query.roster_days}
        inside = frozenset(f.flid for f in self.flights.values() if f.is_live and _within(f, query))
        asked = query.flids.union(inside, *(roster.flids for roster in rosters.values()))
        stored = {self.flights[flid].main_flid for flid in asked & self.flights.keys()}
        family = asked | query.maids | stored
        found = {
            f.flid: f
            for f in self.flights.values()
            if f.flid in family or (f.is_live and f.main_flid in family)
        }
        days = {f.operation_day for f in found.values() if f.operation_day} | query.days | query.roster_days
        return FlightSnapshot(
            flights=found,
            floors={flid: floor for flid, floor in self.floors.items() if flid in asked - found.keys()},
            rosters=rosters,
            generations={day: self.generation(day) for day in days},
            in_interval=inside,
        )

    def schedule(self, body: SchedulePackage, coverage: Coverage | None = None) -> SchedulePlan:
        """Check, decide and commit a schedule."""
        covers = Nothing() if coverage is None else coverage
        checked = check_package(body, self.policy)
        check_scope(checked, covers)
        self.msg_id += 1
        snapshot = self.read(schedule_query(checked, covers, "AODB"))
        plan = plan_schedule(checked, covers, snapshot, msg_id=self.msg_id, now=NOW, policy=self.policy)
        self._commit(plan.flights, plan.rosters, plan.roster_add, plan.roster_remove)
        return plan

    def adft(self, sent: FlightRecord) -> tuple[FlightPut, ...]:
        """Decide and commit an ADFT."""
        values = read_record(sent, int(sent.flid or ""))
        maid = values.values.get("MAID")
        maids = frozenset({maid}) if isinstance(maid, int) else frozenset()
        return self._single(plan_adft(values, self._step(FlightQuery(frozenset({values.flid}), maids))))

    def flop(self, styp: str, sent: FlightRecord) -> Single:
        """Decide and commit a FLOP."""
        update = read_flop(styp, sent)
        planned = plan_flop(update, self._step(FlightQuery(frozenset({update.flid}))))
        return planned if isinstance(planned, NoEffect) else self._single(planned)

    def fdel(self, flid: int) -> Single:
        """Decide and commit an FDEL."""
        planned = plan_fdel(flid, self._step(FlightQuery(frozenset({flid}))))
        return planned if isinstance(planned, NoEffect) else self._single(planned)

    def generation(self, day: date) -> int:
        """Roster generation of a day; 0: never covered."""
        return self.rosters[day].version if day in self.rosters else 0

    def roster(self, day: date) -> set[int]:
        """FLIDs on the roster of a day."""
        return set(self.rosters[day].flids) if day in self.rosters else set()

    @property
    def live(self) -> set[int]:
        """FLIDs of live flights."""
        return {f.flid for f in self.flights.values() if f.is_live}

    def _step(self, query: FlightQuery) -> Step:
        self.msg_id += 1
        return Step(self.read(query), self.msg_id, NOW, self.policy)

    def _single(self, puts: tuple[FlightPut, ...]) -> tuple[FlightPut, ...]:
        self._commit(puts, (), {}, frozenset(p.state.flid for p in puts if not p.state.is_live))
        return puts

    def _commit(
        self,
        puts: Iterable[FlightPut],
        rosters: Iterable[RosterReplace],
        add: Mapping[int, date],
        remove: frozenset[int],
    ) -> None:
        seen: set[int] = set()
        for put in puts:
            assert put.state.flid not in seen, "one put per flight and message (D-15)"
            seen.add(put.state.flid)
            self._check_law(put)
            self.flights[put.state.flid] = put.state
        for replaced in rosters:
            assert replaced.read_version == self.generation(replaced.day)
            self.rosters[replaced.day] = Roster(replaced.day, replaced.read_version + 1, replaced.flids)
        self._to_rosters(add)
        for day, roster in self.rosters.items():
            self.rosters[day] = Roster(day, roster.version, roster.flids - remove)

    def _check_law(self, put: FlightPut) -> None:
        state, before = put.state, self.flights.get(put.state.flid)
        assert put.read_version == (None if before is None else before.version)
        held = self.floors.get(state.flid, 0) if before is None else before.version
        assert state.version == held + put.advanced, "one step, above what was read or the floor (D-15, D-37)"
        assert state.last_msg_id == self.msg_id, "every touched flight names the message (D-02)"
        assert (put.notice is None) == (not put.advanced), "a step has events, no step has none (D-15)"
        assert (put.document is None) == (not state.is_live), "a full state unless deleted (D-29)"
        assert not state.mafl or state.carries_mafl, "only a live main flight carries a list (D-21)"
        if before is not None and before.operation_day is not None:
            assert state.operation_day == before.operation_day, "a flight never changes its day (D-10)"

    def _to_rosters(self, add: Mapping[int, date]) -> None:
        for flid, day in add.items():
            held = self.rosters.get(day, Roster(day, 0, frozenset()))
            self.rosters[day] = Roster(day, held.version, held.flids | {flid})


def _within(state: FlightState, query: FlightQuery) -> bool:
    if query.interval is None or state.sodt_at is None:
        return False
    return query.interval[0] <= state.sodt_at <= query.interval[1]
