"""The cache when the server is restarted, emptied, frozen, full or read-only (D-04)."""

import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial

import pytest

from msgx_adapters.cache_redis import RedisCache
from msgx_core.ports.cache import CacheEntry, CacheGone, CachePut
from services.redis import PrivateRedis
from services.redis_bench import DAY, TIMEOUT_S, Open, as_new, opening, put, refuses, required_redis


@pytest.fixture(scope="module")
def shared() -> Iterator[PrivateRedis]:
    with required_redis() as made:
        yield made


@pytest.fixture
def redis(shared: PrivateRedis) -> PrivateRedis:
    return as_new(shared)


@pytest.fixture
def opened() -> Iterator[Open]:
    with opening() as made:
        yield made


@pytest.fixture
def cache(redis: PrivateRedis, opened: Open) -> RedisCache:
    return opened(redis.url)


def test_scripts_are_taught_again(cache: RedisCache, redis: PrivateRedis) -> None:
    """Services.md: SCRIPT FLUSH."""
    cache.write([put(1)])
    with redis.client() as asked:
        asked.script_flush()
    cache.write([put(1, 2), put(2)])
    assert cache.day(DAY) == {1, 2}


def test_an_emptied_server_says_so(cache: RedisCache, redis: PrivateRedis) -> None:
    """D-31: FLUSHALL; the store id asks for a rebuild."""
    cache.rebuild("store-1", [[put(1)]])
    with redis.client() as asked:
        asked.flushall()
    assert cache.store_id() is None
    cache.write([put(2)])
    assert cache.day(DAY) == {2}


def test_a_server_emptied_while_it_is_filled_is_filled_again(cache: RedisCache, redis: PrivateRedis) -> None:
    """D-31: the store id stands for everything."""

    def pages() -> Iterator[Sequence[CachePut]]:
        yield [put(1)]
        with redis.client() as asked:
            asked.flushall()
        yield [put(2)]

    refuses(lambda: cache.rebuild("store-1", pages()), "emptied")
    assert cache.store_id() is None


def test_a_rebuild_that_another_overtook_changes_nothing(
    redis: PrivateRedis, cache: RedisCache, opened: Open
) -> None:
    """D-34: it was stopped in the middle; the next holder has filled the cache and gone on."""
    other = opened(redis.url)
    theirs = [put(1, 5), put(3)]

    def pages(held_up: int) -> Iterator[Sequence[CachePut]]:
        for number, page in enumerate(([put(1)], [put(2)])):
            if number == held_up:
                other.rebuild("store-1", [theirs])
                other.write([put(3, 2)])
            yield page
        if held_up == 2:
            other.rebuild("store-1", [theirs])
            other.write([put(3, 2)])

    for held_up in range(3):
        refuses(partial(cache.rebuild, "store-1", pages(held_up)), "someone else")
        assert cache.day(DAY) == {1, 3}
        assert cache.store_id() == "store-1"
        assert (cache.get(1), cache.get(3)) == (put(1, 5).document, put(3, 2).document)
        with redis.client() as asked:
            asked.flushall()


def test_a_restart_while_it_is_filled_is_noticed(cache: RedisCache, redis: PrivateRedis) -> None:
    def pages() -> Iterator[Sequence[CachePut]]:
        yield [put(1)]
        redis.server.kill()
        redis.server.start()
        yield [put(2)]

    refuses(lambda: cache.rebuild("store-1", pages()), "cache does not answer")
    assert cache.store_id() is None
    assert cache.rebuild("store-1", [[put(1), put(2)]]) == 2


def test_a_restart_between_calls_is_no_outage(cache: RedisCache, redis: PrivateRedis) -> None:
    """The idle connection is dead, the server is not."""
    cache.write([put(1)])
    redis.server.kill()
    redis.server.start()
    cache.write([put(2)])
    assert cache.day(DAY) == {2}


def test_a_connection_that_the_server_closed_is_no_outage(cache: RedisCache, redis: PrivateRedis) -> None:
    cache.write([put(1)])
    with redis.client() as asked:
        asked.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
    assert cache.get(1) == put(1).document


def test_a_killed_server_is_an_outage_and_passes(cache: RedisCache, redis: PrivateRedis) -> None:
    cache.write([put(1)])
    redis.server.kill()
    for call in (lambda: cache.write([put(1)]), cache.ping, cache.store_id, lambda: cache.rebuild("s", [])):
        refuses(call, "refused")
    redis.server.start()
    cache.write([put(1)])


def test_a_frozen_server_costs_one_timeout(cache: RedisCache, redis: PrivateRedis, opened: Open) -> None:
    """R-123, D-04: bounded, with a connection that is there and with a new one; then all is as before."""
    cache.write([put(1)])
    redis.server.freeze()
    try:
        for call in (
            lambda: cache.write([put(1, 2)]),
            lambda: cache.write([put(1, 3)]),
            lambda: cache.rebuild("s", []),
            opened(redis.url).ping,
        ):
            start = time.monotonic()
            refuses(call, "Timeout")
            assert time.monotonic() - start < 2 * TIMEOUT_S
    finally:
        redis.server.thaw()
    cache.write([put(1, 4)])
    assert cache.get(1) == put(1, 4).document


def test_what_a_frozen_server_does_late_harms_nothing(cache: RedisCache, redis: PrivateRedis) -> None:
    """INV-10: the abandoned write reaches the server when it thaws, behind a newer one."""
    cache.write([put(1)])
    redis.server.freeze()
    refuses(lambda: cache.write([put(1, 2, DAY + timedelta(1))]), "Timeout")
    redis.server.thaw()
    cache.write([put(1, 3)])
    time.sleep(0.1)
    assert cache.get(1) == put(1, 3).document
    assert cache.day(DAY) == {1}
    assert cache.day(DAY + timedelta(1)) == frozenset()


def test_a_full_server_refuses_all_and_changes_nothing(cache: RedisCache, redis: PrivateRedis) -> None:
    """D-04: OOM. No write is done by half."""
    cache.rebuild("s", [[put(1), put(2), put(3, 1, None)]])
    with redis.client() as asked:
        asked.config_set("maxmemory", 1)
        late: list[CacheEntry] = [
            put(1, 2, DAY + timedelta(1)),
            put(1, 2),
            put(3, 2, None),
            put(9, 2, None),
            CacheGone(1, 2, DAY),
        ]
        for entry in late:
            refuses(partial(cache.write, [entry, put(2, 2, None)]), "OOM")
        refuses(lambda: cache.rebuild("s", []), "OOM")
        assert cache.get(1) == put(1).document
        assert cache.day(DAY) == {1, 2}
        asked.config_set("maxmemory", 0)
    cache.write(late)


def test_a_replica_refuses_all(cache: RedisCache, redis: PrivateRedis) -> None:
    """D-04: READONLY, as after a failover behind the same address."""
    cache.write([put(1)])
    with redis.client() as asked:
        asked.replicaof("127.0.0.1", "1")
        refuses(lambda: cache.write([put(1, 2)]), "READONLY|MASTERDOWN")
        asked.config_set("replica-serve-stale-data", "no")
        refuses(lambda: cache.get(1), "MASTERDOWN")
        asked.config_set("replica-serve-stale-data", "yes")
        asked.replicaof("NO", "ONE")
    cache.write([put(1, 2)])
