"""The snapshot cache in memory: for one process, the embedded set, and tests (INV-10, D-31)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from datetime import date

from msgx_core.errors import Transient
from msgx_core.ports.cache import CacheEntry, CacheGone, CachePut


class MemoryCache:
    """Implements `Cache`. Thread-safe; hands out immutable values only.

    A deletion's version is kept until the next rebuild. While `outage` has a text, every call but `close`
    raises `Transient` with it.
    """

    volatile = True

    def __init__(self) -> None:
        self.outage: str | None = None
        self._guard = threading.Lock()
        self._entries: dict[int, CacheEntry] = {}
        self._days: dict[date, set[int]] = {}
        self._store_id: str | None = None
        self._closed = False

    def write(self, entries: Sequence[CacheEntry]) -> None:
        """Write all, except where a newer version is held."""
        with self._guard:
            self._answer()
            for entry in entries:
                held = self._entries.get(entry.flid)
                if held is None or held.version <= entry.version:
                    self._replace(entry)

    def get(self, flid: int) -> str | None:
        """The document of a live flight."""
        with self._guard:
            self._answer()
            held = self._entries.get(flid)
            return held.document if isinstance(held, CachePut) else None

    def day(self, day: date) -> frozenset[int]:
        """The live flights of an operation day."""
        with self._guard:
            self._answer()
            return frozenset(self._days.get(day, ()))

    def store_id(self) -> str | None:
        """Which store this cache was filled from."""
        with self._guard:
            self._answer()
            return self._store_id

    def rebuild(self, store_id: str, pages: Iterable[Sequence[CachePut]]) -> int:
        """Become exactly the flights of `pages`; reads go on meanwhile."""
        with self._guard:
            self._answer()
            self._store_id = None
        kept: set[int] = set()
        for page in pages:
            with self._guard:
                self._answer()
                for entry in page:
                    self._replace(entry)
                    kept.add(entry.flid)
        with self._guard:
            self._answer()
            for flid in self._entries.keys() - kept:
                self._remove(flid)
            self._store_id = store_id
        return len(kept)

    def ping(self) -> None:
        """Return, unless there is an outage."""
        with self._guard:
            self._answer()

    def close(self) -> None:
        """Answer no more. Idempotent."""
        with self._guard:
            self._closed = True

    def entries(self) -> dict[int, CacheEntry]:
        """All that is held, deletions too, for inspection: also during an outage and after `close`."""
        with self._guard:
            return dict(self._entries)

    def clear(self) -> None:
        """Lose everything, as a cache server does that starts empty."""
        with self._guard:
            self._entries.clear()
            self._days.clear()
            self._store_id = None

    def _answer(self) -> None:
        if self.outage is not None:
            raise Transient("cache", self.outage)
        if self._closed:
            raise Transient("cache", "closed")

    def _replace(self, entry: CacheEntry) -> None:
        self._remove(entry.flid)
        self._entries[entry.flid] = entry
        if not isinstance(entry, CacheGone) and entry.day is not None:
            self._days.setdefault(entry.day, set()).add(entry.flid)

    def _remove(self, flid: int) -> None:
        held = self._entries.pop(flid, None)
        if isinstance(held, CachePut) and held.day is not None:
            flights = self._days[held.day]
            flights.discard(flid)
            if not flights:
                del self._days[held.day]
