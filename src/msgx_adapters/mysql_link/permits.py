"""Until when a statement may begin, by the server's own clock: the statement itself compares (D-34)."""

from __future__ import annotations

from datetime import UTC, datetime

from msgx_core.errors import Late
from msgx_core.ports.permit import Permit

from .link import Link
from .statements import filled

TRIES = 3
NEVER = "9999-12-31 00:00:00.000000"
"""The end of what may begin at any time."""


def until(link: Link, permit: Permit) -> str:
    """The end of a new permit, to be compared with `UTC_TIMESTAMP(6)`.

    That is the moment at which the server began the statement: it does not jump with summer time, and a
    replica that repeats the statement takes it over.
    """
    shown = link.run(lambda session: session.run(filled(__package__, "clock")), again=True).rows[0][0]
    read_at = datetime.fromisoformat((shown or b"").decode()).replace(tzinfo=UTC)
    return f"{permit(read_at).astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"


def too_late() -> Late:
    """The error of whoever did not get to it."""
    return Late(f"the mailbox did not get a statement in its time, {TRIES} times in a row")
