"""Every version of one flight, computed again from all messages: what the outbox does not have any more."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from typing import Any

from attrs import define, field, frozen

from msgx_core.model.change import Change, FlightPut, FlightQuery
from msgx_core.model.flight import FlightState
from msgx_core.pipeline.past import Past, ReadStore, known
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.ports.operations import Row
from msgx_core.rules.policy import Policy
from msgx_core.rules.sweep import plan_departure

EVER = datetime(9999, 12, 31, tzinfo=UTC)
_PAGE = 500


@frozen
class Seen:
    """One version as its `msg` event would tell it, with the flight before and after; gone: no after."""

    event: Row
    before: FlightState | None
    after: FlightState | None


@define
class Watched(Recomputed):
    """Notes each version of the flight `watched`, in order."""

    watched: int = 0
    seen: list[Seen] = field(factory=list)

    def commit(self, change: Change) -> None:
        """What ① writes."""
        before = self.flights.get(self.watched)
        Recomputed.commit(self, change)
        self._note(change.flights, before, change.at)

    def depart(self, flids: Collection[int], at: datetime, policy: Policy) -> tuple[FlightPut, ...]:
        """What one transaction of the history sweep did."""
        before, told = self.flights.get(self.watched), None
        if self.watched in flids:
            snapshot = self.read(FlightQuery(flids=frozenset(flids)))
            told = plan_departure(flids, snapshot, now=at, policy=policy).tombstones[self.watched]
        notified = Recomputed.depart(self, flids, at, policy)
        if told is not None:
            self.seen.append(Seen(_event(told, at), before, None))
        self._note(notified, before, at)
        return notified

    def reached(self) -> set[int]:
        """The versions that it had, the present one and a floor too."""
        found = {each.event["STATE_VERSION"] for each in self.seen}
        if self.watched in self.flights:
            found.add(self.flights[self.watched].version)
        elif self.watched in self.floors:
            found.add(self.floors[self.watched][0])
        return found

    def _note(self, puts: Collection[FlightPut], before: FlightState | None, at: datetime) -> None:
        for put in puts:
            if put.state.flid == self.watched and put.advanced and put.notice is not None:
                self.seen.append(Seen(_event(put.notice, at), before, put.state))
                before = put.state


def seen_again(
    flid: int, version: int | None, store: ReadStore, again: Callable[[Watched], Past]
) -> tuple[Seen, ...] | None:
    """All versions of a flight that is at `version` now, or left it as its floor (None: nobody knows).

    Computes all messages; `again` makes the past on a world. None where that does not lead to `version`:
    messages or texts are lost.
    """
    first = next(iter(store.stored_applied(0, 1)), None)
    if first is None or first["APPLY_NO"] != 1:
        return None
    world = Watched(watched=flid)
    past = again(world)
    for _ in past.replayed(_applied(store)):
        pass
    past.until(None, EVER)
    # One that goes on beside a running pump has passed it.
    return tuple(world.seen) if version is None or version in world.reached() else None


def _applied(store: ReadStore) -> Iterator[Row]:
    after = 0
    while page := store.stored_applied(after, _PAGE):
        yield from map(known, page)
        after = page[-1]["APPLY_NO"]


def _event(payload: str, at: datetime) -> Row:
    told: dict[str, Any] = json.loads(payload)
    return {
        "FLID": told["FLID"],
        "STATE_VERSION": told["STATE_VERSION"],
        "MSG_ID": told["MSG_ID"],
        "PAYLOAD": told,
        "CREATED_AT": at,
    }
