"""Outages: which service the active instance cannot use, and one alert for each (D-04)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_sql import rows
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.model.alert import AlertCode
from msgx_core.model.outage import Outage


class OutageRole(Role):
    """`ports.Outages`."""

    def note_outage(self, outage: Outage, words: str, now: datetime) -> None:
        """Note an outage that is on, or over; one alert for each."""
        with self.fenced() as epoch:
            row = self.db.row(SQL["outage"], {"service": outage.service})
            known = None if row is None else rows.outage(row)
            if known is not None and known.epoch == epoch and known.since > outage.since:
                return
            values = {
                "service": outage.service,
                "since": stamp(outage.since),
                "detail": outage.detail,
                "ended_at": stamp(outage.ended_at),
                "epoch": epoch,
            }
            if row is None or known is None or known.since != outage.since:
                if row is not None:
                    self._end_alert(row["ALERT_ID"], outage.since)
                alert_id = self._raise(words, now)
                self.db.run(SQL["put_outage"], {**values, "alert_id": alert_id})
            else:
                alert_id = row["ALERT_ID"]
            if self.db.run(SQL["touch_outage"], values) and outage.ended_at is not None:
                self._end_alert(alert_id, outage.ended_at)

    def outages(self) -> Sequence[Outage]:
        """The last known outage of each service."""
        with self.reader.read():
            return [rows.outage(row) for row in self.reader.rows(SQL["outages"])]

    def _raise(self, words: str, now: datetime) -> int:
        about = {"code": AlertCode.OUTAGE.value, "msg_id": None, "flid": None}
        return self.db.last_id(SQL["insert_alert"], {**about, "detail": words, "now": stamp(now)})

    def _end_alert(self, alert_id: int, at: datetime) -> None:
        self.db.run(SQL["end_alert"], {"alert_id": alert_id, "at": stamp(at)})
