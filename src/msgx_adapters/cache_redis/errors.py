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


def translate(error: Exception) -> MsgxError:
    """The error of our tree that stands for an error of the driver."""
    if isinstance(error, UnicodeError | exceptions.DataError):
        return Rejected("cache-rejected", str(error))
    if isinstance(error, exceptions.ResponseError):
        text = answer(error)
        about_one = REFUSES_ONE_ENTRY.issuperset(_CODE.findall(text)) and not _REFUSES_ALL.search(text)
        return Rejected("cache-rejected", text) if about_one else Transient("cache", text)
    return Transient("cache", str(error) or type(error).__name__)


def answer(error: exceptions.ResponseError) -> str:
    """The server's words; redis-py takes the code off where it knows it."""
    code = getattr(error, "status_code", None)
    return f"{code} {error}" if isinstance(code, str) else str(error)
