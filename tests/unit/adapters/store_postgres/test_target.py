"""URLs of the PostgreSQL store."""

import pytest

from msgx_adapters.store_postgres import Target
from msgx_core.errors import ConfigError

URL = "postgresql://ada:s%40cret@db.example:6432/ops"


def test_a_url_is_what_libpq_takes() -> None:
    target = Target.of(f"{URL}?sslmode=verify-full&schema=kmg")
    assert target.schema == "kmg"
    assert target.name == "db.example:6432/ops schema kmg"
    conninfo = target.conninfo(5.0, {}).decode()
    for part in ("user='ada'", "password='s@cret'", "port='6432'", "sslmode='verify-full'"):
        assert part in conninfo
    assert "tcp_user_timeout='5000'" in conninfo
    assert "client_encoding='UTF8'" in conninfo
    assert "schema" not in conninfo


def test_the_schema_may_be_named_beside() -> None:
    assert Target.of(URL).schema == "msgx"
    assert Target.of(URL, "pvg").schema == "pvg"
    assert Target.of("postgres://h/d").schema == "msgx"


def test_settings_join_those_of_the_url() -> None:
    target = Target.of(f"{URL}?options=-c%20work_mem%3D8MB")
    assert (
        "options='-c work_mem=8MB -c statement_timeout=60000'"
        in target.conninfo(5.0, {"statement_timeout": "60000"}).decode()
    )


def test_quotes_and_backslashes_stay_inside() -> None:
    conninfo = Target.of("postgresql://h/d?application_name=a'b%5Cc").conninfo(1.0, {}).decode()
    assert "application_name='a\\'b\\\\c'" in conninfo


def test_the_password_is_never_shown() -> None:
    assert "s@cret" not in repr(Target.of(URL))
    assert "s@cret" not in Target.of(URL).name


@pytest.mark.parametrize("url", ["postgresql://h:port/d", f"{URL}?no_such_option=1", "postgresql://[h/d"])
def test_no_url(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Target.of(url)
    assert "s%40cret" not in str(caught.value)
    assert "s@cret" not in str(caught.value)


@pytest.mark.parametrize("schema", ["Kmg", "a-b", 'x"y', "pg_own", "information_schema", "1a", "a" * 64])
def test_no_schema(schema: str) -> None:
    with pytest.raises(ConfigError, match="schema"):
        Target.of(URL, schema)
