"""Retry and back-off of messages, write-backs, events and outages (IMP §6, §9.1, D-04, D-28, D-38)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from attrs import frozen

from msgx_core.model.events import DueEvent, EventSettled, EventStatus
from msgx_core.model.proc import WritebackDue
from msgx_core.states.delivery import DELIVERY, DeliveryEvent

MESSAGE_BACKOFF = tuple(timedelta(seconds=s) for s in (1, 5, 30, 120, 600, 1800, 3600))
WRITEBACK_BACKOFF = tuple(timedelta(seconds=s) for s in (5, 30, 120, 600))


@frozen
class RetryPolicy:
    """Attempts and pauses. One step fewer than attempts, so that each attempt but the last has a pause."""

    max_attempts: int = 8
    backoff: Sequence[timedelta] = MESSAGE_BACKOFF

    def problems(self, name: str) -> tuple[str, ...]:
        """What is wrong with the numbers, for the start-up check (R-117)."""
        if len(self.backoff) == self.max_attempts - 1:
            return ()
        return (
            f"{name}: {len(self.backoff)} back-off steps for {self.max_attempts} attempts;"
            f" give {self.max_attempts - 1}",
        )

    def exhausted(self, attempts: int) -> bool:
        """Whether no attempt is left."""
        return attempts >= self.max_attempts

    def next_at(self, attempts_made: int, now: datetime) -> datetime:
        """When to try again after that many attempts; the last step repeats."""
        return now + _pause(self.backoff, attempts_made)


@frozen
class WritebackPolicy:
    """`R`, pauses and the alert threshold of the write-back (IMP §6)."""

    overdue: timedelta = timedelta(days=7)
    inbox_retention: timedelta = timedelta(days=31)
    backoff: Sequence[timedelta] = WRITEBACK_BACKOFF
    alert_attempts: int = 20
    batch: int = 200
    claim: timedelta = timedelta(seconds=15)

    def problems(self) -> tuple[str, ...]:
        """`R` must not be above the owner's clean-up age (R-152)."""
        if self.overdue <= self.inbox_retention:
            return ()
        return (
            f"msgx.pipeline.overdue-backfill ({self.overdue}) must not be above"
            f" msgx.pipeline.inbox-retention ({self.inbox_retention})",
        )

    def next_at(self, attempts_made: int, now: datetime) -> datetime:
        """When a failed try is due again; the last step repeats."""
        return now + _pause(self.backoff, attempts_made)

    def past_deadline(self, row: WritebackDue, tried_at: datetime) -> bool:
        """Whether this failed try was made at or after `R`: then it was the last one (D-38)."""
        return tried_at - row.enqueued_at >= self.overdue

    def alerts_at(self, attempts_made: int) -> bool:
        """The number of attempts raises one alert and never stops the retry (R-151)."""
        return attempts_made == self.alert_attempts


def _pause(backoff: Sequence[timedelta], attempts_made: int) -> timedelta:
    """The step for that many attempts; none where no pause is configured."""
    if not backoff:
        return timedelta(0)
    return backoff[min(max(attempts_made, 1), len(backoff)) - 1]


def settle_delivery(event: DueEvent, code: str | None, policy: RetryPolicy, now: datetime) -> EventSettled:
    """What a delivery report means for an event: sent, retried, or dead. `code` None is success.

    A value too large for the bus never gets smaller: dead at once.
    """
    if code is None:
        status = DELIVERY.next(EventStatus.PENDING, DeliveryEvent.CONFIRM)
        return EventSettled(event.event_id, event.target, event.flid, event.version, status)
    attempts = event.attempts + 1
    final = code == "too-large" or policy.exhausted(attempts)
    what = DeliveryEvent.EXHAUST if final else DeliveryEvent.RETRY
    return EventSettled(
        event_id=event.event_id,
        target=event.target,
        flid=event.flid,
        version=event.version,
        status=DELIVERY.next(EventStatus.PENDING, what),
        attempts=attempts,
        next_attempt_at=None if final else policy.next_at(attempts, now),
        code=code,
    )


def outage_pause_s(failures: int) -> float:
    """Pause after that many failures in a row: 1 s doubling to 30 s (D-04).

    >>> [outage_pause_s(n) for n in (1, 2, 3, 5, 6, 1000)]
    [1.0, 2.0, 4.0, 16.0, 30.0, 30.0]
    """
    return float(min(30, 2 ** min(max(failures, 1) - 1, 5)))
