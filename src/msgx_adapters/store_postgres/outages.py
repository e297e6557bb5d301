"""Outages: which service the active instance cannot use, and one alert for each (D-04)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgx_adapters.store_postgres.session import Role
from msgx_adapters.store_sql import rows
from msgx_core.model.outage import Outage


class OutageRole(Role):
    """`ports.Outages`."""

    def note_outage(self, outage: Outage, words: str, now: datetime) -> None:
        """Note an outage that is on, or over; one alert for each."""
        self.fenced(
            "note_outage",
            service=outage.service,
            since=outage.since,
            detail=outage.detail,
            ended_at=outage.ended_at,
            words=words,
            now=now,
        )

    def outages(self) -> Sequence[Outage]:
        """The last known outage of each service."""
        return [rows.outage(row) for row in self.read_rows("outages")]
