"""Outages: the culprit named, one alert each, their ends too; nothing is counted against a message (D-04)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta

from attrs import define, evolve, field

from msgx_core.errors import Rejected, Transient
from msgx_core.model.outage import Outage
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports.clock import Clock
from msgx_core.ports.outages import Outages
from msgx_core.ports.telemetry import Telemetry
from msgx_core.rules.retry import outage_pause_s

_NEXT = timedelta(microseconds=1)


@define
class OutageWatch:
    """Remembers which services are down, and tells the store: a row and an alert for each, and its end.

    `failed` and `answered` only remember; `tell` writes, for the store itself on its recovery. What holders
    before have left on is `left` until it is met again, which goes on with it, or has answered.
    """

    store: Outages
    clock: Clock
    telemetry: Telemetry
    on_step: Callable[[str], None] = no_step
    _down: dict[str, Outage] = field(factory=dict, init=False)
    _over: list[Outage] = field(factory=list, init=False)
    _told: dict[str, datetime] = field(factory=dict, init=False)
    _last: dict[str, datetime] = field(factory=dict, init=False)
    _left: dict[str, Outage] | None = field(default=None, init=False)

    def failed(self, error: Transient) -> float:
        """Note a failure; how many seconds to wait before the next try."""
        service = error.service
        known = self._down.get(service)
        since = self._begin(service) if known is None else known.since
        failures = 1 if known is None else known.failures + 1
        self._down[service] = Outage(service, since, error.detail, failures=failures)
        self.telemetry.event("outage", service=service, detail=error.detail, failures=failures)
        return outage_pause_s(failures)

    def answered(self, *services: str) -> None:
        """Note that these answered; ends their outages, those that holders before have left too."""
        for service in services:
            outage = self._down.pop(service, None) or (self._left or {}).pop(service, None)
            if outage is None:
                continue
            self.telemetry.event("outage-ended", service=service, failures=outage.failures)
            self._over.append(evolve(outage, ended_at=self.clock.now(), epoch=None))

    def missed(self, service: str, since: datetime, detail: str) -> None:
        """Note an outage that was over before this object was there."""
        self._over.append(Outage(service, since, detail, ended_at=self.clock.now()))

    def current(self) -> tuple[Outage, ...]:
        """Services that are down now."""
        return tuple(self._down.values())

    def left(self) -> frozenset[str]:
        """Services that holders before have left down and that we have not met yet."""
        return frozenset(self._left or ())

    def leased(self) -> None:
        """We hold the lease anew: what the store has is looked for again; what it missed will be told."""
        self.answered("store")
        self._down.clear()
        self._told.clear()
        self._left = None

    def forget(self) -> None:
        """Another instance is active: what is down is its to tell."""
        self._down.clear()
        self._over.clear()
        self._told.clear()
        self._left = None

    def look(self, guard: AbstractContextManager[object] | None = None) -> None:
        """Once under each lease: find what holders before have left on. Raises `Transient("store", …)`."""
        if self._left is None:
            rows = self.store.outages()
            with nullcontext() if guard is None else guard:
                self._adopt(rows)

    def tell(self, guard: AbstractContextManager[object] | None = None) -> None:
        """Write what has begun and ended since. Raises `Transient("store", …)` and `Fenced`.

        What was not written is written by the next call. With several threads `guard` excludes the others
        from the memory of this object; it is not held while the store is asked.
        """
        guard = nullcontext() if guard is None else guard
        self.look(guard)
        with guard:
            untold = self._untold()
        for outage in untold:
            self._write(outage)
            with guard:
                self._noted(outage)

    def _write(self, outage: Outage) -> None:
        try:
            self.store.note_outage(outage, _words(outage), self.clock.now())
            self.on_step(Step.OUTAGE_TOLD)
        except Rejected as error:
            # Words that the store cannot hold must not keep the others from being told.
            self.telemetry.event("outage-refused", service=outage.service, error=str(error))

    def _begin(self, service: str) -> datetime:
        left = (self._left or {}).pop(service, None)
        if left is not None:
            return left.since
        # Two outages are told apart by when they began, however coarse the clock.
        now = self.clock.now()
        since = max(now, self._last.get(service, now))
        self._last[service] = since + _NEXT
        return since

    def _adopt(self, rows: Iterable[Outage]) -> None:
        """What holders before have left on: ours, when we have met it since."""
        self._left = {}
        for row in (row for row in rows if row.ended_at is None):
            over = next((n for n, each in enumerate(self._over) if each.service == row.service), None)
            if over is not None:
                self._over[over] = evolve(self._over[over], since=row.since)
            elif row.service in self._down:
                self._down[row.service] = evolve(self._down[row.service], since=row.since)
            else:
                self._left[row.service] = row

    def _untold(self) -> list[Outage]:
        on = [outage for service, outage in self._down.items() if self._told.get(service) != outage.since]
        return [*self._over, *on]

    def _noted(self, outage: Outage) -> None:
        if outage in self._over:
            self._over.remove(outage)
        else:
            self._told[outage.service] = outage.since


def _words(outage: Outage) -> str:
    """What its alert says; the store's own is told when it answers again."""
    if outage.ended_at is None and outage.service != "store":
        return f"{outage.service} does not answer: {outage.detail}"
    since = outage.since.isoformat(timespec="seconds")
    return f"{outage.service} did not answer from {since}: {outage.detail}"
