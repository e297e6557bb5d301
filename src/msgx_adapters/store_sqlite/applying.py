"""Step ①: a `Change` in one transaction, and step ③ (D-01, D-02)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import attrs

from msgx_adapters.store_sql.documents import dump_list
from msgx_adapters.store_sqlite import flights, ledger, reference
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import day_text, stamp
from msgx_core.errors import Conflict
from msgx_core.model.alert import Alert
from msgx_core.model.change import Change
from msgx_core.model.request import BindRequest
from msgx_core.model.schedule import SnapshotLogRow


class ApplyingRole(Role):
    """The writes of `ports.store.Effects`."""

    def apply(self, change: Change) -> int:
        """① Write all of it; returns `APPLY_NO`. `Conflict` when something is not as it was read."""
        advanced = [put for put in change.flights if put.advanced]
        notices = [put for put in advanced if put.notice is not None]
        documents = [put for put in advanced if put.document is not None]
        with self.fenced() as epoch:
            counts = {"event_msg": len(notices), "event_schd": len(documents)}
            counters = {row["NAME"]: row["VALUE"] for row in self.db.rows(SQL["count_up"], counts)}
            apply_no = int(counters["apply_no"])
            self._mark_applied(change, apply_no, epoch)
            flights.write(self.db, change, epoch)
            flights.write_notices(self.db, change, notices, counters["event_msg"] - len(notices), epoch)
            flights.write_documents(self.db, change, advanced, counters["event_schd"] - len(documents), epoch)
            ledger.write(self.db, change, epoch)
            reference.write(self.db, change.reference)
            self._request(change, epoch)
            self._sender(change)
            self.insert_alerts(change.alerts, change.at)
            # A long ① keeps the connection from the thread that renews.
            self.db.run(SQL["extend_lease"], {"expiry_s": self.lease_expiry_s})
        return apply_no

    def finish(self, msg_id: int, now: datetime) -> bool:
        """③ `SUCCEEDED` with write-back intent; closes the bound request. False: nothing written."""
        with self.fenced() as epoch:
            values = {"msg_id": msg_id, "now": stamp(now), "epoch": epoch}
            if not self.db.run(SQL["finish"], values):
                return False
            self.db.run(SQL["close_request"], values)
        return True

    def log_snapshots(self, rows: Sequence[SnapshotLogRow]) -> None:
        """Append to the schedule log (D-16)."""
        if not rows:
            return
        with self.fenced():
            self.db.run_many(SQL["log_snapshot"], (_log_values(row) for row in rows))

    def raise_alert(self, alert: Alert, now: datetime) -> None:
        """Append one alert; under our epoch when we have one."""
        with self.db.write() if self.epoch is None else self.fenced():
            self.insert_alerts([alert], now)

    def _mark_applied(self, change: Change, apply_no: int, epoch: int) -> None:
        marked = self.db.run(
            SQL["mark_applied"],
            {
                "msg_id": change.msg_id,
                "now": stamp(change.at),
                "apply_no": apply_no,
                "coverage": change.coverage,
                "reason": change.outcome.reason,
                "detail": change.outcome.detail,
                "epoch": epoch,
            },
        )
        if not marked:
            raise Conflict(f"message {change.msg_id} is applied or finished already")

    def _request(self, change: Change, epoch: int) -> None:
        effect = change.request
        if effect is None:
            return
        values = {**attrs.asdict(effect), "msg_id": change.msg_id, "now": stamp(change.at), "epoch": epoch}
        sql = SQL["bind_request"] if isinstance(effect, BindRequest) else SQL["fail_request"]
        if not self.db.run(sql, values):
            raise Conflict(f"request {effect.request_id} is closed or bound already")

    def _sender(self, change: Change) -> None:
        if change.sender is not None:
            values = attrs.asdict(change.sender, recurse=False)
            self.db.run(SQL["put_sender"], {**values, "now": stamp(change.at)})


def _log_values(row: SnapshotLogRow) -> dict[str, object]:
    return {
        **attrs.asdict(row, recurse=False),
        "recv_at": stamp(row.recv_at),
        "result": row.result.value,
        "operation_day": day_text(row.operation_day),
        "scope_start": stamp(row.scope_start),
        "scope_end": stamp(row.scope_end),
        "flags": dump_list([flag.value for flag in row.flags]),
    }
