"""What is particular to the cache in memory."""

from collections.abc import Iterator
from datetime import date

import pytest

from msgx_adapters.cache_memory import MemoryCache
from msgx_core.errors import Transient
from msgx_core.ports.cache import CacheGone, CachePut

MON = date(2021, 1, 25)
PUT = CachePut(1, 5, MON, "{}")


def test_it_is_volatile() -> None:
    """D-31: that it starts empty is no alarm."""
    assert MemoryCache.volatile


def test_what_it_hands_out_does_not_change() -> None:
    cache = MemoryCache()
    cache.write([PUT])
    day, entries = cache.day(MON), cache.entries()
    cache.write([CacheGone(1, 6, MON), CachePut(2, 1, MON, "{}")])
    assert day == {1}
    assert entries == {1: PUT}
    entries.clear()
    assert cache.entries() == {1: CacheGone(1, 6, MON), 2: CachePut(2, 1, MON, "{}")}


def test_a_deletion_is_kept_until_the_rebuild() -> None:
    cache = MemoryCache()
    cache.write([CacheGone(1, 6, MON)])
    assert cache.entries() == {1: CacheGone(1, 6, MON)}
    cache.rebuild("store", [])
    assert cache.entries() == {}


def test_it_can_be_read_while_it_is_rebuilt() -> None:
    """Pages come from the store, which takes its time."""
    cache = MemoryCache()
    cache.write([PUT])
    seen: list[str | None] = []

    def pages() -> Iterator[list[CachePut]]:
        seen.append(cache.get(1))
        yield [CachePut(2, 1, MON, "[]")]
        seen.append(cache.get(2))

    assert cache.rebuild("store", pages()) == 1
    assert seen == ["{}", "[]"]


def test_an_outage_in_the_middle_interrupts_a_rebuild() -> None:
    """D-31."""
    cache = MemoryCache()

    def pages() -> Iterator[list[CachePut]]:
        yield [PUT]
        cache.outage = "cable cut"
        yield [PUT]

    with pytest.raises(Transient, match="cable cut"):
        cache.rebuild("store", pages())
    cache.outage = None
    assert cache.store_id() is None


def test_a_closed_cache_does_not_answer() -> None:
    cache = MemoryCache()
    cache.close()
    with pytest.raises(Transient, match="closed"):
        cache.get(1)
