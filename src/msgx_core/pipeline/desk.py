"""What a decision works with, and what it comes to."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from attrs import field, frozen

from msgx_core.errors import MessageError
from msgx_core.model.alert import Alert
from msgx_core.model.change import Change, FlightQuery, FlightSnapshot
from msgx_core.model.message import DecodedMessage
from msgx_core.model.proc import MessageState, Outcome
from msgx_core.model.schedule import SnapshotLogRow
from msgx_core.pipeline.remembered import Memory
from msgx_core.ports.clock import Clock
from msgx_core.ports.store import PipelineStore
from msgx_core.ports.telemetry import Telemetry
from msgx_core.rules.policy import Policy
from msgx_core.states.message import MESSAGE, MessageEvent


@frozen
class Desk:
    """Where decisions are made: the store is only read here, or what is remembered of it."""

    store: PipelineStore
    clock: Clock
    policy: Policy
    telemetry: Telemetry
    memory: Memory | None = None

    def read(self, query: FlightQuery) -> FlightSnapshot:
        """What a decision needs, as the store has it. Raises what the store raises."""
        return self.store.read(query) if self.memory is None else self.memory.read(query)


@frozen
class Work:
    """One decoded head. `recv_at` is when it came in, `started_s` the monotonic start of this attempt.

    `locate` adds line and column to an error about this message; `archive_key` is where its text is kept.
    """

    msg_id: int
    message: DecodedMessage
    recv_at: datetime
    started_s: float
    locate: Callable[[MessageError], None] = lambda error: None
    archive_key: str | None = None


@frozen
class Apply:
    """The message has effects: ①, ②, ③. `log` is appended after ③."""

    change: Change
    log: tuple[SnapshotLogRow, ...] = ()


@frozen
class Close:
    """The message ends without effect. `log` is appended after that."""

    outcome: Outcome
    alerts: tuple[Alert, ...] = ()
    log: tuple[SnapshotLogRow, ...] = field(default=())


Decision = Apply | Close


def succeeded(reason: str | None = None, detail: str | None = None) -> Outcome:
    """The outcome of a message with effects."""
    return Outcome(MESSAGE.next(MessageState.PENDING, MessageEvent.SUCCEED), None, reason, detail)


def skipped(reason: str, detail: str | None = None) -> Outcome:
    """The outcome of a message that is passed over."""
    return Outcome(MESSAGE.next(MessageState.PENDING, MessageEvent.SKIP), None, reason, detail)


def dead(error: MessageError) -> Outcome:
    """The outcome of a message that is wrong in itself."""
    state = MESSAGE.next(MessageState.PENDING, MessageEvent.DIE)
    return Outcome(state, error.code, error.reason, error.detail)
