"""One message through the three steps (IMP §5.2, D-01, D-02)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from attrs import evolve, field, frozen

from msgx_core.errors import CodecError, Conflict, Malformed, MessageError, MsgxError, Rejected
from msgx_core.model.change import Change
from msgx_core.model.message import DecodedMessage, MsgKind
from msgx_core.model.proc import Binding, Holder, MessageState, Outcome, ProcRow, Turn
from msgx_core.model.schedule import SnapshotLogRow
from msgx_core.pipeline.ahead import Ahead, Ready
from msgx_core.pipeline.desk import Close, Decision, Desk, Work, dead
from msgx_core.pipeline.evidence import Evidence
from msgx_core.pipeline.handlers import decide
from msgx_core.pipeline.heads import (
    binding_of,
    cause_text,
    duplicate,
    entries,
    entry_of,
    is_blank,
    replay_skipped,
)
from msgx_core.pipeline.remembered import Memory
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports.cache import Cache, CacheEntry
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.inbox import Inbox
from msgx_core.rules.policy_text import parse_grounds, policy_digest, with_grounds
from msgx_core.rules.retry import RetryPolicy

_FORESEEABLE = frozenset({MsgKind.FLOP, MsgKind.FDEL})


@frozen
class MessageProcessor:
    """Takes the head to its end, or as far as it gets.

    `lock` spans decision and ①–③ (D-01). `on_step` is called at every boundary of `steps` with its name; it
    may raise, which is how crashes are tested. Raises `Transient`, `Conflict` and `Fenced`; everything else
    that goes wrong becomes the fate of the message.
    """

    inbox: Inbox
    cache: Cache
    codec: Codec
    desk: Desk
    retry: RetryPolicy
    lock: AbstractContextManager[object] = field(factory=nullcontext)
    on_step: Callable[[str], None] = no_step
    evidence: Evidence | None = None
    memory: Memory = field(init=False)
    ahead: Ahead = field(init=False)
    _policy: str = field(init=False)
    _at_work: Desk = field(init=False)

    @memory.default
    def _new_memory(self) -> Memory:
        return Memory(self.desk.store.read)

    @_at_work.default
    def _desk_with_memory(self) -> Desk:
        return evolve(self.desk, memory=self.memory)

    @ahead.default
    def _makes_ready(self) -> Ahead:
        return Ahead(self.inbox, self._decode, self._bound, self.desk.telemetry)

    @_policy.default
    def _digest(self) -> str:
        return policy_digest(self.desk.policy)

    def process(self, head: ProcRow, ready: Ready | None = None) -> MessageState:
        """Process the head once; its state afterwards (FAILED: an attempt was counted).

        `ready` is its text, fetched and decoded before.
        """
        started_s = self.desk.clock.monotonic_s()
        with self.desk.telemetry.stage("process", msg_id=head.msg_id):
            state = self._state_after(head, started_s, ready)
        self.desk.telemetry.observe(
            "msgx.process.duration", self.desk.clock.monotonic_s() - started_s, state=state.value
        )
        return state

    def _state_after(self, head: ProcRow, started_s: float, ready: Ready | None) -> MessageState:
        try:
            return self._attempt(head, started_s, ready) if head.applied_at is None else self._resume(head)
        except Rejected as error:
            return self._fail(head, "INFRA", error.reason, error.detail)
        except CodecError as error:
            return self._fail(head, "CODEC_ERROR", error.reason, cause_text(error))

    def preview(
        self, msg_id: int, head: ProcRow, raw: RawText | None = None
    ) -> tuple[DecodedMessage, Decision]:
        """Decode and decide on today's state, write nothing; for a dry run. `raw` stands in for the mailbox.

        Raises `MessageError` for a message that is wrong in itself.
        """
        raw = self.inbox.fetch(msg_id) if raw is None else raw
        if is_blank(raw) or raw is None:
            raise Malformed("raw-missing")
        message = self._decode(raw)
        if head.identity_key is None:
            binding = self._bound(msg_id, message, raw)
            holder = self.desk.store.identity_holder(binding.identity_key)
            if holder is not None and holder.msg_id != msg_id:
                return message, duplicate(msg_id, holder, binding)
        work = self._work(head, message, raw, self.desk.clock.monotonic_s())
        return message, self._decide(work, self.desk)

    def _attempt(self, head: ProcRow, started_s: float, ready: Ready | None) -> MessageState:
        raw, key = self._fetch(head, ready)
        if raw is None or is_blank(raw):
            line = None if raw is None else 1
            missing = Malformed("raw-missing", line=line, column=line, text=None if raw is None else "")
            return self._close(head, Close(dead(missing)))
        try:
            message = self._decode(raw) if ready is None else ready.message
        except MessageError as error:
            return self._close(head, Close(dead(error)))
        binding = self._bound(head.msg_id, message, raw) if ready is None else ready.binding
        if head.identity_key is None:
            holder = self._bind(binding, None if ready is None else ready.turn)
            self.on_step(Step.BOUND)
            if holder is not None:
                return self._close(head, duplicate(head.msg_id, holder, binding), binding)
        work = evolve(self._work(head, message, raw, started_s), archive_key=key)
        with self.lock:
            return self._settle(head, work, binding, ready)

    def _bind(self, binding: Binding, turn: Turn | None) -> Holder | None:
        """Bind, unless that was done as the message before ended; `Conflict` if it is not the head."""
        if turn is None:
            return self.desk.store.bind(binding, self.desk.clock.now(), as_head=True)
        if not turn.bound:
            raise Conflict(f"message {binding.msg_id} is not the head")
        return turn.holder

    def _fetch(self, head: ProcRow, ready: Ready | None) -> tuple[RawText | None, str | None]:
        """The raw text, and its key in the archive: kept before ①, outside all transactions (D-36)."""
        with self.desk.telemetry.stage("fetch"):
            raw = self.inbox.fetch(head.msg_id) if ready is None else ready.raw
        self.on_step(Step.FETCHED)
        if self.evidence is None:
            return raw, None
        with self.desk.telemetry.stage("archive"):
            found = self.evidence.fetched(head, raw)
        self.on_step(Step.EVIDENCE_KEPT)
        return found

    def _work(self, head: ProcRow, message: DecodedMessage, raw: RawText, started_s: float) -> Work:
        def locate(error: MessageError) -> None:
            self.codec.locate(raw, error)

        return Work(head.msg_id, message, head.received_at or head.enqueued_at, started_s, locate)

    def _settle(self, head: ProcRow, work: Work, binding: Binding, ready: Ready | None) -> MessageState:
        decision = None if ready is None or ready.age != self.memory.age else ready.decision
        if decision is None:
            decision = self._decided(work)
        if isinstance(decision, Close):
            return self._close(head, evolve(decision, log=_keyed(decision.log, work)), binding)
        self.on_step(Step.DECIDED)
        grounds = with_grounds(decision.change.coverage, self._policy, parse_grounds(head.coverage).raw)
        self._apply(evolve(decision.change, coverage=grounds))
        self.on_step(Step.APPLIED)
        self._write_cache(entries(decision.change.flights))
        following = None if ready is None or decision.log else ready.following()
        if following is not None:
            return self._finish_and_go_on(head, following)
        return self._finish(head, _keyed(decision.log, work))

    def _finish_and_go_on(self, head: ProcRow, following: Ready) -> MessageState:
        """③, and the next message is bound and decided about while the store is at it."""
        with self.desk.telemetry.stage("finish"):
            following.turn = self.desk.store.finish_then_bind(
                head.msg_id, following.binding, self.desk.clock.now(), lambda: self._foresee(following)
            )
        self.on_step(Step.FINISHED)
        self._count(MessageState.SUCCEEDED, None)
        return MessageState.SUCCEEDED

    def _foresee(self, ready: Ready) -> None:
        """Decide before its turn, where nothing but its flight and its sender decides. Raises nothing."""
        if ready.message.kind not in _FORESEEABLE:
            return
        try:
            work = self._work(ready.head, ready.message, ready.raw, self.desk.clock.monotonic_s())
            ready.decision, ready.age = self._decided(work), self.memory.age
        except Exception:
            # Whatever it is, it comes again when it is decided in its turn, and is told then.
            ready.decision = None

    def _decided(self, work: Work) -> Decision:
        try:
            return self._decide(work, self._at_work)
        except MessageError as error:
            return Close(dead(error))

    def _apply(self, change: Change) -> None:
        try:
            with self.desk.telemetry.stage("apply"):
                self.desk.store.apply(change)
        except BaseException:
            # Something is not as it is remembered, or nobody knows what has been written.
            self.memory.forget()
            raise
        self.memory.learn(change)

    def _resume(self, head: ProcRow) -> MessageState:
        """A head that was applied before is not applied again: ② from the stored state, then ③ (D-02)."""
        with self.lock:
            states = self.desk.store.touched_by(head.msg_id)
            self._write_cache([entry_of(state, self.desk.policy) for state in states])
            return self._finish(head, replay_skipped(head, self.desk.policy))

    def _write_cache(self, entries: Sequence[CacheEntry]) -> None:
        if entries:
            with self.desk.telemetry.stage("cache"):
                self.cache.write(entries)
        self.on_step(Step.CACHED)

    def _finish(self, head: ProcRow, log: Sequence[SnapshotLogRow]) -> MessageState:
        with self.desk.telemetry.stage("finish"):
            self.desk.store.finish(head.msg_id, self.desk.clock.now())
        self.on_step(Step.FINISHED)
        self._log(log)
        self._count(MessageState.SUCCEEDED, None)
        return MessageState.SUCCEEDED

    def _close(self, head: ProcRow, close: Close, binding: Binding | None = None) -> MessageState:
        with self.desk.telemetry.stage("finish"):
            self.desk.store.close_unapplied(
                head.msg_id, close.outcome, close.alerts, self.desk.clock.now(), binding
            )
        self.on_step(Step.CLOSED)
        self._log(close.log)
        self._count(close.outcome.state, close.outcome)
        return close.outcome.state

    def _fail(self, head: ProcRow, code: str, reason: str, detail: str | None) -> MessageState:
        now = self.desk.clock.now()
        next_at = self.retry.next_at(head.attempts + 1, now)
        self.desk.store.fail(head.msg_id, code, reason, detail, next_at, now)
        self.on_step(Step.FAILED)
        self.desk.telemetry.event("message-failed", msg_id=head.msg_id, code=code, reason=reason)
        self.desk.telemetry.count("msgx.process.failed", code=code)
        return MessageState.FAILED

    def _log(self, rows: Sequence[SnapshotLogRow]) -> None:
        """The schedule log decides nothing: a failed write is a metric (R-130)."""
        if not rows:
            return
        for row in rows:
            for flag in row.flags:
                self.desk.telemetry.count("msgx.snapshot.flags", flag=flag.value)
        try:
            self.desk.store.log_snapshots(rows)
        except MsgxError as error:
            self.desk.telemetry.count("msgx.trace.errors")
            self.desk.telemetry.event("snapshot-log-lost", msg_id=rows[0].msg_id, error=str(error))
        self.on_step(Step.LOGGED)

    def _count(self, state: MessageState, outcome: Outcome | None) -> None:
        code = "" if outcome is None or outcome.code is None else outcome.code
        self.desk.telemetry.count("msgx.process.terminal", state=state.value, code=code)

    def _decode(self, raw: RawText) -> DecodedMessage:
        try:
            with self.desk.telemetry.stage("decode"):
                return self.codec.decode(raw)
        except MsgxError:
            raise
        except Exception as error:
            raise CodecError(f"codec-exception:{type(error).__name__}") from error

    def _decide(self, work: Work, desk: Desk) -> Decision:
        try:
            with self.desk.telemetry.stage("decide"):
                return decide(work, desk)
        except MessageError as error:
            work.locate(error)
            raise
        except MsgxError:
            raise
        except Exception as error:
            raise CodecError(f"handler-exception:{type(error).__name__}") from error

    def _bound(self, msg_id: int, message: DecodedMessage, raw: RawText) -> Binding:
        return binding_of(msg_id, message, raw, include_day=self.desk.policy.include_day_boundary)


def _keyed(log: Sequence[SnapshotLogRow], work: Work) -> tuple[SnapshotLogRow, ...]:
    return tuple(evolve(row, archive_key=work.archive_key) for row in log)
