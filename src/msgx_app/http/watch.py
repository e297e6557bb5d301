"""How this instance is: its phase for health, its services for the status, its gauges for a scrape."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from datetime import datetime
from typing import Any

from attrs import define, field, frozen

from msgx_app.answers.schemas import installed_version
from msgx_app.answers.services import Answer, ask_all
from msgx_app.backends import Metrics
from msgx_app.daemon.monitor import Monitor, Phase
from msgx_app.http.office import Desk, Office
from msgx_core.model.events import Target
from msgx_core.model.proc import MessageState
from msgx_core.ports import Clock
from msgx_core.ports.metrics import Reading
from msgx_core.ports.operations import Counts

GAUGES_KEPT_S = 1.0
SERVICES_KEPT_S = 5.0
ANSWER_S = 3.0
_UNFINISHED = (MessageState.PENDING.value, MessageState.FAILED.value)


@frozen
class Watch:
    """What health, status and metrics look at."""

    monitor: Monitor
    clock: Clock
    office: Office
    services: Services
    gauges: Gauges
    metrics: Metrics
    holder: str

    @classmethod
    def on(cls, monitor: Monitor, office: Office, metrics: Metrics, holder: str) -> Watch:
        """Looking at one instance."""
        clock = office.clock
        gauges = Gauges(monitor, office)
        return cls(monitor, clock, office, Services(office), gauges, metrics, holder)

    def instance(self) -> dict[str, Any]:
        """The phase and the loops, for the status."""
        view = self.monitor.phase()
        beats = self.monitor.heartbeats.view()
        return {
            "HOLDER": self.holder,
            "PHASE": view.phase.value,
            "SINCE": view.since,
            "DETAIL": view.detail or None,
            "VERSION": installed_version(),
            "LOOPS": [
                {
                    "LOOP": name,
                    "LAST_SUCCESS_AT": beat.last_success_at,
                    "STEPS": beat.steps,
                    "WAITS": beat.waits,
                    "ERRORS": beat.errors,
                    "PROBLEM": beat.problem,
                }
                for name, beat in beats.items()
            ],
        }


@define
class Services:
    """Does each service answer? Asked beside by whoever wants to know, at most every `SERVICES_KEPT_S`.

    What is told is the last answer, each with its time. Thread-safe.
    """

    _office: Office
    _guard: threading.Lock = field(factory=threading.Lock, init=False)
    _answers: Sequence[Answer] = field(default=(), init=False)
    _answered_at_s: float = field(default=float("-inf"), init=False)
    _asked_at_s: float = field(default=float("-inf"), init=False)
    _asking: threading.Event | None = field(default=None, init=False)

    def answers(self) -> Sequence[Answer]:
        """Answers of now; older ones when a service takes longer than `ANSWER_S` to say something."""
        with self._guard:
            now_s = self._office.clock.monotonic_s()
            if now_s - self._answered_at_s < SERVICES_KEPT_S:
                return self._answers
            if self._asking is None:
                self._asking, self._asked_at_s = threading.Event(), now_s
                threading.Thread(target=self._ask, args=(self._asking,), name="http-ask", daemon=True).start()
            waiting = self._asking
            # Of one asking: while a service hangs not each who looks waits as long again.
            left_s = self._asked_at_s + ANSWER_S - now_s
        if left_s > 0:
            waiting.wait(left_s)
        return self._answers

    def _ask(self, done: threading.Event) -> None:
        try:
            with ExitStack() as opened:
                answers = ask_all(self._office.settings, self._office.clock, opened).answers
            self._answers = answers
        finally:
            with self._guard:
                self._answered_at_s = self._office.clock.monotonic_s()
                self._asking = None
            done.set()


class Gauges:
    """The gauges of a scrape; those of the store are counted once a second at most. Of one event loop."""

    def __init__(self, monitor: Monitor, office: Office) -> None:
        self._monitor = monitor
        self._office = office
        self._counted: Sequence[Reading] = ()
        self._counted_at_s = float("-inf")

    async def readings(self) -> list[Reading]:
        """As they are now; without those of the store while it does not answer."""
        now_s = self._office.clock.monotonic_s()
        if now_s - self._counted_at_s >= GAUGES_KEPT_S:
            try:
                counted = await self._office.work(_counted)
                self._counted = (Reading("msgx.store.up", 1), *counted)
            except Exception:
                # A scrape that fails would hide what is known without the store.
                self._counted = (Reading("msgx.store.up", 0),)
            self._counted_at_s = self._office.clock.monotonic_s()
        return [*self._counted, *self._own()]

    def _own(self) -> Iterable[Reading]:
        phase = self._monitor.phase().phase
        yield Reading("msgx.build", 1, (installed_version(),))
        yield Reading("msgx.lease.held", float(phase is Phase.ACTIVE))
        for each in Phase:
            yield Reading("msgx.phase", float(each is phase), (each.value,))
        down = {outage.service for outage in self._monitor.outages()}
        for service in sorted({*down, "store", "mailbox", "cache", "bus"}):
            yield Reading("msgx.outage", float(service in down), (service,))
        for name, beat in self._monitor.heartbeats.view().items():
            if beat.last_success_at is not None:
                yield Reading("msgx.loop.last-success", beat.last_success_at.timestamp(), (name,))


def _counted(desk: Desk) -> list[Reading]:
    store = desk.store
    counts, head, lease = store.counts(), store.head(), store.lease()
    now = desk.clock.now()
    age_s = 0.0 if head is None else max(0.0, (now - head.enqueued_at).total_seconds())
    unfinished = sum(counts.messages.get(state, 0) for state in _UNFINISHED)
    return [
        Reading("msgx.pipeline.backlog.oldest_unprocessed_seconds", age_s),
        Reading("msgx.pipeline.backlog.unprocessed", unfinished),
        *(Reading("msgx.messages", counts.messages.get(s.value, 0), (s.value,)) for s in MessageState),
        *(Reading("msgx.flights", counts.flights.get(s, 0), (s,)) for s in ("ACTIVE", "DELETED")),
        Reading("msgx.backfill.pending", counts.writeback_pending),
        Reading("msgx.backfill.given-up", counts.writeback_abandoned),
        Reading("msgx.requests.open", counts.requests_open),
        Reading("msgx.alerts.open", counts.alerts_open),
        Reading("msgx.lease.epoch", lease.epoch),
        *_events(counts, now),
    ]


def _events(counts: Counts, now: datetime) -> Iterable[Reading]:
    for target in Target:
        statuses = counts.events.get(target.value, {})
        oldest = counts.oldest_event_at.get(target.value)
        age_s = 0.0 if oldest is None else max(0.0, (now - oldest).total_seconds())
        yield Reading("msgx.event.pending", statuses.get("PENDING", 0), (target.value,))
        yield Reading("msgx.event.dead", statuses.get("DEAD", 0), (target.value,))
        yield Reading("msgx.event.oldest_seconds", age_s, (target.value,))
