"""The store port, people side: what operators read and the few things they may change (D-34).

Reads see committed state, newest or smallest first as said. Operator statements carry no epoch: each is one
conditional statement and an audit row with the operator's reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol

from attrs import field, frozen

from msgx_core.model.events import Target
from msgx_core.model.flight import FlightState
from msgx_core.model.reference import RefRecord
from msgx_core.model.request import Request, RequestSlot
from msgx_core.model.schedule import Roster
from msgx_core.ports.board import BoardViews

Row = Mapping[str, Any]
"""A row for people: column names of the design (`MSG_ID`, `STATE`, …); absent columns have no value.

Datetimes are aware `datetime` values, days are `date` values, flags a list of texts.
"""


@frozen
class MessageFilter:
    """Which messages to list; None does not restrict. `since` is compared with `ENQUEUED_AT`.

    `newest`: from the largest `MSG_ID` down; `after` is then the last one seen as well, and what is below it
    is listed.
    """

    state: str | None = None
    reason: str | None = None
    type: str | None = None
    styp: str | None = None
    flid: int | None = None
    since: datetime | None = None
    after: int | None = None
    limit: int = 100
    newest: bool = False


EventPlace = tuple[int, str]
"""Where a list of events goes on: `EVENT_ID` and `TARGET` of the last one seen. Each topic counts its own."""


@frozen
class Audit:
    """Who did it and why."""

    actor: str
    reason: str


@frozen
class OperatorResult:
    """What became of one target of an operator action; `refused` says why not."""

    target: int
    refused: str | None = None


@frozen
class Counts:
    """Sizes for `status` and metrics."""

    messages: Mapping[str, int] = field(factory=dict)
    codes: Mapping[str, int] = field(factory=dict)
    flights: Mapping[str, int] = field(factory=dict)
    writeback_pending: int = 0
    writeback_abandoned: int = 0
    events: Mapping[str, Mapping[str, int]] = field(factory=dict)
    oldest_event_at: Mapping[str, datetime] = field(factory=dict)
    alerts_open: int = 0
    requests_open: int = 0


class Views(BoardViews, Protocol):
    """Reads for people, tests and downstream tools."""

    def counts(self) -> Counts:
        """Sizes, one consistent read."""
        ...

    def messages(self, where: MessageFilter) -> Sequence[Row]:
        """`PROC_STATE` rows by `MSG_ID`, ascending, above `after`, or as `newest` says; `flid` matches the
        flights it last touched or emitted events for."""
        ...

    def failures(self, limit: int = 100) -> Sequence[Row]:
        """`FAILED` and `DEAD` messages by `STATE`, `ERROR_CODE` and `REASON` up to its colon.

        `N` says how many there are; `OLDEST_MSG_ID`, `NEWEST_MSG_ID` and `NEWEST_AT` (when the newest was
        taken in) which. The group with the newest message is first.
        """
        ...

    def message(self, msg_id: int) -> Row | None:
        """One row with all its columns."""
        ...

    def message_events(self, msg_id: int) -> Sequence[Row]:
        """`msg` events that the message wrote, by `EVENT_ID`."""
        ...

    def flights(
        self, day: date | None = None, state: str | None = None, after: int = 0, limit: int = 100
    ) -> Sequence[FlightState]:
        """Whole flights by FLID, one batched consistent read."""
        ...

    def flight(self, flid: int) -> FlightState | None:
        """One whole flight, deleted ones included."""
        ...

    def raw_sections(self, flid: int) -> Mapping[str, str]:
        """`SRVT`/`VIPF` XML text of a flight (D-39)."""
        ...

    def flight_events(self, flid: int, target: str = Target.MSG.value) -> Sequence[Row]:
        """Events of a flight in one topic by `EVENT_ID`, payload parsed, while they last."""
        ...

    def references(self, rtype: str, rkey: str | None = None) -> Sequence[RefRecord]:
        """Records of a category by key; those of `RSTA` become statuses by `rules.reference.statuses`."""
        ...

    def reference_page(
        self, rtype: str, limit: int = 100, after: str | None = None, text: str | None = None
    ) -> Sequence[RefRecord]:
        """Some records of a category by key, behind the key `after`.

        `text`: those that have it in a tag, a value or an attribute; small and capital letters from A to Z
        are alike.
        """
        ...

    def reference_sizes(self) -> Sequence[Row]:
        """Categories that have records, by name: `RTYPE`, `N`, last change (`MSG_ID`, `UPDATED_AT`)."""
        ...

    def rosters(self, day: date | None = None) -> Sequence[Roster]:
        """Rosters by day."""
        ...

    def writebacks(
        self, abandoned: bool = False, limit: int = 100, after: int | None = None
    ) -> Sequence[Row]:
        """Owed (or abandoned) write-backs by `MSG_ID`, above `after`."""
        ...

    def events(
        self,
        status: str | None = None,
        target: str | None = None,
        limit: int = 100,
        after: EventPlace | None = None,
    ) -> Sequence[Row]:
        """Outbox rows by `EVENT_ID`, then `TARGET`, behind `after`."""
        ...

    def snapshots(
        self,
        limit: int = 100,
        after: int | None = None,
        msg_id: int | None = None,
        *,
        between: tuple[datetime, datetime] | None = None,
        flag: str | None = None,
    ) -> Sequence[Row]:
        """Schedule log, newest first, behind `LOG_ID` `after`.

        When such is given, of one message, with one flag, or of what lies `between` two instants, the second
        one exclusive: rows whose scope has something of that time. Rows without a scope have nothing of any.
        """
        ...

    def alerts(
        self,
        acknowledged: bool = False,
        limit: int = 100,
        after: int | None = None,
        msg_id: int | None = None,
    ) -> Sequence[Row]:
        """Open alerts, or all with `acknowledged`, of one message when `msg_id` is given; by id, above
        `after`."""
        ...

    def requests(self, limit: int = 100, after: int | None = None) -> Sequence[Request]:
        """Requests, newest first, behind the id `after`."""
        ...

    def audit(self, limit: int = 100, after: int | None = None, target: int | None = None) -> Sequence[Row]:
        """Operator actions, newest first, on one target when `target` is given; behind `AUDIT_ID` `after`.

        What kind of thing `TARGET` is the `ACTION` says.
        """
        ...

    def applied(self, after: int, limit: int = 500) -> Sequence[Row]:
        """`PROC_STATE` rows of applied messages with `APPLY_NO` above `after`, in that order (D-02, D-36)."""
        ...

    def floors(self, flid: int | None = None) -> Mapping[int, tuple[int, datetime]]:
        """Version floors of archived flights by FLID, and when each was last set (D-37); of one alone."""
        ...

    def pins(self) -> Mapping[str, str]:
        """What `pin` has kept, by name."""
        ...


class OperatorActions(Protocol):
    """Conditional changes by people."""

    def replay(
        self, msg_ids: Sequence[int], whitelist: Sequence[tuple[str, str | None]], audit: Audit, now: datetime
    ) -> Sequence[OperatorResult]:
        """`FAILED`/`DEAD → PENDING` where code (and reason, if given) is whitelisted and no write-back
        claim is live; clears attempts, times, code, reason, detail and owed write-back (R-120, H-25); keeps
        `IDENTITY_KEY`, `APPLIED_AT` and `BACKFILL_AT`. An empty whitelist lets any code in."""
        ...

    def replay_from_archive(
        self, grounds: Mapping[int, str], audit: Audit, now: datetime
    ) -> Sequence[OperatorResult]:
        """As `replay`, for messages that are `DEAD(MALFORMED, raw-missing)`, or `PENDING` and not tried yet.

        `grounds` says where the archive has its text (`rules.policy_text.raw_grounds`): it goes into
        `COVERAGE`, where the pump finds it, and into the audit (`replay`, D-36).
        """
        ...

    def readmit(self, msg_id: int, audit: Audit, now: datetime) -> OperatorResult:
        """`SKIPPED(duplicate-of:…) → PENDING` under its identity with `#<MSG_ID>` behind (D-24)."""
        ...

    def resume_writebacks(
        self, msg_ids: Sequence[int] | None, audit: Audit, now: datetime
    ) -> Sequence[OperatorResult]:
        """Abandoned rows (None: all) are due once more (D-38)."""
        ...

    def requeue_events(
        self, event_ids: Sequence[int], audit: Audit, now: datetime, target: Target | None = None
    ) -> Sequence[OperatorResult]:
        """`DEAD → PENDING`, attempts 0.

        Each topic counts its own `EVENT_ID`s (D-27): without `target` an id means the dead events of both.
        """
        ...

    def discard_events(
        self, event_ids: Sequence[int], audit: Audit, now: datetime, target: Target | None = None
    ) -> Sequence[OperatorResult]:
        """`DEAD → DISCARDED`: a person took note; retention may remove it. `target` as above."""
        ...

    def acknowledge(self, alert_ids: Sequence[int], audit: Audit, now: datetime) -> Sequence[OperatorResult]:
        """Close alerts."""
        ...

    def create_request(self, request: Request, audit: Audit, now: datetime) -> Request:
        """A new `PENDING` request; the open one of its slot becomes `EXPIRED(replaced)`.

        Raises `Conflict` while the open one is bound to a message (D-32). `request_id` is allocated.
        """
        ...

    def open_request(self, slot: RequestSlot) -> Request | None:
        """The open request of a slot."""
        ...


class OperatorStore(Views, OperatorActions, Protocol):
    """The people side of a store; a full adapter also is a `PipelineStore`."""
