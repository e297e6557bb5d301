"""Redis's errors in our words: it refuses all work, or it refuses this one entry (D-04)."""

from __future__ import annotations

import re

from redis import exceptions

from msgx_core.errors import MsgxError, Rejected, Transient

REFUSES_ONE_ENTRY = frozenset({"ERR", "WRONGTYPE"})
"""Codes of answers that are about the entry. Any other (OOM, READONLY, LOADING, NOAUTH, WRONGPASS, NOPERM,
MISCONF, NOREPLICAS, BUSY, CLUSTERDOWN, MASTERDOWN, MOVED, …) is about the server or our account."""

# A server before Redis 7 puts the code of what failed in a script behind ERR and the place.
_CODE = re.compile(r"(?:^|[ :]-?)([A-Z]{3,})(?= )")
_REFUSES_ALL = re.compile(
    r"unknown (redis )?command|not allowed from|compiling|number of clients|permission|can't access", re.I
)

_LOGIN = (
    (r"DB index", "name another database in msgx.cache.url, or give the server more (`databases`)"),
    (
        r"WRONGPASS|NOAUTH|invalid (username-)?password|Authentication required|\bAUTH\b",
        "put user and password in msgx.cache.url right, or let this user in (ACL SETUSER)",
    ),
    (r"NOPERM|no permissions", "give this user the rights that docs/dba-handover.md lists (ACL SETUSER)"),
    (r"Name or service not known|name resolution", "put the host in msgx.cache.url right"),
)


def translate(error: Exception) -> MsgxError:
    """The error of our tree that stands for an error of the driver."""
    if isinstance(error, UnicodeError | exceptions.DataError):
        return Rejected("cache-rejected", str(error))
    if isinstance(error, exceptions.ResponseError):
        text = answer(error)
        about_one = REFUSES_ONE_ENTRY.issuperset(_CODE.findall(text)) and not _REFUSES_ALL.search(text)
        return Rejected("cache-rejected", text) if about_one else Transient("cache", text)
    return Transient("cache", str(error) or type(error).__name__)


def not_let_in(account: str, error: Exception) -> Transient:
    """The outage of a connection that failed: who was to come in where, and what would help.

    Whatever goes wrong there, a wrong database number too, stops all work.
    """
    text = answer(error) if isinstance(error, exceptions.ResponseError) else str(error)
    text = text.rstrip(".") or type(error).__name__
    remedy = next((then for pattern, then in _LOGIN if re.search(pattern, text)), None)
    return Transient("cache", f"{account}: {text}" + (f": {remedy}" if remedy else ""))


def answer(error: exceptions.ResponseError) -> str:
    """The server's words; redis-py takes the code off where it knows it."""
    code = getattr(error, "status_code", None)
    return f"{code} {error}" if isinstance(code, str) else str(error)
