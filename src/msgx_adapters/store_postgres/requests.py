"""Requests on their way out: asked for, begun, sent or lost, expired (D-32); one call each."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_postgres.session import Role, alerts_json
from msgx_adapters.store_sql import rows
from msgx_core.model.alert import Alert
from msgx_core.model.request import Request
from msgx_core.ports.operations import Audit


class RequestRole(Role):
    """`ports.store_later.RequestWork`."""

    def ask(self, request: Request, audit: Audit, now: datetime) -> Request | None:
        """A new `PENDING` request of msgx's own; None where its slot is taken."""
        found = self.fenced(
            "ask_request",
            slot=request.slot.value,
            rtype=request.rtype,
            first_day=request.first_day,
            last_day=request.last_day,
            created_at=request.created_at,
            actor=audit.actor,
            why=audit.reason,
            now=now,
        )
        return rows.request(found[0]) if found else None

    def pending_requests(self) -> Sequence[Request]:
        """`PENDING` requests by id."""
        return [rows.request(row) for row in self.read_rows("pending_requests")]

    def begin_send(self, request_id: int, now: datetime) -> Request | None:
        """Commit `SEND_STARTED_AT` and the next `SEQN`; None when it is not ours to send."""
        found = self.fenced("begin_send", request_id=request_id, now=now)
        return rows.request(found[0]) if found else None

    def confirm_sent(self, request_id: int, now: datetime) -> bool:
        """`PENDING → SENT`; False when it is not pending any more."""
        return bool(self.fenced("confirm_sent", request_id=request_id, now=now)[0]["DONE"])

    def lose_send(self, request_id: int, alert: Alert, now: datetime) -> bool:
        """`PENDING → FAILED(send-lost)` with its alert."""
        (row,) = self.fenced("lose_send", request_id=request_id, alerts=alerts_json([alert]), now=now)
        return bool(row["DONE"])

    def expire_requests(self, sent_before: datetime, now: datetime) -> Sequence[int]:
        """`SENT` requests without an answer, sent then or before: `EXPIRED(timeout)`; their ids."""
        found = self.fenced("expire_requests", sent_before=sent_before, now=now)
        return [row["REQUEST_ID"] for row in found]
