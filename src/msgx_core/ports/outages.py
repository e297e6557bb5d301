"""The store port for outages: which service the active instance cannot use, and one alert for each (D-04)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgx_core.model.outage import Outage


class Outages(Protocol):
    """One row for each service: the outage that is on, or its last one."""

    def note_outage(self, outage: Outage, words: str, now: datetime) -> None:
        """Note an outage that is on, or (with `ended_at`) over. Fenced.

        The same outage, by service and `since`, has one alert with `words` as its detail, however often and
        however late this is executed: a call that got no answer may be repeated, and what a frozen server
        executes after that changes nothing. An end stays, on the row and as `ENDED_AT` of the alert. Noted
        under a new epoch, an outage that is on goes on: same row, same alert. Another `since` is another
        outage: one that was on has ended by then. Of one epoch, an outage before the known one is old news.
        """
        ...

    def outages(self) -> Sequence[Outage]:
        """The last known outage of each service by name, with `epoch`; over where `ended_at` is set."""
        ...
