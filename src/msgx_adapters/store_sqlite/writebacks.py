"""Write-back intents: claimed, then settled, retried or abandoned (IMP §6)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_sql.documents import dump_list
from msgx_adapters.store_sql.rows import writeback_due
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.model.alert import Alert
from msgx_core.model.proc import AbandonReason, WritebackDue


class WritebackRole(Role):
    """`ports.store.Writebacks`."""

    def claim_writebacks(
        self, now: datetime, overdue_before: datetime, limit: int, claim_until: datetime
    ) -> Sequence[WritebackDue]:
        """Claim due rows, ordered by attempts, then id."""
        with self.fenced() as epoch:
            found = self.db.rows(
                SQL["claim_writebacks"],
                {
                    "now": stamp(now),
                    "overdue_before": stamp(overdue_before),
                    "limit": limit,
                    "claim_until": stamp(claim_until),
                    "epoch": epoch,
                },
            )
        # RETURNING promises no order.
        return sorted((writeback_due(row) for row in found), key=lambda due: (due.attempts, due.msg_id))

    def writebacks_done(self, msg_ids: Sequence[int], now: datetime) -> None:
        """The intents are settled."""
        with self.fenced() as epoch:
            values = {"ids": dump_list(list(msg_ids)), "now": stamp(now), "epoch": epoch}
            self.db.run(SQL["writebacks_done"], values)

    def writeback_retry(self, msg_id: int, next_at: datetime, alert: Alert | None, now: datetime) -> None:
        """Count one try; due again at `next_at`."""
        with self.fenced() as epoch:
            values = {"msg_id": msg_id, "next_at": stamp(next_at), "now": stamp(now), "epoch": epoch}
            if self.db.run(SQL["writeback_retry"], values) and alert is not None:
                self.insert_alerts([alert], now)

    def writeback_abandon(self, msg_id: int, reason: AbandonReason, alert: Alert, now: datetime) -> None:
        """Stop automatic retry, with the alert."""
        with self.fenced() as epoch:
            values = {"msg_id": msg_id, "reason": reason.value, "now": stamp(now), "epoch": epoch}
            if self.db.run(SQL["writeback_abandon"], values):
                self.insert_alerts([alert], now)

    def release_claims(self, msg_ids: Sequence[int]) -> None:
        """End claims with nothing counted."""
        with self.fenced() as epoch:
            self.db.run(SQL["release_claims"], {"ids": dump_list(list(msg_ids)), "epoch": epoch})
