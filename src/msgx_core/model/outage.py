"""Outages: a service does not answer, or refuses all work (D-04)."""

from __future__ import annotations

from datetime import datetime

from attrs import frozen


@frozen
class Outage:
    """A service that cannot be used, since when, and what it said; over when `ended_at` is set.

    `service` is that of `Transient`; with `since` it tells one outage from another. `failures` is how often
    it was tried, as far as this process knows; `epoch` that of the holder that met it last, from the store.
    """

    service: str
    since: datetime
    detail: str
    ended_at: datetime | None = None
    failures: int = 0
    epoch: int | None = None
