"""When a message was applied, by what it wrote then: its events say it in a column and in their text."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from msgx_core.ports.inspection import StoredRow
from msgx_core.rules.render import utc_text


def applied_at(
    row: StoredRow, notices: Sequence[StoredRow], departures: Collection[datetime]
) -> datetime | None:
    """The instant to which they bear witness against `APPLIED_AT`; None: it is right, or nobody knows.

    Events of a sweep, or written once more, are of another time: these do not count.
    """
    found = set()
    for event in notices:
        at = event["CREATED_AT"]
        if at == row["APPLIED_AT"]:
            return None
        if at not in departures and bears_witness(event):
            found.add(at)
    return found.pop() if len(found) == 1 else None


def bears_witness(event: StoredRow) -> bool:
    """Whether column and text of an event say the same time; of one written once more they do not."""
    at, text = event["CREATED_AT"], event["PAYLOAD"]
    said = isinstance(at, datetime) and isinstance(text, str)
    return said and f'"UPDATED_AT":"{utc_text(at)}"' in text
