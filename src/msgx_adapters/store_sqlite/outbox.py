"""Unsent events (IMP §8)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_sql.rows import due_event
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.model.alert import Alert
from msgx_core.model.events import DueEvent, EventSettled, Target


class OutboxRole(Role):
    """`ports.store.Outbox`."""

    def due_events(self, target: Target, now: datetime, limit: int) -> Sequence[DueEvent]:
        """Due events by `EVENT_ID`; of `msg` only the oldest unsent one of each flight."""
        statement = "due_msg" if target is Target.MSG else "due_schd"
        with self.db.read():
            found = self.db.rows(SQL[statement], {"now": stamp(now), "limit": limit})
        return [due_event(row) for row in found]

    def settle_events(self, settled: Sequence[EventSettled], alerts: Sequence[Alert], now: datetime) -> None:
        """Record deliveries, each only where `EVENT_ID` and version still are those.

        An alert about a flight whose event has been replaced meanwhile is not raised.
        """
        if not settled and not alerts:
            return
        at = stamp(now)
        overtaken: set[int] = set()
        with self.fenced() as epoch:
            for event in settled:
                values = {
                    "event_id": event.event_id,
                    "target": event.target.value,
                    "flid": event.flid,
                    "version": event.version,
                    "status": event.status.value,
                    "attempts": event.attempts,
                    "next_attempt_at": stamp(event.next_attempt_at),
                    "code": event.code,
                    "now": at,
                    "epoch": epoch,
                }
                if not self.db.run(SQL["settle_event"], values):
                    overtaken.add(event.flid)
            self.insert_alerts([alert for alert in alerts if alert.flid not in overtaken], now)
