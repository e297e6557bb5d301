"""The store port, verification's side: what stands in the tables, also where it cannot be read (D-36)."""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from attrs import frozen

from msgx_core.model.events import EventStatus
from msgx_core.model.proc import AbandonReason


@frozen
class Unreadable:
    """A stored value that is not what its column holds; it equals no computed one. `text`: what stands there.

    For a field in `CONTENT` it stands for that field alone.
    """

    text: str


class Kind(enum.Enum):
    """What a column holds: `int`, `bool`, `str`, aware `datetime`, `date`, `list[int]`, `Fields`, `Node`."""

    NUMBER = "number"
    FLAG = "flag"
    TEXT = "text"
    INSTANT = "instant"
    DAY = "day"
    NUMBERS = "numbers"
    FIELDS = "fields"
    NODE = "node"


@frozen
class Column:
    """A column: what it holds, whether it may be NULL, and its legal values (none: any)."""

    name: str
    kind: Kind
    optional: bool = False
    legal: frozenset[str] = frozenset()


@frozen
class Table:
    """A table or view of the design, with the columns that verification reads."""

    name: str
    columns: tuple[Column, ...]


StoredRow = Mapping[str, Any]
"""Every column of a `Table` that the store has: its value, None for NULL, or `Unreadable`."""

_STATES = "PENDING FAILED SUCCEEDED SKIPPED DEAD"
_KINDS = {kind.value: kind for kind in Kind}


def _table(name: str, columns: str, **legal: str) -> Table:
    """`NAME:kind` for each column; a `?` behind it allows NULL."""
    made = []
    for part in columns.split():
        column, _, kind = part.partition(":")
        values = frozenset(legal.get(column, "").split())
        made.append(Column(column, _KINDS[kind.rstrip("?")], kind.endswith("?"), values))
    return Table(name, tuple(made))


MESSAGES = _table(
    "PROC_STATE",
    "MSG_ID:number STATE:text IDENTITY_KEY:text? SNDR:text? TYPE:text? STYP:text? SEQN:text? DTTM:text?"
    " RAW_DIGEST:text? ERROR_CODE:text? REASON:text? DETAIL:text? RECEIVED_AT:instant? ENQUEUED_AT:instant"
    " APPLIED_AT:instant? APPLY_NO:number? COVERAGE:text? OUTCOME_REASON:text? OUTCOME_DETAIL:text?"
    " TOUCHED:numbers? FINISHED_AT:instant? BACKFILL_AT:instant? UPDATED_AT:instant ATTEMPTS:number"
    " NEXT_ATTEMPT_AT:instant? TRYING:flag BACKFILL_NEXT_AT:instant? BACKFILL_ATTEMPTS:number"
    " BACKFILL_ABANDONED_AT:instant? BACKFILL_ABANDONED_REASON:text? BACKFILL_CLAIM_UNTIL:instant?",
    STATE=_STATES,
    BACKFILL_ABANDONED_REASON=" ".join(reason.value for reason in AbandonReason),
)
"""`TOUCHED` is a column of the PostgreSQL store alone."""
FLIGHTS = _table(
    "FLIGHT_SCHD",
    "FLID:number STATE:text STATE_VERSION:number OPERATION_DAY:day? SODT_AT:instant? CONTENT:fields"
    " LAST_MSG_ID:number CREATED_AT:instant UPDATED_AT:instant MAID:number? FLNO:text? TAG_ORDER:text?",
    STATE="ACTIVE DELETED",
)
"""`CONTENT`: all fields in their order. `MAID`, `FLNO`, `TAG_ORDER`: where they are kept beside it."""
SECTIONS = _table("FLIGHT_RAW_SECTION", "FLID:number TAG:text XML:text")
FLOORS = _table("FLIGHT_VERSION_FLOOR", "FLID:number STATE_VERSION:number UPDATED_AT:instant")
GENERATIONS = _table("SCHD_GEN", "OPERATION_DAY:day VERSION:number LAST_MSG_ID:number LAST_RECV_AT:instant")
MEMBERS = _table("SCHD_GEN_FLID", "OPERATION_DAY:day FLID:number")
SENDERS = _table(
    "SENDER_MARK",
    "SNDR:text SEQN:number DTTM:text SCHEDULE_DTTM:text? DNLD_RECS:number? RESP_RECS:number?"
    " UPDATED_AT:instant",
)
REFERENCES = _table(
    "REF_MASTER", "RTYPE:text RKEY:text PAYLOAD:node ORDINAL:number MSG_ID:number UPDATED_AT:instant"
)
EVENTS = _table(
    "MSG_EVENT",
    "EVENT_ID:number FLID:number STATE_VERSION:number MSG_ID:number PAYLOAD:text CREATED_AT:instant"
    " STATUS:text ATTEMPTS:number NEXT_ATTEMPT_AT:instant? LAST_CODE:text? SENT_AT:instant?"
    " UPDATED_AT:instant",
    STATUS=" ".join(status.value for status in EventStatus),
)
COUNTERS = _table("COUNTERS", "NAME:text VALUE:number")
AUDITS = _table("OPS_AUDIT", "AUDIT_ID:number ACTION:text TARGET:number DETAIL:text? CREATED_AT:instant")
PINS = _table("STORE_INFO", "NAME:text VALUE:text")

WHOLE_TABLES = (FLIGHTS, SECTIONS, FLOORS, GENERATIONS, MEMBERS, SENDERS, REFERENCES, COUNTERS, AUDITS, PINS)
"""Those that `stored` reads."""


@frozen
class Stray:
    """A row that no other check sees: it belongs to nothing, or is out of its place.

    `column` and `value` say what is wrong with it.
    """

    table: str
    key: str
    column: str
    value: Any


class Inspection(Protocol):
    """Reads for verification. No value, however broken, stops any of them; what is there is handed out.

    An instant or a day is readable in the form alone in which the store writes it. Iterators read page by
    page: what is committed meanwhile may be seen or not, and memory stays flat.
    """

    @property
    def keeps_element_order(self) -> bool:
        """Whether the keys of an element come back in the order in which they were put."""
        ...

    def stored(self, table: Table) -> Iterator[StoredRow]:
        """All rows of one of `WHOLE_TABLES`, in no order that is promised.

        Of `OPS_AUDIT` those of `raise_versions`, `republish`, `replay` and `readmit`, of `STORE_INFO` those
        of `pin`, their names as `pin` was given them.
        """
        ...

    def stored_flight(self, flid: int) -> StoredRow | None:
        """One row of `FLIGHTS`."""
        ...

    def stored_message(self, msg_id: int) -> StoredRow | None:
        """One row of `MESSAGES`."""
        ...

    def stored_applied(self, after: int, limit: int) -> Sequence[StoredRow]:
        """Rows of `MESSAGES` that have an `APPLY_NO`, above `after`, in its order."""
        ...

    def stored_unapplied(self) -> Iterator[StoredRow]:
        """Rows of `MESSAGES` that have none, by `MSG_ID`."""
        ...

    def stored_notices(self, msg_ids: Sequence[int]) -> Sequence[StoredRow]:
        """The `msg` events of these messages, by `EVENT_ID`; `PAYLOAD` as text."""
        ...

    def stored_orphans(self) -> Iterator[StoredRow]:
        """The `msg` events of messages that are not there or have no `APPLY_NO`, by `EVENT_ID`."""
        ...

    def stored_versions(self, flid: int) -> Sequence[StoredRow]:
        """The `msg` events of a flight, by `EVENT_ID`; `PAYLOAD` as text."""
        ...

    def stored_documents(self) -> Iterator[StoredRow]:
        """The `schd` rows of the outbox, by `FLID`; `PAYLOAD` as text."""
        ...

    def given_out(self) -> Mapping[str, int]:
        """The highest number in use that each counter has given out, by its name; none where none is in use.

        Not of `apply_no`: `stored_applied` says that. What is no number is left out.
        """
        ...

    def strays(self) -> Iterator[Stray]:
        """Rows of tables of the store's own that hold parts of flights, without a flight or out of place."""
        ...
