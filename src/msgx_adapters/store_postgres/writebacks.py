"""Write-back intents: claimed, then settled, retried or abandoned (IMP §6)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_postgres.session import Role, alerts_json
from msgx_adapters.store_sql.rows import writeback_due
from msgx_core.model.alert import Alert
from msgx_core.model.proc import AbandonReason, WritebackDue


class WritebackRole(Role):
    """`ports.store.Writebacks`."""

    def claim_writebacks(
        self, now: datetime, overdue_before: datetime, limit: int, claim_until: datetime
    ) -> Sequence[WritebackDue]:
        """Claim due rows, ordered by attempts, then id."""
        found = self.fenced(
            "claim_writebacks", now=now, overdue_before=overdue_before, limit=limit, claim_until=claim_until
        )
        return [writeback_due(row) for row in found]

    def writebacks_done(self, msg_ids: Sequence[int], now: datetime) -> None:
        """The intents are settled."""
        self.fenced("writebacks_done", ids=list(msg_ids), now=now)

    def writeback_retry(self, msg_id: int, next_at: datetime, alert: Alert | None, now: datetime) -> None:
        """Count one try; due again at `next_at`."""
        alerts = alerts_json([] if alert is None else [alert])
        self.fenced("writeback_retry", msg_id=msg_id, next_at=next_at, alerts=alerts, now=now)

    def writeback_abandon(self, msg_id: int, reason: AbandonReason, alert: Alert, now: datetime) -> None:
        """Stop automatic retry, with the alert."""
        alerts = alerts_json([alert])
        self.fenced("writeback_abandon", msg_id=msg_id, reason=reason.value, alerts=alerts, now=now)

    def release_claims(self, msg_ids: Sequence[int]) -> None:
        """End claims with nothing counted."""
        self.fenced("release_claims", ids=list(msg_ids))
