"""Outages: one alert each, the culprit named, nothing counted against a message (D-04)."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from attrs import define, field, frozen

from msgx_core.errors import Transient
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.ports.clock import Clock
from msgx_core.ports.store import PipelineStore
from msgx_core.ports.telemetry import Telemetry
from msgx_core.rules.retry import outage_pause_s


@frozen
class Outage:
    """A service that does not answer, since when, and how often it was tried."""

    service: str
    since: datetime
    detail: str
    failures: int
    alerted: bool


@define
class OutageWatch:
    """Remembers who is down. Alerts are written once per outage; for the store itself on its recovery."""

    store: PipelineStore
    clock: Clock
    telemetry: Telemetry
    _down: dict[str, Outage] = field(factory=dict, init=False)

    def failed(self, error: Transient) -> float:
        """Note a failure; how many seconds to wait before the next try."""
        known = self._down.get(error.service)
        since = self.clock.now() if known is None else known.since
        failures = 1 if known is None else known.failures + 1
        alerted = known is not None and known.alerted
        if not alerted and error.service != "store":
            alerted = self._alert(error.service, f"{error.service} does not answer: {error.detail}")
        self._down[error.service] = Outage(error.service, since, error.detail, failures, alerted)
        self.telemetry.event("outage", service=error.service, detail=error.detail, failures=failures)
        return outage_pause_s(failures)

    def answered(self, *services: str) -> None:
        """Note that these answered; ends their outages."""
        for service in services:
            outage = self._down.pop(service, None)
            if outage is None:
                continue
            self.telemetry.event("outage-ended", service=service, failures=outage.failures)
            if not outage.alerted:
                since = outage.since.isoformat(timespec="seconds")
                self._alert(service, f"{service} did not answer from {since}: {outage.detail}")

    def current(self) -> tuple[Outage, ...]:
        """Services that are down now."""
        return tuple(self._down.values())

    def _alert(self, service: str, detail: str) -> bool:
        with suppress(Transient):
            self.store.raise_alert(Alert(AlertCode.OUTAGE, detail=detail), self.clock.now())
            return True
        return False
