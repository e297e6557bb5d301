"""Requests on their way out: asked for, begun, sent or lost, expired (D-32)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_sql import rows
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import day_text, stamp
from msgx_core.model.alert import Alert
from msgx_core.model.request import Request
from msgx_core.ports.operations import Audit


class RequestRole(Role):
    """`ports.store_later.RequestWork`."""

    def ask(self, request: Request, audit: Audit, now: datetime) -> Request | None:
        """A new `PENDING` request of msgx's own; None where its slot is taken."""
        values = {
            "slot": request.slot.value,
            "rtype": request.rtype,
            "first_day": day_text(request.first_day),
            "last_day": day_text(request.last_day),
            "created_at": stamp(request.created_at),
            "now": stamp(now),
        }
        with self.fenced() as epoch:
            row = self.db.row(SQL["ask_request"], {**values, "epoch": epoch})
            if row is None:
                return None
            who = {"actor": audit.actor, "why": audit.reason, "detail": None, "now": stamp(now)}
            self.db.run(SQL["insert_audit"], {"action": "ask_request", "target": row["REQUEST_ID"], **who})
        return rows.request(row)

    def pending_requests(self) -> Sequence[Request]:
        """`PENDING` requests by id."""
        with self.db.read():
            found = self.db.rows(SQL["pending_requests"])
        return [rows.request(row) for row in found]

    def begin_send(self, request_id: int, now: datetime) -> Request | None:
        """Commit `SEND_STARTED_AT` and the next `SEQN`; None when it is not ours to send."""
        with self.fenced() as epoch:
            if self.db.row(SQL["may_begin_send"], {"request_id": request_id}) is None:
                return None
            seqn = self.db.value(SQL["next_outbound_seqn"])
            values = {"request_id": request_id, "seqn": str(seqn), "now": stamp(now), "epoch": epoch}
            row = self.db.row(SQL["begin_send"], values)
        return None if row is None else rows.request(row)

    def confirm_sent(self, request_id: int, now: datetime) -> bool:
        """`PENDING → SENT`; False when it is not pending any more."""
        with self.fenced() as epoch:
            values = {"request_id": request_id, "now": stamp(now), "epoch": epoch}
            return bool(self.db.run(SQL["confirm_sent"], values))

    def lose_send(self, request_id: int, alert: Alert, now: datetime) -> bool:
        """`PENDING → FAILED(send-lost)` with its alert."""
        with self.fenced() as epoch:
            values = {"request_id": request_id, "now": stamp(now), "epoch": epoch}
            lost = bool(self.db.run(SQL["lose_send"], values))
            if lost:
                self.insert_alerts([alert], now)
        return lost

    def expire_requests(self, sent_before: datetime, now: datetime) -> Sequence[int]:
        """`SENT` requests without an answer, sent then or before: `EXPIRED(timeout)`; their ids."""
        with self.fenced() as epoch:
            values = {"sent_before": stamp(sent_before), "now": stamp(now), "epoch": epoch}
            found = self.db.rows(SQL["expire_requests"], values)
        return sorted(row["REQUEST_ID"] for row in found)
