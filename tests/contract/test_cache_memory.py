"""The cache in memory keeps the contract."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date

import pytest

from msgx_adapters.cache_memory import MemoryCache
from msgx_core.ports.cache import CacheGone, CachePut
from msgx_core.testing.cache_contract import CacheContract


class Server:
    """Looks into the cache's own dictionaries: there is no other way in."""

    def __init__(self) -> None:
        self.cache = MemoryCache()

    def document(self, flid: int) -> str | None:
        entry = self.cache._entries.get(flid)
        return None if entry is None or isinstance(entry, CacheGone) else entry.document

    def version(self, flid: int) -> int | None:
        entry = self.cache._entries.get(flid)
        return None if entry is None else entry.version

    def days(self) -> Mapping[date, frozenset[int]]:
        return {day: frozenset(flights) for day, flights in self.cache._days.items()}

    def store_id(self) -> str | None:
        return self.cache._store_id

    def put(self, entry: CachePut) -> None:
        self.cache._entries[entry.flid] = entry
        if entry.day is not None:
            self.cache._days[entry.day] = {entry.flid}

    def clear(self) -> None:
        self.cache.clear()

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.cache.outage = "cable cut"
        yield
        self.cache.outage = None


class TestMemoryCache(CacheContract):
    @pytest.fixture
    def server(self) -> Server:
        return Server()

    @pytest.fixture
    def cache(self, server: Server) -> MemoryCache:
        return server.cache
