"""What SQLite's errors mean: the store refuses all work, or it refuses this one write (D-04)."""

from __future__ import annotations

import sqlite3

from msgx_core.errors import MsgxError, Rejected, Transient

REFUSES_ONE_WRITE = frozenset(
    {
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_TOOBIG,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_RANGE,
    }
)
"""Primary result codes that are about the row; any other says that the store as a whole does not work."""

_PRIMARY = 0xFF
_NOT_UTF8 = "Could not decode to UTF-8"


def translate(error: Exception) -> MsgxError:
    """The error of our tree that stands for an error of the driver.

    Values that the driver cannot carry (numbers above 64 bits, text that is not Unicode) have no result
    code; they are a fault of that row too.
    """
    if isinstance(error, OverflowError):
        return Rejected("store-rejected:number-too-large", str(error))
    if isinstance(error, UnicodeError):
        return Rejected("store-rejected:text-not-unicode", str(error))
    if _NOT_UTF8 in str(error):
        return Rejected("store-rejected:unreadable", f"{error}; `msgx verify` names its row")
    code = getattr(error, "sqlite_errorcode", None)
    if isinstance(code, int):
        name = getattr(error, "sqlite_errorname", str(code))
        if code & _PRIMARY in REFUSES_ONE_WRITE:
            return Rejected(f"store-rejected:{name}", str(error))
        return Transient("store", f"{name}: {error}")
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return Transient("store", "the connection is closed")
    if isinstance(error, (sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.DataError)):
        return Rejected(f"store-rejected:{type(error).__name__}", str(error))
    return Transient("store", str(error))
