"""The store port for the rest of the life of data: sending requests, the history sweep, retention."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Protocol

from attrs import frozen

from msgx_core.model.alert import Alert
from msgx_core.model.change import FlightPut
from msgx_core.model.flight import FlightState
from msgx_core.model.request import Request


class RequestWork(Protocol):
    """What the lease holder does with requests (D-32). Every write is fenced and conditional."""

    def pending_requests(self) -> Sequence[Request]:
        """`PENDING` requests by id, with or without `SEND_STARTED_AT`."""
        ...

    def begin_send(self, request_id: int, now: datetime) -> Request | None:
        """Commit `SEND_STARTED_AT` and the next outbound `SEQN`; None when it is not ours to send.

        Only a `PENDING` request whose sending has not begun.
        """
        ...

    def confirm_sent(self, request_id: int, now: datetime) -> bool:
        """`PENDING → SENT`; False when it has been answered or replaced meanwhile."""
        ...

    def lose_send(self, request_id: int, alert: Alert, now: datetime) -> bool:
        """`PENDING → FAILED(send-lost)` with its alert."""
        ...

    def expire_requests(self, sent_before: datetime, now: datetime) -> Sequence[int]:
        """`SENT` requests without an answer, sent before: `EXPIRED(timeout)`; bound ones stay."""
        ...


@frozen
class Archived:
    """A flight that leaves the store: what was confirmed, and the tombstone if it was live."""

    flid: int
    version: int
    tombstone: str | None


class Sweeping(Protocol):
    """The history sweep's side (D-33, D-37). Called under the pipeline lock; fenced."""

    def flights_after(self, after: int, limit: int) -> Sequence[FlightState]:
        """Whole flights in any state with FLID above `after`, by FLID."""
        ...

    def unfinished_message_ids(self) -> Sequence[int]:
        """Messages that are not finished and have been applied: their flights are left alone."""
        ...

    def archive_flights(
        self, gone: Sequence[Archived], notified: Sequence[FlightPut], now: datetime
    ) -> Sequence[int]:
        """Remove flights whose version still is the one confirmed; returns the FLIDs removed.

        In one transaction: rows and details go, version + 1 stays as floor (D-37), tombstones as `msg`
        events, `schd` rows and roster rows go, main flights in `notified` step (their `LAST_MSG_ID`
        stays), and the cache keys to change are noted as `CACHE_PENDING`.
        """
        ...

    def cache_pending(self, limit: int) -> Mapping[int, int]:
        """FLIDs whose cache key must change, and the version to leave there."""
        ...

    def cache_settled(self, flids: Sequence[int]) -> None:
        """Those keys are done."""
        ...


@frozen
class RetentionCutoffs:
    """Age limits as instants; None switches an object's clean-up off (IMP §9.3, FST §8.3)."""

    events: datetime | None = None
    processed: datetime | None = None
    snapshot_log: datetime | None = None
    requests: datetime | None = None
    ledger: date | None = None


class Retention(Protocol):
    """Removal by age, each object under its conditions; in batches, without the pipeline lock."""

    def retention_preview(self, cutoffs: RetentionCutoffs) -> Mapping[str, Mapping[str, int]]:
        """Per object: how many would go, and how many of that age stay, by the reason why."""
        ...

    def remove_expired(self, cutoffs: RetentionCutoffs, limit: int) -> Mapping[str, int]:
        """Remove at most `limit` of each object; how many went. Conditional on the state at that moment."""
        ...
