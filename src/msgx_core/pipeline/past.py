"""The past of a few flights: the messages and sweeps that touched them, in order (D-33, D-36).

Uses the outbox to know which messages these were, so it reaches as far back as events last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Protocol

from attrs import define, field, frozen

from msgx_core.errors import Rejected
from msgx_core.model.flight import FlightState
from msgx_core.model.message import DecodedMessage
from msgx_core.pipeline.again import Again, readable
from msgx_core.pipeline.desk import Apply
from msgx_core.pipeline.doubts import Doubts
from msgx_core.pipeline.recompute import Policies, TextSource, decide_again
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.pipeline.timeline import Timeline
from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.codec import Codec
from msgx_core.ports.inspection import Inspection, StoredRow
from msgx_core.ports.operations import Row, Views


class ReadStore(Views, Inspection, Protocol):
    """What the past is read from."""


@frozen
class Decided:
    """One message decided again, before it is committed to the world."""

    row: Row
    message: DecodedMessage
    applied: Apply


@define
class Past:
    """`world` holds the flights after what was replayed so far."""

    store: ReadStore
    text: TextSource
    codec: Codec
    policies: Policies
    steps: Callable[[], Iterable[DepartureStep]] = tuple
    world: Recomputed = field(factory=Recomputed)
    timeline: Timeline = field(init=False)
    _again: Again = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.timeline = Timeline.of(self.store, self.steps())
        doubts = Doubts(self.store, self.world, self.timeline.floors, whole=False)
        self._again = Again(
            self.store, self.text, self.codec, self.policies, self.world, doubts, self.timeline
        )

    def family(self, flids: Iterable[int]) -> frozenset[int]:
        """These flights, and their main and shared flights of today."""
        found = set(flids)
        for flid in tuple(found):
            state = flight_of(self.store, flid)
            if state is not None:
                found |= {child.flid for child in state.mafl}
                if state.main_flid is not None:
                    found.add(state.main_flid)
        return frozenset(found)

    def rows(self, flids: Iterable[int], before: int | None = None) -> list[Row]:
        """Applied messages that touched any of them, below that `APPLY_NO`, in the order of their effects."""
        ids = {event["MSG_ID"] for flid in flids for event in self.store.stored_versions(flid)}
        found = (message_of(self.store, msg_id) for msg_id in sorted(ids))
        applied = [row for row in found if row is not None and row.get("APPLY_NO") is not None]
        return sorted(
            (row for row in applied if before is None or row["APPLY_NO"] < before),
            key=lambda row: int(row["APPLY_NO"]),
        )

    def replayed(self, rows: Iterable[Row]) -> Iterator[Decided]:
        """Each message that can be decided again; it is committed when the next one is asked for.

        Sweeps between them are in the world by then.
        """
        for row in rows:
            at = row.get("APPLIED_AT")
            raw = None if at is None else self.text(row)
            if at is None or raw is None:
                continue
            self._again.between(row["APPLY_NO"], at)
            policy = self.policies.of(row.get("COVERAGE"))
            try:
                message, decision = decide_again(row, raw, self.world, self.codec, policy, at)
            except Exception:
                # A text that is wrong today, or a fault of ours: the versions will not fit.
                continue
            if isinstance(decision, Apply):
                yield Decided(row, message, decision)
                self.world.commit(decision.change)

    def until(self, apply_no: int | None, at: datetime) -> None:
        """Let pass what was done behind the last message, before that one."""
        self._again.between(apply_no, at)


def flight_of(store: Views, flid: int) -> FlightState | None:
    """A flight; None where it is not there, or cannot be read."""
    try:
        return store.flight(flid)
    except Rejected:
        return None


def message_of(store: Inspection, msg_id: int) -> Row | None:
    """A row of `PROC_STATE`, without what cannot be read of it."""
    row = store.stored_message(msg_id)
    return None if row is None else known(row)


def known(row: StoredRow) -> Row:
    """A row without NULL, and without what cannot be read of it."""
    return {name: value for name, value in readable(row).items() if value is not None}
