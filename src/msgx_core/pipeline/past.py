"""The past of a few flights: the messages that touched them, decided again in order (D-36).

Uses the outbox to know which messages these were, so it reaches as far back as events last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import define, field, frozen

from msgx_core.errors import MessageError
from msgx_core.model.message import DecodedMessage
from msgx_core.pipeline.desk import Apply
from msgx_core.pipeline.recompute import Policies, TextSource, decide_again
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.ports.codec import Codec
from msgx_core.ports.operations import Row, Views


@frozen
class Decided:
    """One message decided again, before it is committed to the world."""

    row: Row
    message: DecodedMessage
    applied: Apply


@define
class Past:
    """`world` holds the flights after the messages replayed so far."""

    store: Views
    text: TextSource
    codec: Codec
    policies: Policies
    world: Recomputed = field(factory=Recomputed)

    def family(self, flids: Iterable[int]) -> frozenset[int]:
        """These flights, and their main and shared flights of today."""
        found = set(flids)
        for flid in tuple(found):
            state = self.store.flight(flid)
            if state is not None:
                found |= {child.flid for child in state.mafl}
                if state.main_flid is not None:
                    found.add(state.main_flid)
        return frozenset(found)

    def rows(self, flids: Iterable[int], before: int | None = None) -> list[Row]:
        """Applied messages that touched any of them, below that `APPLY_NO`, in the order of their effects."""
        ids = {event["MSG_ID"] for flid in flids for event in self.store.flight_events(flid)}
        found = (self.store.message(msg_id) for msg_id in sorted(ids))
        applied = [row for row in found if row is not None and row.get("APPLY_NO") is not None]
        return sorted(
            (row for row in applied if before is None or row["APPLY_NO"] < before),
            key=lambda row: int(row["APPLY_NO"]),
        )

    def replayed(self, rows: Iterable[Row]) -> Iterator[Decided]:
        """Each message that can be decided again; it is committed when the next one is asked for."""
        for row in rows:
            raw = self.text(row)
            if raw is None:
                continue
            policy = self.policies.of(row.get("COVERAGE"))
            try:
                message, decision = decide_again(row, raw, self.world, self.codec, policy, row["APPLIED_AT"])
            except MessageError:
                continue
            if isinstance(decision, Apply):
                yield Decided(row, message, decision)
                self.world.commit(decision.change)
