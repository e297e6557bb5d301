"""What tests of the cache in Redis say again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date

import pytest

from msgx_adapters.cache_redis import RedisCache
from msgx_core.errors import Transient
from msgx_core.ports.cache import CachePut
from services.base import NotHere, unavailable
from services.redis import PrivateRedis, private_redis

DAY = date(2021, 1, 25)
TIMEOUT_S = 0.5
Open = Callable[[str], RedisCache]


def put(flid: int, version: int = 1, day: date | None = DAY, size: int = 0) -> CachePut:
    return CachePut(flid, version, day, f'{{"FLID":{flid},"STATE_VERSION":{version},"X":"{"x" * size}"}}')


def refuses(call: Callable[[], object], says: str) -> None:
    with pytest.raises(Transient, match=says) as caught:
        call()
    assert caught.value.service == "cache"


@contextmanager
def required_redis() -> Iterator[PrivateRedis]:
    """A private server; without one the test is skipped, or fails where services are required."""
    try:
        context = private_redis()
        made = context.__enter__()
    except NotHere as why:
        unavailable("Redis", str(why))
    try:
        yield made
    finally:
        context.__exit__(None, None, None)


def as_new(made: PrivateRedis) -> PrivateRedis:
    """The same server, running and empty."""
    made.server.start()
    with made.client() as asked:
        asked.config_set("maxmemory", 0)
        asked.replicaof("NO", "ONE")
        asked.flushall()
        asked.script_flush()
    return made


@contextmanager
def opening() -> Iterator[Open]:
    """Opens caches and closes them in the end."""
    caches: list[RedisCache] = []

    def open_cache(url: str) -> RedisCache:
        caches.append(RedisCache.open(url, timeout_s=TIMEOUT_S))
        return caches[-1]

    yield open_cache
    for cache in caches:
        cache.close()
