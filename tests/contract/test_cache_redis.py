"""The cache in Redis keeps the contract, on a real server."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date

import pytest
import redis
from attrs import frozen

from msgx_adapters.cache_redis import RedisCache
from msgx_core.ports.cache import CachePut
from msgx_core.testing.cache_contract import CacheContract
from services.redis import REDIS, Cable, cable_to, clear, client, own_prefix


@frozen
class Server:
    """Seen by redis-py's own client, on another connection."""

    asked: redis.Redis
    prefix: str
    cable: Cable
    url: str

    def document(self, flid: int) -> str | None:
        return self._get(f"flight:{flid}")

    def version(self, flid: int) -> int | None:
        held = self._get(f"version:{flid}") or self._get(f"gone:{flid}")
        return None if held is None else int(held.split(" ")[0])

    def days(self) -> Mapping[date, frozenset[int]]:
        head = f"{self.prefix}day:"
        return {
            date.fromisoformat(key.removeprefix(head)): frozenset(map(int, self.asked.smembers(key)))
            for key in self.asked.scan_iter(f"{head}*", count=1_000)
        }

    def store_id(self) -> str | None:
        return self._get("store")

    def put(self, entry: CachePut) -> None:
        self.asked.set(f"{self.prefix}flight:{entry.flid}", entry.document)
        self.asked.set(f"{self.prefix}version:{entry.flid}", f"{entry.version} {entry.day}")
        self.asked.sadd(f"{self.prefix}day:{entry.day}", entry.flid)

    def clear(self) -> None:
        clear(self.asked, self.prefix)

    @contextmanager
    def outage(self) -> Iterator[None]:
        self.cable.cut()
        yield
        self.cable.mend()

    def _get(self, name: str) -> str | None:
        found = self.asked.get(self.prefix + name)
        return None if found is None else str(found)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with REDIS.found() as found:
        yield found


class TestRedisCache(CacheContract):
    @pytest.fixture
    def server(self, url: str) -> Iterator[Server]:
        with own_prefix(url) as prefix, client(url) as asked, cable_to(url) as (cable, through):
            yield Server(asked, prefix, cable, through)

    @pytest.fixture
    def cache(self, server: Server) -> Iterator[RedisCache]:
        cache = RedisCache.open(server.url, timeout_s=2, prefix=server.prefix)
        yield cache
        cache.close()
