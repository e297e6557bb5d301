"""Recovery after a restored backup or a lost topic: versions above what was seen, events once more (D-31)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.model.change import FlightPut
from msgx_core.ports.operations import Audit
from msgx_core.ports.recovery import VERSIONS_RAISED, Raised


class RecoveryRole(Role):
    """`ports.recovery.Recovery`."""

    def raise_versions(self, by: int, audit: Audit, now: datetime) -> Raised:
        """Add `by` to versions, floors and event counters."""
        with self.fenced() as epoch:
            values = {"by": by, "epoch": epoch}
            self.db.run(SQL["raise_counters"], values)
            flights = self.db.run(SQL["raise_flights"], values)
            floors = self.db.run(SQL["raise_floors"], values)
            apply_no = int(self.db.value(SQL["last_apply_no"]))
            self._record(VERSIONS_RAISED, by, f"after APPLY_NO {apply_no}", audit, now)
        return Raised(flights, floors, apply_no)

    def republish(self, puts: Sequence[FlightPut], now: datetime) -> None:
        """Write the notice and the document of each put as new events."""
        notices = [_event(put, put.notice) for put in puts if put.notice is not None]
        documents = [_event(put, put.document) for put in puts if put.document is not None]
        with self.fenced() as epoch:
            shared = {"now": stamp(now), "epoch": epoch}
            counts = {"event_msg": len(notices), "event_schd": len(documents)}
            counters = {row["NAME"]: row["VALUE"] for row in self.db.rows(SQL["count_republished"], counts)}
            for statement, name, events in (
                ("insert_notice", "event_msg", notices),
                ("put_document", "event_schd", documents),
            ):
                first = counters[name] - len(events) + 1
                numbered = [{**event, **shared, "event_id": n} for n, event in enumerate(events, first)]
                self.db.run_many(SQL[statement], numbered)

    def record(self, action: str, target: int, detail: str | None, audit: Audit, now: datetime) -> None:
        """An audit row."""
        with self.fenced():
            self._record(action, target, detail, audit, now)

    def _record(self, action: str, target: int, detail: str | None, audit: Audit, now: datetime) -> None:
        values = {"action": action, "target": target, "detail": detail}
        who = {"actor": audit.actor, "why": audit.reason, "now": stamp(now)}
        self.db.run(SQL["insert_audit"], {**values, **who})


def _event(put: FlightPut, payload: str | None) -> dict[str, Any]:
    state = put.state
    return {
        "flid": state.flid,
        "version": state.version,
        "msg_id": state.last_msg_id,
        "payload": payload,
    }
