"""What PostgreSQL's errors mean for us: one table of SQLSTATEs (D-04)."""

from __future__ import annotations

from attrs import frozen

from msgx_adapters.store_postgres.remedies import not_done
from msgx_core.errors import Conflict, Fenced, MsgxError, Rejected, Transient

CONFLICT = "MX001"
FENCED = "MX002"
"""Raised by our own functions; the detail of `FENCED` is the epoch of the store."""

AGAIN = frozenset({"40001", "40P01"})
"""Serialization failure and deadlock: rolled back, at once tried again."""

STALE_STATEMENT = frozenset({"26000", "42P05"})
"""What a pooler without support for prepared statements makes of them."""

OUTAGE_CLASSES = frozenset(
    {
        "08",  # connection
        "25",  # read-only, or a transaction that does not go on
        "28",  # authorization
        "3D",  # no such database
        "53",  # resources
        "55",  # not in the needed state: locks
        "57",  # intervention: shutdown, cancelled
        "58",  # files of the server
        "F0",  # its configuration
        "XX",  # broken inside
    }
)
"""Classes in which the store as a whole does not work."""

OUTAGE_CODES = frozenset(
    {
        "42501",  # a right has been taken from us
        "42P01",  # the schema is gone or another one
        "3F000",
        "42883",
    }
)


@frozen
class Refusal:
    """What the server said."""

    sqlstate: str
    message: str
    detail: str | None = None


def translated(refusal: Refusal, epoch: int | None = None, account: str = "") -> MsgxError:
    """The error of our tree; `epoch` is the one that this store object has, `account` who it is where.

    What no line names is an answer all the same: a refusal of this one write.
    """
    state = refusal.sqlstate
    if state == CONFLICT or state in AGAIN:
        return Conflict(refusal.message)
    if state == FENCED:
        return Fenced(epoch or 0, int(refusal.detail or 0))
    if state[:2] in OUTAGE_CLASSES or state in OUTAGE_CODES:
        return Transient("store", not_done(account, state, refusal.message))
    detail = refusal.message if refusal.detail is None else f"{refusal.message} ({refusal.detail})"
    return Rejected(f"store-rejected:{state}", detail)
