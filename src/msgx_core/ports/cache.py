"""The snapshot cache port (INV-10, D-31)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import Protocol

from attrs import frozen


@frozen
class CachePut:
    """Full state of a live flight as a JSON object."""

    flid: int
    version: int
    day: date | None
    document: str


@frozen
class CacheGone:
    """A deleted flight; the version keeps a late writer from bringing it back for a day."""

    flid: int
    version: int
    day: date | None


CacheEntry = CachePut | CacheGone


class Cache(Protocol):
    """Full states by FLID and the live flights of each day.

    Bounded in time. Raises `Transient("cache", …)` when unreachable or refusing all writes, and
    `Rejected("cache-rejected")` when it refuses one entry. `volatile` says that a new process starts
    empty, which is no alarm.
    """

    volatile: bool

    def write(self, entries: Sequence[CacheEntry]) -> None:
        """Write all; an entry never replaces a newer version, equal versions are rewritten.

        Keeps the day index: a live flight is in the set of its day and in no other. Idempotent.
        """
        ...

    def get(self, flid: int) -> str | None:
        """The document of a live flight."""
        ...

    def day(self, day: date) -> frozenset[int]:
        """The live flights of an operation day."""
        ...

    def store_id(self) -> str | None:
        """Which store this cache was filled from; None when it was lost or never filled."""
        ...

    def rebuild(self, store_id: str, pages: Iterable[Sequence[CachePut]]) -> int:
        """Make the cache exactly the flights of `pages`, without the version guard; returns how many.

        `store_id` is empty from the beginning; unknown keys (deletions included) are removed at the end, and
        only then it is set, so that an interrupted rebuild is done again.
        """
        ...

    def ping(self) -> None:
        """Return when the cache answers, else raise `Transient`."""
        ...

    def close(self) -> None:
        """Give connections back. Idempotent."""
        ...
