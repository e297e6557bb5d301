"""Unsent events (IMP §8)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_postgres.session import Role, alerts_json, json_of
from msgx_adapters.store_postgres.values import stamp
from msgx_adapters.store_sql.rows import due_event
from msgx_core.model.alert import Alert
from msgx_core.model.events import DueEvent, EventSettled, Target


class OutboxRole(Role):
    """`ports.store.Outbox`."""

    def due_events(self, target: Target, now: datetime, limit: int) -> Sequence[DueEvent]:
        """Due events by `EVENT_ID`; of `msg` only the oldest unsent one of each flight."""
        found = self.read_rows("due_events", target=target.value, now=now, limit=limit)
        return [due_event(row) for row in found]

    def settle_events(self, settled: Sequence[EventSettled], alerts: Sequence[Alert], now: datetime) -> None:
        """Record deliveries, each only where `EVENT_ID` and version still are those.

        An alert about a flight whose event has been replaced meanwhile is not raised.
        """
        if not settled and not alerts:
            return
        events = json_of([_plain(event) for event in settled])
        self.fenced("settle_events", events=events, alerts=alerts_json(alerts), now=now)


def _plain(event: EventSettled) -> dict[str, object]:
    return {
        "id": event.event_id,
        "target": event.target.value,
        "flid": event.flid,
        "version": event.version,
        "status": event.status.value,
        "attempts": event.attempts,
        "next_at": None if event.next_attempt_at is None else stamp(event.next_attempt_at),
        "code": event.code,
    }
