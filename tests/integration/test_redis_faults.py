"""The cache when the server is restarted, emptied, frozen, full, read-only, or gives few rights (D-04)."""

import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import pytest

from msgx_adapters.cache_redis import RedisCache
from msgx_core.errors import Rejected, Transient
from msgx_core.ports.cache import CacheEntry, CacheGone, CachePut
from services.base import NotHere, free_port, unavailable
from services.redis import PrivateRedis, client, private_redis

DAY = date(2021, 1, 25)
TIMEOUT_S = 0.5
Open = Callable[[str], RedisCache]


def put(flid: int, version: int = 1, day: date | None = DAY, size: int = 0) -> CachePut:
    return CachePut(flid, version, day, f'{{"FLID":{flid},"STATE_VERSION":{version},"X":"{"x" * size}"}}')


@pytest.fixture(scope="module")
def shared() -> Iterator[PrivateRedis]:
    try:
        with private_redis() as made:
            yield made
    except NotHere as why:
        unavailable("Redis", str(why))


@pytest.fixture
def redis(shared: PrivateRedis) -> PrivateRedis:
    """A server of our own, running and empty."""
    shared.server.start()
    with shared.client() as asked:
        asked.config_set("maxmemory", 0)
        asked.replicaof("NO", "ONE")
        asked.flushall()
        asked.script_flush()
    return shared


@pytest.fixture
def opened() -> Iterator[Open]:
    caches: list[RedisCache] = []

    def open_cache(url: str) -> RedisCache:
        caches.append(RedisCache.open(url, timeout_s=TIMEOUT_S))
        return caches[-1]

    yield open_cache
    for cache in caches:
        cache.close()


@pytest.fixture
def cache(redis: PrivateRedis, opened: Open) -> RedisCache:
    return opened(redis.url)


def refuses(call: Callable[[], object], says: str) -> None:
    with pytest.raises(Transient, match=says) as caught:
        call()
    assert caught.value.service == "cache"


def test_the_keys_are_those_that_are_documented(cache: RedisCache, redis: PrivateRedis) -> None:
    """D-31, by a client that is not ours."""
    cache.rebuild("store-1", [[put(1, 7), put(2, 1, None)]])
    cache.write([put(3, 1), CacheGone(2, 5, None)])
    with redis.client() as asked:
        assert {str(key) for key in asked.scan_iter()} == {
            *("msgx:flight:1", "msgx:version:1", "msgx:flight:3", "msgx:version:3"),
            *("msgx:gone:2", "msgx:day:2021-01-25", "msgx:store"),
        }
        assert asked.get("msgx:flight:1") == put(1, 7).document
        assert asked.get("msgx:version:1") == "7 2021-01-25"
        assert asked.smembers("msgx:day:2021-01-25") == {"1", "3"}
        assert asked.get("msgx:gone:2") == "5"
        assert 86_000 < int(str(asked.ttl("msgx:gone:2"))) <= 86_400
        assert asked.ttl("msgx:flight:1") == -1


def test_versions_are_compared_as_numbers(cache: RedisCache) -> None:
    """D-31: up to 2^53."""
    for older, newer in [(9, 10), (99, 100), (2**53 - 1, 2**53)]:
        cache.write([CacheGone(1, 0, None), put(1, newer), put(1, older)])
        assert cache.get(1) == put(1, newer).document


def test_a_schedule_goes_in_pieces(cache: RedisCache, redis: PrivateRedis) -> None:
    """Issue 3: pipelined for schedules; no call holds up the server."""
    entries = [put(flid, 2, DAY + timedelta(flid % 2), size=2_000) for flid in range(1, 4_001)]
    with redis.client() as asked:
        cache.write(entries[:1])
        asked.config_resetstat()
        cache.write(entries)
        calls = asked.info("commandstats")["cmdstat_evalsha"]
        assert calls["calls"] == 20
        assert calls["usec_per_call"] < 20_000
    assert cache.day(DAY) == set(range(2, 4_001, 2))
    cache.write([CacheGone(e.flid, 3, None) for e in entries])
    assert cache.day(DAY) == frozenset()


def test_one_flight_is_one_round_trip(cache: RedisCache, redis: PrivateRedis) -> None:
    """Services.md: round trips first."""
    cache.write([put(1)])
    with redis.client() as asked:
        asked.config_resetstat()
        cache.write([put(1, 2)])
        stats = asked.info("stats")
        assert stats["total_connections_received"] == 0
        assert set(asked.info("commandstats")) - {"cmdstat_info", "cmdstat_config|resetstat"} == {
            *("cmdstat_evalsha", "cmdstat_mget", "cmdstat_sadd", "cmdstat_set"),
        }


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
    """D-04: bounded, with a connection that is there and with a new one; then all is as before."""
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


def test_a_foreign_value_is_that_entrys_failure(cache: RedisCache, redis: PrivateRedis) -> None:
    """D-04, and a rebuild puts it right."""
    with redis.client() as asked:
        asked.set("msgx:day:2021-01-25", "mine")
        asked.rpush("msgx:flight:2", "mine")
        asked.set("msgx:notes", "mine")
    with pytest.raises(Rejected, match="cache-rejected: WRONGTYPE"):
        cache.write([put(1)])
    assert cache.get(1) is None
    with pytest.raises(Rejected, match="WRONGTYPE"):
        cache.get(2)
    cache.ping()
    assert cache.rebuild("s", [[put(1), put(2)]]) == 2
    assert cache.day(DAY) == {1, 2}
    with redis.client() as asked:
        assert not asked.exists("msgx:notes")
        asked.sadd("msgx:day:2021-01-25", "mine")
    with pytest.raises(Rejected, match="foreign"):
        cache.day(DAY)
    cache.rebuild("s", [[put(1)]])
    assert cache.day(DAY) == {1}


def test_text_that_is_no_unicode_is_rejected(cache: RedisCache) -> None:
    with pytest.raises(Rejected, match="surrogates"):
        cache.write([put(1), CachePut(2, 1, DAY, '"\ud800"')])
    cache.write([put(1)])


def test_a_large_rebuild_leaves_others_alone(cache: RedisCache, redis: PrivateRedis) -> None:
    """Keys of others stay, also those whose prefix only looks like ours."""
    with redis.client() as asked:
        asked.mset({"msgx": "a", "other:flight:1": "b", "xmsgx:flight:1": "c"})
        pages = [
            [put(flid, 1, DAY + timedelta(flid % 40)) for flid in range(n, n + 500)]
            for n in range(1, 20_000, 500)
        ]
        start = time.monotonic()
        assert cache.rebuild("s", pages) == 20_000
        assert time.monotonic() - start < 10
        assert cache.rebuild("s", pages[:1]) == 500
        assert asked.dbsize() == 500 * 2 + 40 + 1 + 3


USER_COMMANDS = (
    "resetkeys ~msgx:* resetchannels -@all +evalsha +eval +get +mget +set +del +unlink"
    " +sadd +srem +smembers +sscan +scan +type +ping +select"
)


def test_a_user_with_few_rights_is_enough(redis: PrivateRedis, opened: Open) -> None:
    """Issue 3: the account of the documentation; other keys are out of its reach."""
    described = " ".join((RedisCache.__doc__ or "").split())
    assert USER_COMMANDS in described
    with redis.client() as asked:
        asked.execute_command("ACL", "SETUSER", "msgx", "reset", "on", ">pa ss", *USER_COMMANDS.split())
        cache = opened(f"redis://msgx:pa%20ss@127.0.0.1:{redis.port}/3")
        cache.ping()
        assert cache.rebuild("store-1", [[put(1), put(2)]]) == 2
        assert cache.rebuild("store-1", [[put(2)]]) == 1
        cache.write([put(1, 2), CacheGone(2, 5, DAY)])
        assert (cache.get(1), cache.store_id()) == (put(1, 2).document, "store-1")
        assert cache.day(DAY) == {1}
        assert asked.execute_command("ACL", "LOG") == []
        other = RedisCache.open(f"redis://msgx:pa%20ss@127.0.0.1:{redis.port}/3", prefix="other:")
        refuses(lambda: other.write([put(1)]), "NOPERM|can.t access")
        other.close()
        asked.execute_command("ACL", "SETUSER", "msgx", "resetpass", ">new")
        asked.execute_command("CLIENT", "KILL", "USER", "msgx")
        refuses(cache.ping, "WRONGPASS|invalid username-password")
        asked.execute_command("ACL", "DELUSER", "msgx")


def test_wrong_credentials_and_database_are_told(redis: PrivateRedis, opened: Open) -> None:
    """D-04: NOAUTH, WRONGPASS; and a database that is not there is no entry's fault."""
    refuses(opened(f"redis://:no@127.0.0.1:{redis.port}").ping, "(?i)password")
    refuses(lambda: opened(f"redis://127.0.0.1:{redis.port}/99").write([put(1)]), "DB index")
    with private_redis("--requirepass", "secret") as guarded:
        refuses(lambda: opened(guarded.url).write([put(1)]), "(?i)authentication required")


def test_a_unix_socket(opened: Open) -> None:
    with private_redis("--unixsocket", "redis.sock") as made:
        cache = opened(f"unix://{made.folder}/redis.sock?db=1")
        cache.write([put(1)])
        assert cache.get(1) == put(1).document


def _certificates(folder: Path) -> None:
    """A certificate that vouches for itself, for localhost."""
    names = "-subj /CN=localhost -addext subjectAltName=DNS:localhost -days 2"
    files = "-nodes -keyout key.pem -out cert.pem"
    command = f"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 {names} {files}"
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)


def test_tls(tmp_path: Path, opened: Open) -> None:
    """Issue 3: certificates are checked, ours is shown."""
    _certificates(tmp_path)
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    tls_port = free_port()
    with private_redis(
        "--tls-cert-file", str(cert), "--tls-key-file", str(key), "--tls-ca-cert-file", str(cert)
    ) as made:
        with made.client() as asked:
            asked.config_set("tls-port", tls_port)
        ours = f"ssl_ca_certs={cert}&ssl_certfile={cert}&ssl_keyfile={key}&ssl_min_version=TLSv1.2"
        cache = opened(f"rediss://localhost:{tls_port}/0?{ours}")
        cache.write([put(1)])
        with client(made.url) as asked:
            assert asked.get("msgx:flight:1") == put(1).document
        refuses(opened(f"rediss://localhost:{tls_port}/0").ping, "CERTIFICATE_VERIFY_FAILED")
        refuses(opened(f"rediss://127.0.0.1:{tls_port}/0?{ours}").ping, "(?i)ip address mismatch")
        refuses(opened(f"rediss://localhost:{made.port}/0?{ours}").ping, "(?i)ssl|tls|timed?.?out")
