"""SQLite's errors in our words: an outage of the mailbox, or a refusal of one row (D-04)."""

from __future__ import annotations

import sqlite3

from msgx_core.errors import MsgxError, Rejected, Transient

# Result codes that speak of one row; all others say that the mailbox does not work.
_ONE_ROW = frozenset({sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH})
_PRIMARY = 0xFF


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 when the driver itself complains."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & _PRIMARY


def translated(error: sqlite3.Error) -> MsgxError:
    """`Rejected` for what concerns one row, else `Transient`."""
    name: str = getattr(error, "sqlite_errorname", type(error).__name__)
    if primary_code(error) in _ONE_ROW or isinstance(error, sqlite3.DataError):
        return Rejected("mailbox-rejected", f"{name} {error}")
    return Transient("mailbox", f"{name} {error}")
