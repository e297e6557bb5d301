"""The comparison of what was computed again with what the store holds, field by field (D-36)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from attrs import define, field, frozen

from msgx_core.model.flight import FlightState
from msgx_core.model.reference import RefRecord
from msgx_core.model.schedule import Roster
from msgx_core.model.sis import CATEGORIES, RSTA
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.ports.operations import Views

PAGE = 500


@frozen
class Difference:
    """One difference. `kind`: `flight`, `roster`, `reference`, `floor` or `message`; None: not there."""

    kind: str
    key: str
    field: str
    stored: Any
    computed: Any


@define
class Comparing:
    """Each comparison returns how many things were compared and tells `found` what differs.

    `whole`: every message since the beginning was computed; otherwise what began before `start` is left out
    and counted, and so is what a message above `last_apply_no` has changed. `unknown` are flights of
    messages whose text is lost.
    """

    store: Views
    world: Recomputed
    found: Callable[[Difference], None]
    whole: bool = True
    start: datetime | None = None
    last_apply_no: int = 0
    unknown: set[int] = field(factory=set)
    left_out: int = 0

    def flights(self) -> int:
        """Every flight of both sides."""
        compared = 0
        seen: set[int] = set()
        for stored in self._stored():
            seen.add(stored.flid)
            if self._began_before(stored):
                self.left_out += 1
                continue
            compared += 1
            self._flight(stored.flid, stored, self.world.flights.get(stored.flid))
        for flid in sorted(self.world.flights.keys() - seen):
            compared += 1
            self._flight(flid, None, self.world.flights[flid])
        return compared

    def rosters(self) -> int:
        """Every roster of both sides; of a range only the flights that are compared."""
        stored = {r.day: r for r in self.store.rosters()}
        computed = self.world.rosters()
        for day in sorted(stored.keys() | computed.keys()):
            mine = computed.get(day, Roster(day, 0, frozenset()))
            theirs = stored.get(day)
            if theirs is None:
                if self._removed_by_age(mine):
                    continue
                theirs = Roster(day, 0, frozenset())
            if self.whole and theirs.version != mine.version:
                self._tell("roster", str(day), "VERSION", theirs.version, mine.version)
            for flid in sorted(theirs.flids ^ mine.flids):
                if not self._roster_excused(flid):
                    there = flid in theirs.flids
                    self._tell("roster", str(day), str(flid), there or None, (not there) or None)
        return len(stored.keys() | computed.keys())

    def references(self) -> int:
        """Every record of both sides; of a range only what it has put."""
        compared = 0
        for rtype in (*CATEGORIES, RSTA):
            stored = {record.rkey: record for record in self.store.references(rtype)}
            computed = self.world.references.get(rtype, {})
            complete = self.whole or rtype in self.world.replaced
            for rkey in sorted(stored.keys() | computed.keys()):
                compared += self._reference(
                    f"{rtype}/{rkey}", stored.get(rkey), computed.get(rkey), complete=complete
                )
        return compared

    def _stored(self) -> Iterator[FlightState]:
        after = 0
        while page := self.store.flights(after=after, limit=PAGE):
            yield from page
            after = page[-1].flid

    def _flight(self, flid: int, stored: FlightState | None, computed: FlightState | None) -> None:
        mine = {} if computed is None else self._document(computed)
        theirs = {} if stored is None else self._document(stored)
        if stored is not None:
            theirs |= self.store.raw_sections(flid)
        mine |= self.world.sections.get(flid, {})
        if mine == theirs:
            return
        if self._excused(flid, stored, computed):
            self.left_out += 1
            return
        if computed is None or stored is None:
            self._tell("flight", str(flid), "FLID", stored and flid, computed and flid)
            return
        for name in {**theirs, **mine}:
            if theirs.get(name) != mine.get(name):
                self._tell("flight", str(flid), name, theirs.get(name), mine.get(name))

    @staticmethod
    def _document(state: FlightState) -> dict[str, Any]:
        return {
            "STATE": state.status,
            "STATE_VERSION": state.version,
            "OPERATION_DAY": state.operation_day,
            "LAST_MSG_ID": state.last_msg_id,
            "CREATED_AT": state.created_at,
            "UPDATED_AT": state.updated_at,
            "SODT_AT": state.sodt_at,
            "MAFL": state.mafl,
            **state.fields,
        }

    def _reference(
        self, key: str, stored: RefRecord | None, computed: RefRecord | None, *, complete: bool
    ) -> int:
        if stored == computed:
            return 1
        if (not complete and computed is None) or (stored is not None and self._is_later(stored.msg_id)):
            self.left_out += 1
            return 0
        if stored is None or computed is None:
            self._tell("reference", key, "RKEY", stored and stored.rkey, computed and computed.rkey)
            return 1
        for name in ("node", "msg_id", "updated_at"):
            if getattr(stored, name) != getattr(computed, name):
                shown = {"node": "RECORD", "msg_id": "MSG_ID", "updated_at": "UPDATED_AT"}[name]
                self._tell("reference", key, shown, getattr(stored, name), getattr(computed, name))
        return 1

    def _began_before(self, stored: FlightState) -> bool:
        return self.start is not None and not self.whole and stored.created_at < self.start

    def _excused(self, flid: int, stored: FlightState | None, computed: FlightState | None) -> bool:
        """Whether a difference says nothing: a lost text, a later message, a relative that is left out."""
        if flid in self.unknown:
            return True
        if stored is not None and self._is_later(stored.last_msg_id):
            return True
        if self.whole:
            return False
        relatives = {
            relative
            for state in (stored, computed)
            if state is not None
            for relative in (state.main_flid, *(child.flid for child in state.mafl))
            if relative is not None
        }
        held = (self.store.flight(relative) for relative in relatives)
        return any(state is not None and self._began_before(state) for state in held)

    def _is_later(self, msg_id: int) -> bool:
        row = self.store.message(msg_id)
        return row is not None and int(row.get("APPLY_NO") or 0) > self.last_apply_no

    def _roster_excused(self, flid: int) -> bool:
        if flid in self.unknown:
            return True
        state = self.store.flight(flid)
        if state is None:
            return not self.whole
        return self._began_before(state) or self._is_later(state.last_msg_id)

    def _removed_by_age(self, roster: Roster) -> bool:
        """Ledger retention takes a day whole when none of its flights is left (FST §8.3)."""
        if roster.flids:
            return False
        return all(state.operation_day != roster.day for state in self.world.flights.values())

    def _tell(self, kind: str, key: str, name: str, stored: Any, computed: Any) -> None:
        self.found(Difference(kind, key, name, stored, computed))
