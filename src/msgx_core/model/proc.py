"""The fate of a message: rows of `PROC_STATE` (IMP §1.2)."""

from __future__ import annotations

import enum
from datetime import datetime

from attrs import frozen


class MessageState(enum.Enum):
    """IMP §3. `PENDING` and `FAILED` occupy the head, the others are terminal."""

    PENDING = "PENDING"
    FAILED = "FAILED"
    SUCCEEDED = "SUCCEEDED"
    SKIPPED = "SKIPPED"
    DEAD = "DEAD"


TERMINAL_STATES = frozenset({MessageState.SUCCEEDED, MessageState.SKIPPED, MessageState.DEAD})
UNFINISHED_STATES = frozenset({MessageState.PENDING, MessageState.FAILED})


@frozen
class Outcome:
    """Where a message ended: state, error code (DEAD only), reason of the closed list, place."""

    state: MessageState
    code: str | None = None
    reason: str | None = None
    detail: str | None = None


@frozen
class NewMessage:
    """A mailbox row to be taken in. `received_at` is for reconciliation only (R-003)."""

    msg_id: int
    received_at: datetime | None


@frozen
class ProcRow:
    """What the pump needs of a message. `trying`: a suspect try was begun and not ended (D-05)."""

    msg_id: int
    state: MessageState
    attempts: int
    enqueued_at: datetime
    received_at: datetime | None = None
    next_attempt_at: datetime | None = None
    identity_key: str | None = None
    type: str | None = None
    styp: str | None = None
    code: str | None = None
    reason: str | None = None
    detail: str | None = None
    applied_at: datetime | None = None
    coverage: str | None = None
    trying: bool = False


@frozen
class Binding:
    """What is bound to a message after its first good decode; the digest is of the raw text."""

    msg_id: int
    identity_key: str
    sndr: str
    type: str
    styp: str
    seqn: str
    dttm: str
    raw_digest: str


@frozen
class Holder:
    """The message that holds an identity another one wanted."""

    msg_id: int
    raw_digest: str | None


@frozen
class Turn:
    """③ of one message, and what became of binding the next: bound, held by another, or not the head."""

    done: bool
    bound: bool
    holder: Holder | None = None


class AbandonReason(enum.Enum):
    """Why automatic write-back stopped (IMP §6.2)."""

    MISSING_ROW = "MISSING_ROW"
    TRANSIENT_DEADLINE = "TRANSIENT_DEADLINE"


@frozen
class WritebackDue:
    """A terminal row whose mailbox mark is owed, claimed for one try."""

    msg_id: int
    attempts: int
    finished_at: datetime
    enqueued_at: datetime
