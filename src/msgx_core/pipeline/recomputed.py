"""Flights, rosters and reference data in memory, built again from messages, for decisions (D-36)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime

from attrs import define, evolve, field, frozen

from msgx_core.model.change import Change, FlightPut, FlightQuery, FlightSnapshot
from msgx_core.model.flight import FlightState
from msgx_core.model.request import Request, RequestSlot
from msgx_core.model.schedule import Roster, SenderMark
from msgx_core.pipeline.ref_lists import RefLists
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import to_json
from msgx_core.rules.sweep import plan_departure


@frozen
class Generation:
    """How often a day was covered, by which message last, and when."""

    version: int
    msg_id: int
    at: datetime


@frozen
class Document:
    """The full state of a flight in the outbox: a digest of its text, and what came with it.

    `number` rises with each that is written.
    """

    version: int
    msg_id: int
    at: datetime
    digest: bytes
    number: int = 0


def document_digest(text: str) -> bytes:
    """A short digest of a JSON text, the keys of its elements in any order: memory holds no texts.

    A store gives the keys of an element back in the order of its columns, or as they came. All else counts,
    also a key that comes twice, or a blank.
    """
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, dict) and to_json(value) == text:
            text = to_json({name: _sorted(each) for name, each in value.items()})
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _sorted(value: object) -> object:
    if isinstance(value, dict):
        return {name: value[name] for name in sorted(value)}
    return [_sorted(each) for each in value] if isinstance(value, list) else value


@define
class Recomputed:
    """What a store holds of flights after the changes given so far. Holds flights, never messages."""

    flights: dict[int, FlightState] = field(factory=dict)
    floors: dict[int, tuple[int, datetime]] = field(factory=dict)
    sections: dict[int, Mapping[str, str]] = field(factory=dict)
    references: RefLists = field(factory=RefLists)
    generations: dict[date, Generation] = field(factory=dict)
    senders: dict[str, tuple[SenderMark, datetime]] = field(factory=dict)
    documents: dict[int, Document] = field(factory=dict)
    roster_of: dict[int, date] = field(factory=dict)
    _written: int = 0
    _children: dict[int, set[int]] = field(factory=dict)
    _members: dict[date, set[int]] = field(factory=dict)

    def read(self, query: FlightQuery) -> FlightSnapshot:
        """The answer that `ports.store.Effects.read` promises."""
        rosters = {day: self.roster(day) for day in query.roster_days}
        inside = self._inside(query.interval)
        asked = query.flids.union(inside, *(roster.flids for roster in rosters.values()))
        found = self._family(asked, query.maids)
        days = {s.operation_day for s in found.values() if s.operation_day is not None}
        return FlightSnapshot(
            flights=found,
            floors={flid: self.floors[flid][0] for flid in asked - found.keys() if flid in self.floors},
            rosters=rosters,
            generations={day: self._generation(day) for day in days | query.days | query.roster_days},
            in_interval=inside,
            sender=self.senders[query.sndr][0] if query.sndr in self.senders else None,
        )

    def open_requests(self, slot: RequestSlot, expired_since: datetime | None = None) -> Sequence[Request]:
        """None: requests are not recomputed."""
        return ()

    def roster(self, day: date) -> Roster:
        """The roster of a day."""
        return Roster(day, self._generation(day), frozenset(self._members.get(day, ())))

    def commit(self, change: Change) -> None:
        """What ① writes, in its order."""
        for put in change.flights:
            self._put(put)
            if put.advanced:
                self._tell(put, change.msg_id, change.at)
        for replaced in change.rosters:
            made = Generation(replaced.read_version + 1, change.msg_id, change.at)
            self.generations[replaced.day] = made
            for flid in self._members.pop(replaced.day, set()):
                self.roster_of.pop(flid, None)
        for replaced in change.rosters:
            self._enrol(dict.fromkeys(replaced.flids, replaced.day))
        self._strike(change.roster_remove)
        self._enrol(change.roster_add)
        for each in change.reference:
            self.references.change(each)
        if change.sender is not None:
            self.senders[change.sender.sndr] = (change.sender, change.at)

    def forget(self) -> None:
        """Everything but the floors."""
        self.references = RefLists()
        for each in (
            self.flights,
            self.sections,
            self.generations,
            self.senders,
            self.documents,
            self.roster_of,
            self._children,
            self._members,
        ):
            each.clear()

    def hold(self, state: FlightState) -> None:
        """Take a flight as it is."""
        self._put(FlightPut(state, None))

    def raise_versions(self, by: int) -> None:
        """What `recover --versions-by` does (D-31)."""
        self.flights = {f: evolve(s, version=s.version + by) for f, s in self.flights.items()}
        self.floors = {flid: (floor + by, at) for flid, (floor, at) in self.floors.items()}

    def depart(self, flids: Collection[int], at: datetime, policy: Policy) -> tuple[FlightPut, ...]:
        """What one transaction of the history sweep did (D-33): flights leave, their main flights step.

        `flids` are here. Each leaves the floor that is right; the steps of the main flights come back.
        """
        if not flids:
            return ()
        snapshot = self.read(FlightQuery(flids=frozenset(flids)))
        notified = plan_departure(flids, snapshot, now=at, policy=policy).notified
        for put in notified:
            self._put(put)
            self._tell(put, put.state.last_msg_id, at)
        for flid in flids:
            self.floors[flid] = (self.flights[flid].version + 1, at)
            self._unlink(self.flights.pop(flid))
            self.sections.pop(flid, None)
            self.documents.pop(flid, None)
        self._strike(flids)
        return notified

    def _generation(self, day: date) -> int:
        return self.generations[day].version if day in self.generations else 0

    def _tell(self, put: FlightPut, msg_id: int, at: datetime) -> None:
        """Its `schd` row: replaced, or gone (D-29)."""
        flid = put.state.flid
        if put.document is None:
            self.documents.pop(flid, None)
        else:
            self._written += 1
            digest = document_digest(put.document)
            self.documents[flid] = Document(put.state.version, msg_id, at, digest, self._written)

    def _inside(self, interval: tuple[datetime, datetime] | None) -> frozenset[int]:
        if interval is None:
            return frozenset()
        first, last = interval
        return frozenset(
            s.flid
            for s in self.flights.values()
            if s.is_live and s.sodt_at is not None and first <= s.sodt_at <= last
        )

    def _family(self, asked: frozenset[int], maids: frozenset[int]) -> dict[int, FlightState]:
        """What was asked for, its main flights, and every live child of any of these, by FLID."""
        stored = (self.flights[flid].main_flid for flid in asked if flid in self.flights)
        wanted = {*asked, *maids, *(main for main in stored if main is not None)}
        waiting = list(wanted)
        while waiting:
            more = self._children.get(waiting.pop(), set()) - wanted
            wanted |= more
            waiting += more
        return {flid: self.flights[flid] for flid in sorted(wanted) if flid in self.flights}

    def _put(self, put: FlightPut) -> None:
        state = put.state
        before = self.flights.get(state.flid)
        if before is not None:
            self._unlink(before)
        self.flights[state.flid] = state
        if state.is_live and state.main_flid is not None:
            self._children.setdefault(state.main_flid, set()).add(state.flid)
        if put.raw_sections:
            self.sections[state.flid] = put.raw_sections
        elif put.raw_sections is not None:
            self.sections.pop(state.flid, None)

    def _unlink(self, state: FlightState) -> None:
        if state.is_live and state.main_flid is not None:
            children = self._children[state.main_flid]
            children.discard(state.flid)
            if not children:
                del self._children[state.main_flid]

    def _enrol(self, added: Mapping[int, date]) -> None:
        for flid, day in added.items():
            self._strike((flid,))
            self._members.setdefault(day, set()).add(flid)
            self.roster_of[flid] = day

    def _strike(self, flids: Iterable[int]) -> None:
        for flid in flids:
            day = self.roster_of.pop(flid, None)
            if day is not None:
                self._members[day].discard(flid)
