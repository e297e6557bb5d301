"""What the roles of a store share: the connections, the statements and the epoch held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from msgx_adapters.store_sql.statements import load
from msgx_adapters.store_sqlite.connection import Connection
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.errors import Fenced
from msgx_core.model.alert import Alert

SQL = load("msgx_adapters.store_sqlite")


class Role:
    """Base of the roles. `epoch` is what this object may write under; None before the lease (D-34)."""

    db: Connection
    reader: Connection
    epoch: int | None = None
    lease_expiry_s: float = 0.0

    @contextmanager
    def fenced(self) -> Iterator[int]:
        """A write transaction under our epoch; `Fenced` when the store is at another one."""
        with self.db.write():
            current = int(self.db.value(SQL["epoch"]))
            if self.epoch != current:
                raise Fenced(self.epoch or 0, current)
            yield current

    def insert_alerts(self, alerts: Sequence[Alert], now: datetime) -> None:
        """Write alerts, in the transaction of what they report (D-41)."""
        if alerts:
            at = stamp(now)
            self.db.run_many(
                SQL["insert_alert"],
                (
                    {"code": a.code.value, "msg_id": a.msg_id, "flid": a.flid, "detail": a.detail, "now": at}
                    for a in alerts
                ),
            )
