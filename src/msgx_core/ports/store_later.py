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
from msgx_core.ports.operations import Audit


class RequestWork(Protocol):
    """What the lease holder does with requests (D-32). Every write is fenced and conditional."""

    def ask(self, request: Request, audit: Audit, now: datetime) -> Request | None:
        """A new `PENDING` request of msgx's own, audited; None where its slot is taken: it replaces none."""
        ...

    def pending_requests(self) -> Sequence[Request]:
        """`PENDING` requests by id, with or without `SEND_STARTED_AT`."""
        ...

    def begin_send(self, request_id: int, now: datetime) -> Request | None:
        """Commit `SEND_STARTED_AT` and the next outbound `SEQN`; None when it is not ours to send.

        Only a `PENDING` request whose sending has not begun. It is returned as it is then; the first one of a
        store is number 1.
        """
        ...

    def confirm_sent(self, request_id: int, now: datetime) -> bool:
        """`PENDING → SENT`; False when it has been answered or replaced meanwhile."""
        ...

    def lose_send(self, request_id: int, alert: Alert, now: datetime) -> bool:
        """`PENDING → FAILED(send-lost)` with its alert, where sending has begun; False: nothing written."""
        ...

    def expire_requests(self, sent_before: datetime, now: datetime) -> Sequence[int]:
        """`SENT` requests without an answer, sent then or before: `EXPIRED(timeout)`; bound ones stay.

        Returns their ids, ascending.
        """
        ...


@frozen
class Archived:
    """A flight that leaves the store: the version that was confirmed, and the tombstone if it was live.

    `last_msg_id` is the message that touched it last; the tombstone's event bears it.
    """

    flid: int
    version: int
    last_msg_id: int
    tombstone: str | None = None


class Sweeping(Protocol):
    """The history sweep's side (D-33, D-37). Writes are called under the pipeline lock; fenced."""

    def flights_after(self, after: int, limit: int) -> Sequence[FlightState]:
        """Whole flights in any state with FLID above `after`, by FLID."""
        ...

    def unfinished_message_ids(self) -> Sequence[int]:
        """Messages that are not finished and have been applied, by id: their flights are left alone."""
        ...

    def archive_flights(self, gone: Sequence[Archived], notified: Sequence[FlightPut], now: datetime) -> None:
        """Remove flights and step main flights, all in one transaction.

        Rows and details go, version + 1 stays as floor (D-37) and is the version of the tombstone, which
        becomes a `msg` event; `schd` rows and roster rows go (generations stay), main flights in `notified`
        step with both events (their `LAST_MSG_ID` stays), and the cache keys of all of them are noted as
        `CACHE_PENDING`. Raises `Conflict`, having written nothing, when one is not at its version.
        """
        ...

    def cache_pending(self, limit: int) -> Mapping[int, int]:
        """FLIDs whose cache key must change, smallest first, and the version to leave there at least."""
        ...

    def cache_settled(self, flids: Sequence[int]) -> None:
        """Those keys are done."""
        ...


@frozen
class RetentionCutoffs:
    """Age limits as instants; None switches an object's clean-up off (IMP §9.3, FST §8.3).

    `ledger` is the first operation day that stays whatever its state; `late_since` is since when an expired
    request may still be answered. `requests_aged`: closed before that, a request is old enough by its age
    alone; it stays while it is not before `requests` (None: there is no such difference).
    """

    events: datetime | None = None
    processed: datetime | None = None
    snapshot_log: datetime | None = None
    requests: datetime | None = None
    requests_aged: datetime | None = None
    jobs: datetime | None = None
    ledger: date | None = None
    late_since: datetime | None = None


class Retention(Protocol):
    """Removal by age, each object under its conditions; in batches, without lease and pipeline lock.

    Objects and what of them goes when it is older than its cut-off:

    * `MSG_EVENT`: `SENT` by `SENT_AT`; `DISCARDED` by its last change. `DEAD` waits for a person (`dead`),
      `PENDING` is not sent (`pending`).
    * `PROC_STATE`: final and written back, by `UPDATED_AT`; else `unfinished` or `not-written-back`.
    * `SCHD_SNAP_LOG`: by `SCOPE_END`, else `RECV_AT`.
    * `REQ_TRACK`: closed, by `CLOSED_AT`; open ones of that age (`CREATED_AT`) stay (`open`), and
      closed ones of that age whose answer may come late (`late`).
    * `OPS_JOB`: ended, by `ENDED_AT`; open ones of that age (`CREATED_AT`) stay (`open`).
    * `SCHD_GEN`: days before the cut-off, roster included. Stays while any message is unfinished
      (`unfinished`), while a message that covered the day is not written back (`not-written-back`), while a
      flight of the day or of its roster is in the store (`flights`), while a request for the day is open or
      may be answered late (`requests`); the first of these in this order is the reason.
    """

    def retention_preview(self, cutoffs: RetentionCutoffs) -> Mapping[str, Mapping[str, int]]:
        """Per object that has a cut-off: how many would go (`go`), how many of that age stay, by reason.

        Reasons that hold for none are absent.
        """
        ...

    def remove_expired(self, cutoffs: RetentionCutoffs, limit: int) -> Mapping[str, int]:
        """Remove at most `limit` of each object that has a cut-off; how many went.

        Conditional on the state at that moment: a replay that comes first wins (R-405).
        """
        ...
