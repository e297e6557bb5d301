"""Write-back sweep: the mark in the mailbox, however long that takes (IMP §6, D-38, D-42, D-43)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from attrs import frozen

from msgx_core.errors import Late, Transient
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.proc import AbandonReason, WritebackDue
from msgx_core.pipeline.permits import LeasePermit
from msgx_core.pipeline.steps import Step, no_step
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

    def check_rights(self) -> None:
        """At start: `ConfigError` when rows may not be marked that are to be."""
        if self.enabled:
            self.inbox.check_rights()

    def sweep(self) -> SweepResult:
        """Claim due rows, mark them, settle each.

        Marks are written while the lease lasts and at no other time: a process that was stopped in between
        and goes on when another instance has taken over changes nothing more (D-34). Raises
        `Transient("mailbox")` when the mailbox as a whole is unreachable; then, and when there was no time to
        mark, nothing is counted and the claims are given back.
        """
        if not self.enabled:
            return SweepResult()
        now = self.clock.now()
        policy = self.policy
        rows = self.store.claim_writebacks(now, now - policy.overdue, policy.batch, now + policy.claim)
        if not rows:
            return SweepResult()
        self.on_step(Step.CLAIMED)
        results = self._mark(rows)
        if results is None:
            return SweepResult()
        self.on_step(Step.MARKED)
        done = [r.msg_id for r in rows if _is_written(results.get(r.msg_id))]
        if done:
            self.store.writebacks_done(done, self.clock.now())
        self.on_step(Step.MARKS_SETTLED)
        rest = [r for r in rows if not _is_written(results.get(r.msg_id))]
        abandoned = sum(self._settle(row, results.get(row.msg_id), now) for row in rest)
        if rest:
            why = results.get(rest[0].msg_id)
            told = why.value if isinstance(why, MarkResult) else str(why)
            self.telemetry.event("writeback-refused", rows=len(rest), msg_id=rest[0].msg_id, why=told)
        self.telemetry.count("msgx.backfill.done", len(done))
        self.telemetry.count("msgx.backfill.abandoned", abandoned)
        return SweepResult(len(done), len(rest) - abandoned, abandoned, len(rows) >= policy.batch)

    def _mark(self, rows: Sequence[WritebackDue]) -> Mapping[int, MarkResult | Exception] | None:
        """The fate of each row; None: there was no time."""
        try:
            marks = [(row.msg_id, row.finished_at) for row in rows]
            return self.inbox.mark(marks, LeasePermit(self.store))
        except Transient as error:
            if error.service != "store":
                self._release(rows)
            raise
        except Late as error:
            self._release(rows)
            self.telemetry.event("writeback-late", rows=len(rows), msg_id=rows[0].msg_id, why=str(error))
            return None

    def _release(self, rows: Sequence[WritebackDue]) -> None:
        self.store.release_claims([row.msg_id for row in rows])
        self.on_step(Step.CLAIMS_RELEASED)

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
        self.on_step(Step.MARK_RETRIED)
        return False

    def _abandon(self, row: WritebackDue, reason: AbandonReason, code: AlertCode, detail: str) -> None:
        alert = Alert(code, row.msg_id, detail=detail)
        self.store.writeback_abandon(row.msg_id, reason, alert, self.clock.now())
        self.on_step(Step.MARK_ABANDONED)


def _is_written(result: MarkResult | Exception | None) -> bool:
    """Written now, or marked by someone before: both settle the intent (R-143, R-144)."""
    return result in (MarkResult.WRITTEN, MarkResult.ALREADY_MARKED)
