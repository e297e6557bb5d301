"""What is particular to the cache in Redis, without a server: its URL, and what errors mean."""

import ssl

import pytest
from redis import exceptions

from msgx_adapters.cache_redis import RedisCache
from msgx_adapters.cache_redis.errors import translate
from msgx_adapters.cache_redis.options import options_of
from msgx_core.errors import ConfigError, Rejected, Transient


@pytest.mark.parametrize(
    ("url", "scheme", "options"),
    [
        ("redis://h", "redis", {"host": "h", "port": 6379}),
        ("redis://h:7000/", "redis", {"host": "h", "port": 7000}),
        (
            "redis://h/3?client_name=msgx",
            "redis",
            {"host": "h", "port": 6379, "db": 3, "client_name": "msgx"},
        ),
        ("redis://:p%40w@[::1]:1/0", "redis", {"host": "::1", "port": 1, "db": 0, "password": "p@w"}),
        ("redis://me:x@h", "redis", {"host": "h", "port": 6379, "username": "me", "password": "x"}),
        ("unix:///run/r.sock?db=2", "unix", {"path": "/run/r.sock", "db": 2}),
        ("unix://me:x@/run/r.sock", "unix", {"path": "/run/r.sock", "username": "me", "password": "x"}),
        (
            "rediss://h?ssl_min_version=TLSv1.3&ssl_check_hostname=no&ssl_cert_reqs=none&ssl_password=a+b",
            "rediss",
            {
                "host": "h",
                "port": 6379,
                "ssl_min_version": ssl.TLSVersion.TLSv1_3,
                "ssl_check_hostname": False,
                "ssl_cert_reqs": "none",
                "ssl_password": "a+b",
            },
        ),
    ],
)
def test_urls(url: str, scheme: str, options: dict[str, object]) -> None:
    """Issue 3: TLS and ACL options."""
    assert options_of(url) == (scheme, options)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("http://h", "begins with redis://"),
        ("redis://h:x", "no legal URL"),
        ("redis://h/abc", "number of a database"),
        (
            "redis://h?retry_on_timeout=yes",
            "option retry_on_timeout of the cache URL is not one of client_name, db",
        ),
        ("redis://h?ssl_ca_certs=/etc/hosts", "is for rediss:// only"),
        ("rediss://h?ssl_ca_certs=/not/here", "there is no /not/here"),
        ("rediss://h?ssl_cert_reqs=perhaps", "none, optional or required"),
        ("rediss://h?ssl_check_hostname=perhaps", "cannot be 'perhaps'"),
        ("rediss://h?ssl_min_version=SSLv9", "cannot be 'SSLv9'"),
        ("redis://h?db=x", "cannot be 'x'"),
        ("unix://", "no socket path"),
        ("redis://:se#cret@h", "legal|#"),
    ],
)
def test_what_is_wrong_with_a_url_is_said(url: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        RedisCache.open(url)
    assert "cret" not in str(caught.value)


def test_opening_does_not_connect() -> None:
    """Issue 3: a start while the server is down waits."""
    RedisCache.open("redis://127.0.0.1:1").close()


SCRIPT = "script: 91c5f, on @user_script:26."
OLD_SCRIPT = "ERR Error running script (call to f_91c5f): @user_script:26:"


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ConnectionError("Connection refused"),
        exceptions.TimeoutError("Timeout reading"),
        exceptions.AuthenticationError("invalid username-password pair", status_code="WRONGPASS"),
        exceptions.BusyLoadingError("Redis is loading the dataset in memory", status_code="LOADING"),
        exceptions.OutOfMemoryError("command not allowed when used memory > 'maxmemory'.", status_code="OOM"),
        exceptions.ReadOnlyError("You can't write against a read only replica.", status_code="READONLY"),
        exceptions.NoPermissionError("this user has no permissions to run 'set'", status_code="NOPERM"),
        exceptions.ClusterDownError("CLUSTERDOWN Hash slot not served"),
        exceptions.ResponseError("MASTERDOWN Link with MASTER is down"),
        exceptions.ResponseError("MISCONF Redis is configured to save RDB snapshots, but it cannot"),
        exceptions.ResponseError(f"NOREPLICAS Not enough good replicas to write. {SCRIPT}"),
        exceptions.ResponseError("BUSY Redis is busy running a script."),
        exceptions.ResponseError("ERR unknown command 'EVALSHA', with args beginning with:"),
        exceptions.ResponseError(f"{OLD_SCRIPT} -OOM command not allowed when used memory > 'maxmemory'."),
        exceptions.ResponseError(f"{OLD_SCRIPT} @user_script: 26: -READONLY You can't write against"),
    ],
    ids=str,
)
def test_what_concerns_all_work_waits(error: Exception) -> None:
    """D-04: the message is not to blame."""
    found = translate(error)
    assert isinstance(found, Transient)
    assert found.service == "cache"


@pytest.mark.parametrize(
    "error",
    [
        exceptions.ResponseError(
            f"WRONGTYPE Operation against a key holding the wrong kind of value {SCRIPT}"
        ),
        exceptions.ResponseError(f"{OLD_SCRIPT} WRONGTYPE Operation against a key holding the wrong kind"),
        exceptions.ResponseError("ERR string exceeds maximum allowed size (proto-max-bulk-len)"),
        exceptions.DataError("Invalid input of type"),
        UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    ],
    ids=repr,
)
def test_what_concerns_one_entry_is_rejected(error: Exception) -> None:
    """D-04."""
    found = translate(error)
    assert isinstance(found, Rejected)
    assert found.reason == "cache-rejected"
