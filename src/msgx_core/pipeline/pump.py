"""The pump: the head and nothing but the head (IMP §5.1, D-02, D-04, D-05)."""

from __future__ import annotations

import enum
from collections.abc import Callable
from contextlib import closing
from datetime import datetime

from attrs import define, evolve, frozen

from msgx_core.errors import Conflict
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.proc import MessageState, Outcome, ProcRow
from msgx_core.pipeline.ahead import MOST, Ready
from msgx_core.pipeline.desk import Desk
from msgx_core.pipeline.pending_keys import PendingKeys
from msgx_core.pipeline.processor import MessageProcessor
from msgx_core.pipeline.steps import Step
from msgx_core.rules.retry import RetryPolicy
from msgx_core.states.message import MESSAGE, MessageEvent


class TickKind(enum.Enum):
    """What a tick came to."""

    IDLE = "idle"
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"
    CONFLICT = "conflict"


@frozen
class Tick:
    """Result of a tick or a burst. `until` is set while the head waits for its next attempt.

    `done` messages have ended.
    """

    kind: TickKind
    msg_id: int | None = None
    state: MessageState | None = None
    until: datetime | None = None
    done: int = 0

    @property
    def again(self) -> bool:
        """Whether another tick may find work at once."""
        return self.kind in (TickKind.DONE, TickKind.FAILED, TickKind.CONFLICT)


@define
class Pump:
    """Ticks one after the other; never two at a time, never past an unfinished head.

    `suspect` after a lease that was not released: tries are bracketed until a message finishes (D-05).
    `keys` are settled before each head (D-33).
    """

    processor: MessageProcessor
    desk: Desk
    retry: RetryPolicy
    suspect: bool = False
    keys: PendingKeys | None = None

    def resume(self, *, unclean: bool) -> None:
        """At start or takeover: count a try that was cut off, and be suspicious after an unclean end."""
        row = self.desk.store.count_interrupted(self.desk.clock.now())
        if row is not None:
            self.processor.on_step(Step.TRY_COUNTED)
            self.desk.telemetry.event("try-interrupted", msg_id=row.msg_id, attempts=row.attempts)
        self.suspect = unclean or row is not None
        self.processor.memory.forget()
        if self.keys is not None:
            self.keys.due = True

    def tick(self) -> Tick:
        """Handle the head once. Raises `Transient` (count nothing, wait) and `Fenced` (step down)."""
        if self.keys is not None:
            self.keys.settle()
        head = self.desk.store.head()
        return Tick(TickKind.IDLE) if head is None else self._carry(head)

    def _carry(self, head: ProcRow, ready: Ready | None = None) -> Tick:
        if self.retry.exhausted(head.attempts):
            return self._exhaust(head)
        now = self.desk.clock.now()
        if head.next_attempt_at is not None and now < head.next_attempt_at:
            return Tick(TickKind.WAITING, head.msg_id, head.state, head.next_attempt_at)
        try:
            state = self._bracketed(head) if self.suspect else self.processor.process(head, ready)
        except Conflict:
            # Not counted: what was read has changed, so read and decide again.
            self.desk.telemetry.count("msgx.process.conflicts")
            return Tick(TickKind.CONFLICT, head.msg_id, head.state)
        if state is MessageState.FAILED:
            return Tick(TickKind.FAILED, head.msg_id, state)
        self.suspect = False
        return Tick(TickKind.DONE, head.msg_id, state, done=1)

    def burst(self, stop: Callable[[], bool] = lambda: False) -> Tick:
        """Ticks for several heads with their texts fetched together; the last tick.

        Only messages that nothing has happened to yet are taken so, each only if it is the head when its turn
        comes; everything else is a tick of its own. Ends early when `stop()` is true. Raises like `tick`.
        """
        if self.suspect or (self.keys is not None and self.keys.due):
            return self.tick()
        heads = self.desk.store.heads(MOST)
        if not heads:
            return Tick(TickKind.IDLE)
        tick: Tick | None = None
        done = 0
        with closing(self.processor.ahead.ready(heads)) as coming:
            for ready in coming:
                tick = self._carry(ready.head, ready)
                done += tick.done
                if not tick.done or stop() or (self.keys is not None and self.keys.due):
                    break
        return self._carry(heads[0]) if tick is None else evolve(tick, done=done)

    def _bracketed(self, head: ProcRow) -> MessageState:
        """TRYING is committed before and cleared on any return; only a killed process leaves it."""
        self.desk.store.set_trying(head.msg_id, True)
        self.processor.on_step(Step.TRYING)
        try:
            state = self.processor.process(head)
        except Exception:
            self.desk.store.set_trying(head.msg_id, False)
            raise
        self.desk.store.set_trying(head.msg_id, False)
        self.processor.on_step(Step.TRY_ENDED)
        return state

    def _exhaust(self, head: ProcRow) -> Tick:
        """`DEAD(EXHAUSTED)` keeps the last reason (R-072, D-25)."""
        reason = head.reason or "attempts-exhausted"
        outcome = Outcome(MESSAGE.next(head.state, MessageEvent.DIE), "EXHAUSTED", reason, head.detail)
        alert = Alert(AlertCode.EXHAUSTED, head.msg_id, detail=f"{head.attempts} attempts, {reason}")
        self.desk.store.close_unapplied(head.msg_id, outcome, (alert,), self.desk.clock.now())
        self.processor.on_step(Step.EXHAUSTED)
        self.desk.telemetry.count("msgx.process.terminal", state=outcome.state.value, code="EXHAUSTED")
        self.suspect = False
        return Tick(TickKind.DONE, head.msg_id, outcome.state, done=1)
