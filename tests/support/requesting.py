"""The wired system that asks upstream: requests, what is in the outbound table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, timedelta

from embedded import System, closing_system
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.ports.operations import Audit
from wire import fltr, schedule

DAY = date(2027, 3, 14)
NEXT = DAY + timedelta(days=1)
WINDOW = [
    fltr(1, "14MAR270805"),
    fltr(2, "14MAR271000"),
    fltr(3, "14MAR272300"),
    fltr(4, "15MAR270100"),
    fltr(5, "15MAR270900"),
]
TIMEOUT = timedelta(minutes=30)
_SEQN = re.compile(r"<SEQN>(\d+)</SEQN>")


@contextmanager
def window() -> Iterator[System]:
    """A system after the first 48-hour window."""
    with closing_system(None, sends=True) as made:
        made.send([schedule("DNLD", WINDOW)])
        made.drain()
        yield made


def ask(system: System, first: date = DAY, last: date | None = None, rtype: str | None = None) -> int:
    """What `msgx request` does; the id."""
    slot = RequestSlot.RQFD if rtype is None else RequestSlot.RQRD
    now = system.clock.now()
    wanted = Request(0, slot, RequestState.PENDING, now, rtype=rtype)
    if rtype is None:
        wanted = Request(0, slot, RequestState.PENDING, now, first_day=first, last_day=last or first)
    return system.store.create_request(wanted, Audit("test", "asked"), now).request_id


def state(system: System, request_id: int) -> tuple[str, str | None]:
    """State and reason of a request."""
    found = next(r for r in system.store.requests() if r.request_id == request_id)
    return found.state.value, found.reason


def seqns(system: System) -> list[str]:
    """The numbers of all that was written into the outbound table."""
    return [match[1] for row in system.outbound.rows() if (match := _SEQN.search(row.text))]


def flights(system: System) -> dict[int, str]:
    """States by FLID."""
    return {f.flid: f.status.value for f in system.store.flights(limit=1000)}


def deleted(system: System) -> set[int]:
    """FLIDs of deleted flights."""
    return {flid for flid, found in flights(system).items() if found == "DELETED"}


def alerts(system: System) -> list[str]:
    """Codes of all alerts."""
    return [row["CODE"] for row in system.store.alerts(acknowledged=True)]
