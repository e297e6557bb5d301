"""The cache's keys and calls as others see them, and every way in: rights, passwords, TLS, sockets (D-31)."""

import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from msgx_adapters.cache_redis import RedisCache
from msgx_core.errors import Rejected
from msgx_core.ports.cache import CacheGone, CachePut
from services.base import free_port
from services.redis import PrivateRedis, client, private_redis
from services.redis_bench import DAY, Open, as_new, opening, put, refuses, required_redis


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


def test_threads_do_not_disturb_one_another(cache: RedisCache) -> None:
    """The pump writes while HTTP reads."""

    def work(flid: int) -> None:
        for version in range(1, 101):
            cache.write([put(flid, version)])
            assert cache.get(flid) == put(flid, version).document

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(1, 17)))
    assert cache.day(DAY) == set(range(1, 17))


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
