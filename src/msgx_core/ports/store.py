"""The store port, pipeline side: state, events and fates of messages, and who may write them.

Contract of every method: bounded in time; `Transient("store", …)` when the store is unreachable or refuses
all writes; `Rejected("store-rejected:<code>")` when it refuses this one write; one transaction each,
all or nothing. Methods marked *fenced* take the epoch row first and raise `Fenced` when this instance does
not hold the lease any more (D-34). Safe to call from several threads. Times are aware; `now` is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from attrs import frozen

from msgx_core.model.alert import Alert
from msgx_core.model.change import Change, FlightQuery, FlightSnapshot
from msgx_core.model.events import DueEvent, EventSettled, Target
from msgx_core.model.flight import FlightState
from msgx_core.model.proc import (
    AbandonReason,
    Binding,
    Holder,
    NewMessage,
    Outcome,
    ProcRow,
    Turn,
    WritebackDue,
)
from msgx_core.model.request import Request, RequestSlot
from msgx_core.model.schedule import SnapshotLogRow
from msgx_core.ports.outages import Outages


@frozen
class LeaseView:
    """The lease as the store has it; `expires_in_s` is below zero when it has run out."""

    holder: str | None
    epoch: int
    expires_in_s: float


@frozen
class LeaseGrant:
    """Result of asking for the lease. `unclean`: the holder before did not release it (D-05)."""

    granted: bool
    view: LeaseView
    unclean: bool = False


class Leases(Protocol):
    """One active instance (D-34). All lease times are the store's own clock."""

    def acquire_lease(self, holder: str, expiry_s: float) -> LeaseGrant:
        """Take the lease if it is free, expired or our own; raises the epoch in the same transaction.

        From then on this store object's fenced methods carry the new epoch.
        """
        ...

    def renew_lease(self, expiry_s: float) -> None:
        """Extend; `Fenced` when another one has taken over."""
        ...

    def extend_lease(self) -> float:
        """Extend by the expiry that it was taken or renewed with; `Fenced` when another one has taken over.

        Returns that expiry in seconds: nobody takes over earlier than this after the call began.
        """
        ...

    def release_lease(self) -> None:
        """Give the lease up, if it is still ours. Idempotent."""
        ...

    def lease(self) -> LeaseView:
        """Who holds it."""
        ...


class Messages(Protocol):
    """Intake, head, identity and fate of messages."""

    def unknown(self, ids: Sequence[int]) -> Sequence[int]:
        """Those of `ids` that have no `PROC_STATE` row, in the given order; one query."""
        ...

    def enqueue(self, rows: Sequence[NewMessage], now: datetime) -> int:
        """Insert `PENDING` rows where absent; returns how many were new (R-025). Fenced."""
        ...

    def head(self) -> ProcRow | None:
        """The unfinished message with the smallest id (R-002)."""
        ...

    def heads(self, limit: int) -> Sequence[ProcRow]:
        """The head and the unfinished messages behind it, at most `limit`, by id; of one moment."""
        ...

    def bind(self, binding: Binding, now: datetime, *, as_head: bool = False) -> Holder | None:
        """Bind where `IDENTITY_KEY` is empty (R-039); the holder when another message has it. Fenced.

        None also when this message holds it already. On a conflict nothing is written. With `as_head`:
        `Conflict`, nothing written, unless this is the unfinished message with the smallest id (R-002).
        """
        ...

    def identity_holder(self, identity_key: str) -> Holder | None:
        """The message that holds an identity, as `bind` would find it; writes nothing, needs no lease."""
        ...

    def close_unapplied(
        self,
        msg_id: int,
        outcome: Outcome,
        alerts: Sequence[Alert],
        now: datetime,
        binding: Binding | None = None,
    ) -> bool:
        """`SKIPPED` or `DEAD` with write-back intent and alerts, in one transaction. Fenced.

        Only while unfinished and `APPLIED_AT` is empty, `EXHAUSTED` excepted (D-02); False: nothing
        written. The intent is due at `now`, unless `BACKFILL_AT` is set. Ends TRYING. A request that the
        message was bound to becomes unbound. `binding` fills in type, sender and digest (not the
        identity) of a message whose identity is not bound.
        """
        ...

    def fail(
        self,
        msg_id: int,
        code: str,
        reason: str,
        detail: str | None,
        next_attempt_at: datetime,
        now: datetime,
    ) -> None:
        """Count one attempt: `FAILED`, still the head (R-118). Ends TRYING. Fenced."""
        ...

    def set_trying(self, msg_id: int, trying: bool) -> None:
        """Begin or end a suspect try (D-05). Fenced."""
        ...

    def count_interrupted(self, now: datetime) -> ProcRow | None:
        """Where TRYING was left: clear it and count one attempt; the row after that, else None. Fenced."""
        ...


class Effects(Protocol):
    """The three steps (D-01)."""

    def read(self, query: FlightQuery) -> FlightSnapshot:
        """What a decision needs, batched, in one consistent read (R-464)."""
        ...

    def apply(self, change: Change) -> int:
        """① Write all of it; returns `APPLY_NO`. Fenced.

        Sets `APPLIED_AT`, coverage, `REASON` and `DETAIL` of the outcome; allocates consecutive
        `EVENT_ID`s per topic from counter rows, so that their order is the commit order (D-27); replaces or
        removes the one `schd` row of each flight (D-29). Raises `Conflict`, having written nothing, when the
        message is already applied or finished, a flight's version, a roster's generation or the request
        is not as it was read. `OPERATION_DAY` once set is never changed: an attempt is `Rejected`.
        """
        ...

    def touched_by(self, msg_id: int) -> Sequence[FlightState]:
        """Flights whose `LAST_MSG_ID` is this message, whole, ordered by FLID (D-02)."""
        ...

    def finish(self, msg_id: int, now: datetime) -> bool:
        """③ `SUCCEEDED` with write-back intent; closes the bound request as `DONE`. Ends TRYING. Fenced.

        Only where applied and unfinished; False: nothing written.
        """
        ...

    def finish_then_bind(
        self, msg_id: int, following: Binding, now: datetime, meanwhile: Callable[[], None]
    ) -> Turn:
        """`finish`, then `bind` of another message as head: two transactions in this order, in one go.

        `meanwhile` runs while the store works, or between the two, now and then twice; it raises nothing. A
        message that is not the head is not bound. When this raises, either may have taken place. Fenced.
        """
        ...

    def log_snapshots(self, rows: Sequence[SnapshotLogRow]) -> None:
        """Append to the schedule log (D-16). Fenced."""
        ...

    def raise_alert(self, alert: Alert, now: datetime) -> None:
        """Append one alert. Fenced for an instance that has taken the lease; before that it needs none."""
        ...

    def open_requests(self, slot: RequestSlot, expired_since: datetime | None = None) -> Sequence[Request]:
        """Open requests of the slot, and those that expired unanswered since then; newest first."""
        ...

    def live_flights(self, after: int, limit: int) -> Sequence[FlightState]:
        """Live flights with FLID above `after`, whole, ordered by FLID; for rebuilding the cache."""
        ...


class Writebacks(Protocol):
    """Write-back intents (IMP §6). Every update applies to terminal rows without `BACKFILL_AT` only."""

    def claim_writebacks(
        self, now: datetime, overdue_before: datetime, limit: int, claim_until: datetime
    ) -> Sequence[WritebackDue]:
        """Claim due rows (predicate R-137), ordered by attempts, then id (R-140). Fenced.

        Until `claim_until` a claimed row can neither be replayed nor claimed again.
        """
        ...

    def writebacks_done(self, msg_ids: Sequence[int], now: datetime) -> None:
        """`BACKFILL_AT = now`; the intent is settled, the claim ends. Fenced."""
        ...

    def writeback_retry(self, msg_id: int, next_at: datetime, alert: Alert | None, now: datetime) -> None:
        """Count one try; due again at `next_at`; the claim ends. Fenced."""
        ...

    def writeback_abandon(self, msg_id: int, reason: AbandonReason, alert: Alert, now: datetime) -> None:
        """Stop automatic retry (R-134); the alert in the same transaction; the claim ends. Fenced."""
        ...

    def release_claims(self, msg_ids: Sequence[int]) -> None:
        """End claims with nothing counted: the whole mailbox was unreachable (D-04). Fenced."""
        ...


class Outbox(Protocol):
    """Unsent events (IMP §8)."""

    def due_events(self, target: Target, now: datetime, limit: int) -> Sequence[DueEvent]:
        """Due events by `EVENT_ID`; of `msg` only the oldest unsent one of each flight (D-28)."""
        ...

    def settle_events(self, settled: Sequence[EventSettled], alerts: Sequence[Alert], now: datetime) -> None:
        """Record deliveries; each only where `EVENT_ID` and version still are those (R-359). Fenced."""
        ...


class Keeping(Protocol):
    """Facts about the store itself."""

    def store_id(self) -> str:
        """A random id made with the store (D-31)."""
        ...

    def pin(self, name: str, value: str) -> str:
        """Store a choice at first use; returns the value in force, which may differ (D-23)."""
        ...

    def ping(self) -> None:
        """Return when the store answers and has its tables, else raise `Transient` that says which it lacks.

        A store that is plainly unable to take writes does not answer either.
        """
        ...

    def close(self) -> None:
        """Give connections back; does not release the lease. Idempotent."""
        ...


class PipelineStore(Leases, Messages, Effects, Writebacks, Outbox, Outages, Keeping, Protocol):
    """All that the pipeline needs of a store."""
