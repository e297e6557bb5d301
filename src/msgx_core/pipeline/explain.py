"""Why a message did what it did: its rules in order and the effect on each flight, field by field (D-36)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from attrs import define, evolve, field, frozen

from msgx_core.errors import MessageError
from msgx_core.model.change import Change
from msgx_core.model.flight import FlightState
from msgx_core.model.message import DecodedMessage, MsgKind
from msgx_core.model.schedule import Nothing
from msgx_core.pipeline.desk import Apply, Work, dead
from msgx_core.pipeline.past import Past
from msgx_core.pipeline.recompute import Policies, TextSource, decided
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.pipeline.telling import differs, end, failed, let_in, named_flights, other, unit
from msgx_core.pipeline.traces import Ruled, traced
from msgx_core.pipeline.verify import Verifier, ignore
from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.operations import Row, Views
from msgx_core.rules.coverage import parse_coverage
from msgx_core.rules.policy import Policy

EXACT = "the state before it, computed again from the messages behind it"
TODAY = "today's state: what was before it cannot be computed any more, so before and after may differ"


@frozen
class Explanation:
    """`basis` says on which state the effects are; `before` has each flight of the change as it was there.

    `note` is set when the decision comes out otherwise than it is recorded.
    """

    row: Row
    steps: tuple[Ruled, ...]
    basis: str | None = None
    change: Change | None = None
    before: Mapping[int, FlightState] = field(factory=dict)
    policy: Policy | None = None
    note: str | None = None


@define
class Explainer:
    """Reads store, archive and mailbox; writes nothing."""

    store: Views
    text: TextSource
    codec: Codec
    policies: Policies
    now: datetime
    progress: Callable[[int], None] = ignore
    steps: Callable[[], Iterable[DepartureStep]] = tuple

    def explain(self, msg_id: int) -> Explanation | None:
        """The story of one message; None when the store does not know it."""
        row = self.store.message(msg_id)
        if row is None:
            return None
        raw = self.text(row)
        if raw is None:
            return Explanation(
                row, (Ruled("the text", "IMP §5.2, D-36", "nobody has it any more"), *end(row))
            )
        steps = [Ruled("the text", "IMP §4.1, D-36", f"{len(raw)} {unit(raw)}")]
        policy = self.policies.of(row.get("COVERAGE"))
        try:
            message = self.codec.decode(raw)
        except MessageError as error:
            return Explanation(row, (*steps, failed(error), *end(row)), note=differs(row, dead(error)))
        steps += let_in(message, row, policy)
        if str(row.get("REASON") or "").startswith(("duplicate-of", "unmatched-response")):
            return Explanation(row, (*steps, *end(row)))
        if message.kind in (MsgKind.UNSUPPORTED, MsgKind.ERROR_ANSWER):
            return Explanation(row, (*steps, *end(row)))
        return self._decided(row, raw, message, policy, steps)

    def _decided(
        self, row: Row, raw: RawText, message: DecodedMessage, policy: Policy, steps: list[Ruled]
    ) -> Explanation:
        def locate(error: MessageError) -> None:
            self.codec.locate(raw, error)

        received = row.get("RECEIVED_AT") or row["ENQUEUED_AT"]
        work = Work(row["MSG_ID"], message, received, 0.0, locate)
        at = row.get("APPLIED_AT") or row.get("FINISHED_AT") or self.now
        world, basis = self._world(row, message)
        try:
            decision = decided(work, world, policy, at, row.get("COVERAGE"))
        except MessageError as error:
            locate(error)
            note = differs(row, dead(error))
            return Explanation(row, (*steps, failed(error), *end(row)), basis, policy=policy, note=note)
        if not isinstance(decision, Apply):
            return Explanation(row, (*steps, *end(row)), basis, policy=policy, note=other(row, decision))
        change = decision.change
        if change.coverage is None:
            change = evolve(change, coverage=row.get("COVERAGE"))
        before = {
            put.state.flid: state
            for put in change.flights
            if (state := world.flights.get(put.state.flid)) is not None
        }
        told = (*steps, *traced(message, change, policy), *end(row))
        return Explanation(row, told, basis, change, before, policy, other(row, decision))

    def _world(self, row: Row, message: DecodedMessage) -> tuple[Recomputed, str]:
        """The state before the message: from the few messages behind it, else from all, else today's."""
        versions: dict[int, int] = {}
        for event in self.store.message_events(row["MSG_ID"]):
            # The first is the message's own; others come from a republish.
            versions.setdefault(event["FLID"], event["STATE_VERSION"])
        number = row.get("APPLY_NO") or self._number_at(row)
        few = not isinstance(parse_coverage(row.get("COVERAGE")), Nothing)
        if not few:
            past = Past(self.store, self.text, self.codec, self.policies)
            flids = past.family({*versions, *named_flights(message)})
            for _ in past.replayed(past.rows(flids, number)):
                pass
            if self._fits(past.world, versions, flids, number):
                return past.world, EXACT
        whole = next(iter(self.store.applied(0, 1)), None)
        if whole is not None and whole["APPLY_NO"] == 1 and number is not None:
            verifier = Verifier(
                self.store,
                self.text,
                self.codec,
                self.policies,
                lambda difference: None,
                self.progress,
                self.steps,
            )
            verifier.run(until=number - 1)
            if self._fits(verifier.world, versions, (), number):
                return verifier.world, EXACT
        return self._today({*versions, *named_flights(message)}), TODAY

    def _number_at(self, row: Row) -> int | None:
        """The `APPLY_NO` that a message without effects would have had; None for one that waits."""
        finished = row.get("FINISHED_AT")
        if finished is None:
            return None
        low, high = 0, 1
        while self._applied_until(high, finished):
            low, high = high, 2 * high
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if self._applied_until(middle, finished) else (low, middle)
        return high

    def _applied_until(self, number: int, at: datetime) -> bool:
        """Whether the message with that `APPLY_NO`, or the next one that is there, was applied by then."""
        rows = self.store.applied(number - 1, 1)
        return bool(rows) and bool(rows[0]["APPLIED_AT"] <= at)

    def _fits(
        self, world: Recomputed, versions: Mapping[int, int], flids: Iterable[int], number: int | None
    ) -> bool:
        """Whether the flights are there as they were: at the version below the one that the event says."""
        for flid, version in versions.items():
            state = world.flights.get(flid)
            held = world.floors.get(flid, 0) if state is None else state.version
            if held != version - 1:
                return False
        today = {flid: self.store.flight(flid) for flid in flids if flid not in versions}
        if number is None or not versions:
            # A message without events proves nothing: every flight must have its whole history.
            return all(self._complete(flid) for flid, state in today.items() if state is not None)
        return True

    def _complete(self, flid: int) -> bool:
        events = self.store.flight_events(flid)
        return bool(events) and events[0]["STATE_VERSION"] == 1

    def _today(self, flids: Iterable[int]) -> Recomputed:
        """The flights as they are now, and their families."""
        world = Recomputed()
        waiting, seen = set(flids), set[int]()
        while waiting:
            flid = waiting.pop()
            seen.add(flid)
            state = self.store.flight(flid)
            if state is None:
                continue
            world.hold(state)
            waiting |= {flid for flid in (state.main_flid, *(c.flid for c in state.mafl)) if flid} - seen
        world.floors.update({flid: version for flid, (version, _) in self.store.floors().items()})
        return world
