"""One message through the three steps (IMP §5.2, D-01, D-02)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext

from attrs import field, frozen

from msgx_core.errors import CodecError, Malformed, MessageError, MsgxError, Rejected
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.change import FlightPut
from msgx_core.model.flight import FlightState
from msgx_core.model.identity import Identity
from msgx_core.model.message import DecodedMessage
from msgx_core.model.proc import Binding, Holder, MessageState, Outcome, ProcRow
from msgx_core.model.schedule import SnapshotLogRow, SnapshotResult
from msgx_core.pipeline.desk import Close, Decision, Desk, Work, dead, skipped
from msgx_core.pipeline.handlers import decide
from msgx_core.ports.cache import Cache, CacheEntry, CacheGone, CachePut
from msgx_core.ports.codec import Codec, RawText
from msgx_core.ports.inbox import Inbox
from msgx_core.rules.coverage import parse_coverage
from msgx_core.rules.render import flight_document, to_json
from msgx_core.rules.retry import RetryPolicy
from msgx_core.rules.snapshot_log import LogContext, bare_rows


def no_step(name: str) -> None:
    """The default step hook: nothing happens between steps."""


@frozen
class MessageProcessor:
    """Takes the head to its end, or as far as it gets.

    `lock` spans decision and ①–③ (D-01). `on_step` is called at every step boundary with its name; it may
    raise, which is how crashes are tested. Raises `Transient`, `Conflict` and `Fenced`; everything else that
    goes wrong becomes the fate of the message.
    """

    inbox: Inbox
    cache: Cache
    codec: Codec
    desk: Desk
    retry: RetryPolicy
    lock: AbstractContextManager[object] = field(factory=nullcontext)
    on_step: Callable[[str], None] = no_step

    def process(self, head: ProcRow) -> MessageState:
        """Process the head once; its state afterwards (FAILED: an attempt was counted)."""
        started_s = self.desk.clock.monotonic_s()
        try:
            state = self._attempt(head, started_s) if head.applied_at is None else self._resume(head)
        except Rejected as error:
            state = self._fail(head, "INFRA", error.reason, error.detail)
        except CodecError as error:
            state = self._fail(head, "CODEC_ERROR", error.reason, _cause_text(error))
        self.desk.telemetry.observe(
            "msgx.process.duration", self.desk.clock.monotonic_s() - started_s, state=state.value
        )
        return state

    def preview(self, msg_id: int, head: ProcRow) -> tuple[DecodedMessage, Decision]:
        """Decode and decide on today's state, write nothing; for a dry run.

        Raises `MessageError` for a message that is wrong in itself.
        """
        raw = self.inbox.fetch(msg_id)
        if _is_blank(raw) or raw is None:
            raise Malformed("raw-missing")
        message = self._decode(raw)
        work = self._work(head, message, raw, self.desk.clock.monotonic_s())
        return message, self._decide(work)

    def _attempt(self, head: ProcRow, started_s: float) -> MessageState:
        raw = self.inbox.fetch(head.msg_id)
        self.on_step("fetched")
        if raw is None or _is_blank(raw):
            line = None if raw is None else 1
            missing = Malformed("raw-missing", line=line, column=line, text=None if raw is None else "")
            return self._close(head, Close(dead(missing)))
        try:
            message = self._decode(raw)
        except MessageError as error:
            return self._close(head, Close(dead(error)))
        binding = self._binding(head.msg_id, message, raw)
        if head.identity_key is None:
            holder = self.desk.store.bind(binding, self.desk.clock.now())
            self.on_step("bound")
            if holder is not None:
                return self._close(head, _duplicate(head.msg_id, holder, binding), binding)
        work = self._work(head, message, raw, started_s)
        with self.lock:
            return self._settle(head, work, binding)

    def _work(self, head: ProcRow, message: DecodedMessage, raw: RawText, started_s: float) -> Work:
        def locate(error: MessageError) -> None:
            self.codec.locate(raw, error)

        return Work(head.msg_id, message, head.received_at or head.enqueued_at, started_s, locate)

    def _settle(self, head: ProcRow, work: Work, binding: Binding) -> MessageState:
        try:
            decision = self._decide(work)
        except MessageError as error:
            decision = Close(dead(error))
        if isinstance(decision, Close):
            return self._close(head, decision, binding)
        self.on_step("decided")
        self.desk.store.apply(decision.change)
        self.on_step("applied")
        self._write_cache(_entries(decision.change.flights))
        return self._finish(head, decision.log)

    def _resume(self, head: ProcRow) -> MessageState:
        """A head that was applied before is not applied again: ② from the stored state, then ③ (D-02)."""
        with self.lock:
            states = self.desk.store.touched_by(head.msg_id)
            self._write_cache([self._entry(state) for state in states])
            return self._finish(head, self._replay_skipped(head))

    def _write_cache(self, entries: Sequence[CacheEntry]) -> None:
        if entries:
            self.cache.write(entries)
        self.on_step("cached")

    def _finish(self, head: ProcRow, log: Sequence[SnapshotLogRow]) -> MessageState:
        self.desk.store.finish(head.msg_id, self.desk.clock.now())
        self.on_step("finished")
        self._log(log)
        self._count(MessageState.SUCCEEDED, None)
        return MessageState.SUCCEEDED

    def _close(self, head: ProcRow, close: Close, binding: Binding | None = None) -> MessageState:
        self.desk.store.close_unapplied(
            head.msg_id, close.outcome, close.alerts, self.desk.clock.now(), binding
        )
        self.on_step("closed")
        self._log(close.log)
        self._count(close.outcome.state, close.outcome)
        return close.outcome.state

    def _fail(self, head: ProcRow, code: str, reason: str, detail: str | None) -> MessageState:
        now = self.desk.clock.now()
        next_at = self.retry.next_at(head.attempts + 1, now)
        self.desk.store.fail(head.msg_id, code, reason, detail, next_at, now)
        self.on_step("failed")
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
        self.on_step("logged")

    def _count(self, state: MessageState, outcome: Outcome | None) -> None:
        code = "" if outcome is None or outcome.code is None else outcome.code
        self.desk.telemetry.count("msgx.process.terminal", state=state.value, code=code)

    def _decode(self, raw: RawText) -> DecodedMessage:
        try:
            return self.codec.decode(raw)
        except MsgxError:
            raise
        except Exception as error:
            raise CodecError(f"codec-exception:{type(error).__name__}") from error

    def _decide(self, work: Work) -> Decision:
        try:
            return decide(work, self.desk)
        except MessageError as error:
            work.locate(error)
            raise
        except MsgxError:
            raise
        except Exception as error:
            raise CodecError(f"handler-exception:{type(error).__name__}") from error

    def _binding(self, msg_id: int, message: DecodedMessage, raw: RawText) -> Binding:
        meta = message.meta
        identity = Identity.of(meta, include_day=self.desk.policy.include_day_boundary)
        data = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogatepass")
        return Binding(
            msg_id=msg_id,
            identity_key=identity.key,
            sndr=meta.sndr,
            type=meta.type,
            styp=meta.styp,
            seqn=meta.seqn,
            dttm=meta.dttm,
            raw_digest=hashlib.sha256(data).hexdigest(),
        )

    def _entry(self, state: FlightState) -> CacheEntry:
        if state.is_live:
            document = to_json(flight_document(state, self.desk.policy))
            return CachePut(state.flid, state.version, state.operation_day, document)
        return CacheGone(state.flid, state.version, state.operation_day)

    def _replay_skipped(self, head: ProcRow) -> tuple[SnapshotLogRow, ...]:
        """A schedule that only had to be finished leaves that trace (D-13)."""
        if head.type != "SCHD" or head.styp not in ("DNLD", "RESP"):
            return ()
        shared = LogContext(head.msg_id, head.received_at or head.enqueued_at)
        return bare_rows(
            shared, parse_coverage(head.coverage), SnapshotResult.REPLAY_SKIPPED, self.desk.policy
        )


def _is_blank(raw: RawText | None) -> bool:
    return raw is None or not raw.strip()


def _duplicate(msg_id: int, holder: Holder, binding: Binding) -> Close:
    """Bodies never decide; other content under one identity raises an alert (D-24)."""
    outcome = skipped(f"duplicate-of:{holder.msg_id}", f"identity {binding.identity_key}")
    if holder.raw_digest is None or holder.raw_digest == binding.raw_digest:
        return Close(outcome)
    detail = f"identity {binding.identity_key} of message {holder.msg_id} with other content"
    return Close(outcome, (Alert(AlertCode.DUPLICATE_DIFFERENT_CONTENT, msg_id, detail=detail),))


def _entries(puts: Sequence[FlightPut]) -> list[CacheEntry]:
    return [
        CacheGone(put.state.flid, put.state.version, put.state.operation_day)
        if put.document is None
        else CachePut(put.state.flid, put.state.version, put.state.operation_day, put.document)
        for put in puts
    ]


def _cause_text(error: CodecError) -> str | None:
    return None if error.__cause__ is None else str(error.__cause__)[:400] or None
