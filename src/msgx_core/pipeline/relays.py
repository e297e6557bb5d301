"""Relays: outbox rows to the two topics, at least once (IMP §8, D-26 to D-29)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen

from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.events import DueEvent, EventSettled, EventStatus, Target
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports.bus import Bus, BusRecord, Delivery
from msgx_core.ports.clock import Clock
from msgx_core.ports.store import PipelineStore
from msgx_core.ports.telemetry import Telemetry
from msgx_core.rules.render import with_event_id
from msgx_core.rules.retry import RetryPolicy, settle_delivery

_HEAD, _TAIL = b'{"SCHD":{"FLTR":[', b"]}}"


@frozen
class RelayResult:
    """Events of one round; `full`: there may be more at once."""

    sent: int = 0
    refused: int = 0
    full: bool = False


@frozen
class RelayTools:
    """What both relays work with. The confirmation decides, nothing else (D-28)."""

    store: PipelineStore
    bus: Bus
    clock: Clock
    telemetry: Telemetry
    retry: RetryPolicy
    on_step: Callable[[str], None] = no_step

    def publish(self, records: Sequence[BusRecord]) -> Sequence[Delivery]:
        """Give records to the bus; what became of each. Raises `Transient("bus")`."""
        deliveries = self.bus.publish(records)
        self.on_step(Step.PUBLISHED)
        return deliveries

    def settle(
        self, events: Sequence[DueEvent], deliveries: Sequence[Delivery], *, full: bool
    ) -> RelayResult:
        """Record what became of each event; a dead one raises an alert in the same transaction."""
        now = self.clock.now()
        settled = [
            settle_delivery(event, delivery.code, self.retry, now)
            for event, delivery in zip(events, deliveries, strict=True)
        ]
        self.store.settle_events(settled, [_dead_alert(s) for s in settled if _is_dead(s)], now)
        self.on_step(Step.EVENTS_SETTLED)
        sent = sum(s.status is EventStatus.SENT for s in settled)
        if settled:
            target = settled[0].target.value
            self.telemetry.count("msgx.event.sent", sent, target=target)
            self.telemetry.count("msgx.event.refused", len(settled) - sent, target=target)
        return RelayResult(sent, len(settled) - sent, full)


@frozen
class MsgRelay:
    """Change notices: key `FLID`, in `EVENT_ID` order per flight, one in flight per flight (D-28)."""

    tools: RelayTools
    topic: str = "KAFKA_MSG"
    batch: int = 500

    def run_once(self) -> RelayResult:
        """Send one frozen batch. Raises `Transient("bus")`: nothing counted, all sent again later."""
        events = self.tools.store.due_events(Target.MSG, self.tools.clock.now(), self.batch)
        if not events:
            return RelayResult()
        records = [
            BusRecord(self.topic, str(event.flid), with_event_id(event.event_id, event.payload))
            for event in events
        ]
        with self.tools.telemetry.stage("relay-msg"):
            deliveries = self.tools.publish(records)
            # Later notices of these flights were held back, so there may be more at once.
            return self.tools.settle(events, deliveries, full=True)


@frozen
class SchdRelay:
    """Full states, newest only: several flights per record, or one keyed record per flight (D-29)."""

    tools: RelayTools
    topic: str = "KAFKA_SCHD"
    flush_limit: int = 200
    records_per_message: int = 200

    def run_once(self) -> RelayResult:
        """Send one batch. Raises `Transient("bus")`: nothing counted, all sent again later."""
        events = self.tools.store.due_events(Target.SCHD, self.tools.clock.now(), self.flush_limit)
        if not events:
            return RelayResult()
        with self.tools.telemetry.stage("relay-schd"):
            return self._relayed(events)

    def _relayed(self, events: Sequence[DueEvent]) -> RelayResult:
        groups = self._groups(events)
        deliveries = self.tools.publish([self._record(group) for group in groups])
        refused = [g for g, d in zip(groups, deliveries, strict=True) if not d.ok and len(g) > 1]
        codes = {e.event_id: d for g, d in zip(groups, deliveries, strict=True) for e in g}
        # A refusal of several flights says nothing about each: they go again, one by one.
        alone = [event for group in refused for event in group]
        if alone:
            singles = self.tools.publish([self._record([event]) for event in alone])
            codes |= {event.event_id: d for event, d in zip(alone, singles, strict=True)}
        full = len(events) >= self.flush_limit
        return self.tools.settle(events, [codes[event.event_id] for event in events], full=full)

    def _groups(self, events: Sequence[DueEvent]) -> list[list[DueEvent]]:
        """Split by count and by size; one flight that is too large stands alone."""
        groups: list[list[DueEvent]] = []
        size = 0
        for event in events:
            cost = len(event.payload.encode()) + 1
            fits = groups and len(groups[-1]) < self.records_per_message
            if not fits or size + cost > self.tools.bus.max_bytes:
                groups.append([])
                size = len(_HEAD) + len(_TAIL)
            groups[-1].append(event)
            size += cost
        return groups

    def _record(self, group: Sequence[DueEvent]) -> BusRecord:
        key = str(group[0].flid) if self.records_per_message == 1 else None
        body = ",".join(event.payload for event in group).encode()
        return BusRecord(self.topic, key, _HEAD + body + _TAIL)


def _is_dead(settled: EventSettled) -> bool:
    return settled.status is EventStatus.DEAD


def _dead_alert(settled: EventSettled) -> Alert:
    detail = f"{settled.target.value} event {settled.event_id} version {settled.version}: {settled.code}"
    return Alert(AlertCode.DEAD_EVENT, flid=settled.flid, detail=detail)
