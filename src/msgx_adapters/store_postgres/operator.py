"""What people may change: each a conditional change with an audit row (D-34), one call."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from attrs import evolve

from msgx_adapters.store_postgres.session import Role, json_of
from msgx_adapters.store_sql import rows
from msgx_core.model.events import EventStatus, Target
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.ports.operations import Audit, OperatorResult


class OperatorRole(Role):
    """`ports.operations.OperatorActions`. An audit row is written for each change that took place."""

    def replay(
        self, msg_ids: Sequence[int], whitelist: Sequence[tuple[str, str | None]], audit: Audit, now: datetime
    ) -> Sequence[OperatorResult]:
        """`FAILED`/`DEAD → PENDING` where the whitelist lets it in (R-120, H-25)."""
        pairs = json_of([list(pair) for pair in whitelist])
        return self._each("replay", audit, now, ids=list(msg_ids), whitelist=pairs)

    def readmit(self, msg_id: int, audit: Audit, now: datetime) -> OperatorResult:
        """`SKIPPED(duplicate-of:…) → PENDING` under its identity with `#<MSG_ID>` behind (D-24)."""
        (row,) = self.write("readmit", msg_id=msg_id, actor=audit.actor, why=audit.reason, now=now)
        return OperatorResult(msg_id, row["REFUSED"])

    def resume_writebacks(
        self, msg_ids: Sequence[int] | None, audit: Audit, now: datetime
    ) -> Sequence[OperatorResult]:
        """Abandoned rows (None: all) are due once more (D-38)."""
        return self._each("resume_writebacks", audit, now, ids=None if msg_ids is None else list(msg_ids))

    def requeue_events(
        self, event_ids: Sequence[int], audit: Audit, now: datetime, target: Target | None = None
    ) -> Sequence[OperatorResult]:
        """`DEAD → PENDING`, attempts 0."""
        return self._revive(EventStatus.PENDING, event_ids, audit, now, target)

    def discard_events(
        self, event_ids: Sequence[int], audit: Audit, now: datetime, target: Target | None = None
    ) -> Sequence[OperatorResult]:
        """`DEAD → DISCARDED`."""
        return self._revive(EventStatus.DISCARDED, event_ids, audit, now, target)

    def acknowledge(self, alert_ids: Sequence[int], audit: Audit, now: datetime) -> Sequence[OperatorResult]:
        """Close alerts."""
        return self._each("acknowledge", audit, now, ids=list(alert_ids))

    def create_request(self, request: Request, audit: Audit, now: datetime) -> Request:
        """A new `PENDING` request in place of the open one of its slot (D-32)."""
        (row,) = self.write(
            "create_request",
            slot=request.slot.value,
            seqn=request.seqn,
            rtype=request.rtype,
            first_day=request.first_day,
            last_day=request.last_day,
            created_at=request.created_at,
            actor=audit.actor,
            why=audit.reason,
            now=now,
        )
        return evolve(request, request_id=row["REQUEST_ID"], state=RequestState.PENDING)

    def open_request(self, slot: RequestSlot) -> Request | None:
        """The open request of a slot."""
        found = self.read_rows("open_request", slot=slot.value)
        return rows.request(found[0]) if found else None

    def _revive(
        self,
        status: EventStatus,
        event_ids: Sequence[int],
        audit: Audit,
        now: datetime,
        target: Target | None,
    ) -> Sequence[OperatorResult]:
        topic = None if target is None else target.value
        return self._each("revive_events", audit, now, ids=list(event_ids), status=status.value, target=topic)

    def _each(self, name: str, audit: Audit, now: datetime, **values: Any) -> list[OperatorResult]:
        found = self.write(name, **values, actor=audit.actor, why=audit.reason, now=now)
        return [OperatorResult(row["TARGET"], row["REFUSED"]) for row in found]
