"""Replay of failed and dead messages, and what it would do today (IMP §9.1, D-25)."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from msgx_core.errors import MessageError
from msgx_core.model.message import DecodedMessage
from msgx_core.model.proc import MessageState, Outcome, ProcRow
from msgx_core.pipeline.desk import Apply, Close, Decision, dead
from msgx_core.pipeline.processor import MessageProcessor
from msgx_core.pipeline.steps import Step
from msgx_core.ports.clock import Clock
from msgx_core.ports.codec import RawText
from msgx_core.ports.operations import Audit, OperatorResult, OperatorStore
from msgx_core.rules.replay import REPLAY_WHITELIST, replay_refusal


@frozen
class Preview:
    """What a replay would do on today's state: nothing is written for it.

    `refused` says why the replay itself would not be let in.
    """

    msg_id: int
    outcome: Outcome
    message: DecodedMessage | None = None
    decision: Decision | None = None
    refused: str | None = None


@frozen
class ReplayService:
    """Back to `PENDING`, under the same identity, in mailbox order from there (R-120, CLM-3)."""

    store: OperatorStore
    processor: MessageProcessor
    clock: Clock

    def replay(
        self, msg_ids: Sequence[int], audit: Audit, *, force: bool = False
    ) -> Sequence[OperatorResult]:
        """Replay those that the whitelist lets in; `force` lets any dead or failed one in.

        Conditional and audited: two replays of one message at once have one effect.
        """
        whitelist = () if force else REPLAY_WHITELIST
        results = self.store.replay(msg_ids, whitelist, audit, self.clock.now())
        self.processor.on_step(Step.REPLAYED)
        return results

    def preview(self, msg_id: int, *, force: bool = False, raw: RawText | None = None) -> Preview | None:
        """The effect on today's state; None when there is no such message. `raw`: instead of the mailbox."""
        row = self.store.message(msg_id)
        if row is None:
            return None
        state = MessageState(row["STATE"])
        refused = replay_refusal(state, row.get("ERROR_CODE"), row.get("REASON"), force=force)
        if row.get("APPLIED_AT") is not None:
            outcome = Outcome(
                MessageState.SUCCEEDED, None, row.get("REASON"), "applied before: only finished"
            )
            return Preview(msg_id, outcome, refused=refused)
        head = ProcRow(
            msg_id=msg_id,
            state=state,
            attempts=0,
            enqueued_at=row["ENQUEUED_AT"],
            received_at=row.get("RECEIVED_AT"),
            identity_key=row.get("IDENTITY_KEY"),
        )
        try:
            message, decision = self.processor.preview(msg_id, head, raw)
        except MessageError as error:
            return Preview(msg_id, dead(error), refused=refused)
        return Preview(msg_id, _outcome(decision), message, decision, refused)


def _outcome(decision: Decision) -> Outcome:
    match decision:
        case Apply(change=change):
            return change.outcome
        case Close(outcome=outcome):
            return outcome
