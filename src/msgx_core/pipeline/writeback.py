"""Write-back sweep: the mark in the mailbox, however long that takes (IMP §6, D-38, D-42, D-43)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from attrs import frozen

from msgx_core.errors import Transient
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.proc import AbandonReason, WritebackDue
from msgx_core.pipeline.processor import no_step
from msgx_core.ports.clock import Clock
from msgx_core.ports.inbox import Inbox, MarkResult
from msgx_core.ports.store import PipelineStore
from msgx_core.ports.telemetry import Telemetry
from msgx_core.rules.retry import WritebackPolicy


@frozen
class SweepResult:
    """Rows of one sweep by what became of them; `full`: there may be more at once."""

    done: int = 0
    retried: int = 0
    abandoned: int = 0
    full: bool = False


@frozen
class WritebackSweep:
    """One batch per call; each row's fate is its own (D-26). Holds no pipeline lock (R-154)."""

    inbox: Inbox
    store: PipelineStore
    clock: Clock
    telemetry: Telemetry
    policy: WritebackPolicy
    enabled: bool = True
    on_step: Callable[[str], None] = no_step

    def sweep(self) -> SweepResult:
        """Claim due rows, mark them, settle each.

        Raises `Transient("mailbox")` when the mailbox as a whole is unreachable; then nothing is counted
        and the claims are given back.
        """
        if not self.enabled:
            return SweepResult()
        now = self.clock.now()
        policy = self.policy
        rows = self.store.claim_writebacks(now, now - policy.overdue, policy.batch, now + policy.claim)
        if not rows:
            return SweepResult()
        self.on_step("claimed")
        try:
            results = self.inbox.mark([(row.msg_id, row.finished_at) for row in rows])
        except Transient:
            self.store.release_claims([row.msg_id for row in rows])
            raise
        self.on_step("marked")
        done = [r.msg_id for r in rows if _is_written(results.get(r.msg_id))]
        if done:
            self.store.writebacks_done(done, self.clock.now())
        self.on_step("settled")
        rest = [r for r in rows if not _is_written(results.get(r.msg_id))]
        abandoned = sum(self._settle(row, results.get(row.msg_id), now) for row in rest)
        if rest:
            why = results.get(rest[0].msg_id)
            self.telemetry.event("writeback-refused", rows=len(rest), msg_id=rest[0].msg_id, why=str(why))
        self.telemetry.count("msgx.backfill.done", len(done))
        self.telemetry.count("msgx.backfill.abandoned", abandoned)
        return SweepResult(len(done), len(rest) - abandoned, abandoned, len(rows) >= policy.batch)

    def _settle(self, row: WritebackDue, result: MarkResult | Exception | None, tried_at: datetime) -> bool:
        """Settle a row that was not written; whether it was abandoned."""
        if result is MarkResult.MISSING_ROW:
            self._abandon(row, AbandonReason.MISSING_ROW, AlertCode.MISSING_ROW, "the mailbox row is gone")
            return True
        detail = "no answer for this row" if result is None else str(result)
        if self.policy.past_deadline(row, tried_at):
            self._abandon(row, AbandonReason.TRANSIENT_DEADLINE, AlertCode.TRANSIENT_DEADLINE, detail)
            return True
        attempts = row.attempts + 1
        alert = None
        if self.policy.alerts_at(attempts):
            alert = Alert(AlertCode.BACKFILL_ATTEMPTS, row.msg_id, detail=f"{attempts} attempts: {detail}")
        now = self.clock.now()
        self.store.writeback_retry(row.msg_id, self.policy.next_at(attempts, now), alert, now)
        return False

    def _abandon(self, row: WritebackDue, reason: AbandonReason, code: AlertCode, detail: str) -> None:
        alert = Alert(code, row.msg_id, detail=detail)
        self.store.writeback_abandon(row.msg_id, reason, alert, self.clock.now())


def _is_written(result: MarkResult | Exception | None) -> bool:
    """Written now, or marked by someone before: both settle the intent (R-143, R-144)."""
    return result in (MarkResult.WRITTEN, MarkResult.ALREADY_MARKED)
