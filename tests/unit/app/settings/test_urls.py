"""Backend URLs: schemes, relative and absolute paths, hidden passwords."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from msgx_app.settings.errors import Invalid
from msgx_app.settings.flow import archive_url, mailbox_url
from msgx_app.settings.output import history_url
from msgx_app.settings.running import bus_url, cache_url, store_url
from msgx_app.settings.urls import Url

BASE = Path("/etc/msgx")
PASSWORDS = st.text(
    st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="/?#@[]"), min_size=6
)


@pytest.mark.parametrize(
    ("text", "path", "absolute"),
    [
        ("sqlite:///data/store.db", "/etc/msgx/data/store.db", "sqlite:////etc/msgx/data/store.db"),
        ("sqlite:////var/store.db", "/var/store.db", "sqlite:////var/store.db"),
        ("sqlite:///../store.db", "/etc/store.db", "sqlite:////etc/store.db"),
    ],
)
def test_sqlite_paths(text: str, path: str, absolute: str) -> None:
    assert store_url(text).against(BASE) == Url(absolute, "sqlite", Path(path))


@pytest.mark.parametrize(
    ("text", "absolute"),
    [
        ("file:data/bus", "file:///etc/msgx/data/bus"),
        ("file:///var/bus", "file:///var/bus"),
        ("file:/var/bus", "file:///var/bus"),
        ("file:航班 数据", "file:///etc/msgx/航班 数据"),
    ],
)
def test_file_paths(text: str, absolute: str) -> None:
    url = bus_url(text).against(BASE)
    assert (url.text, str(url.path)) == (absolute, absolute.removeprefix("file://"))
    assert bus_url(url.text).against(Path("/elsewhere")) == url


@pytest.mark.parametrize(
    "url",
    [
        mailbox_url("mysql://msgx:pw@h:3306/aodb"),
        store_url("postgresql://[::1]:5432/msgx"),
        store_url("postgresql:///msgx?host=/run/postgresql"),
        cache_url("rediss://:pw@h:6380/0"),
        bus_url("kafka://a:9092,b:9092"),
        history_url("elasticsearch://h:9200/flights"),
        archive_url("s3://bucket/prefix"),
        cache_url("memory:"),
    ],
)
def test_servers_are_left_alone(url: Url) -> None:
    assert url.against(BASE) is url
    assert url.path is None


def test_postgres_is_postgresql() -> None:
    assert store_url("POSTGRES://h/msgx").text == "postgresql://h/msgx"


@pytest.mark.parametrize(
    ("bad", "hint"),
    [
        ("data/store.db", "it has no scheme"),
        ("mysql://h/db", "scheme is not one of these"),
        ("sqlite://data/store.db", "write sqlite:///PATH"),
        ("sqlite:///", "write sqlite:///PATH"),
        ("sqlite:///:memory:", "write memory: instead"),
        ("sqlite:///x.db?mode=ro", "takes no parameters"),
        ("postgresql:h/db", "write postgresql://HOST"),
        ("postgresql://h", "database is missing"),
        ("postgresql://h:99999/db", "port is not between"),
        ("postgresql://h:http/db", "host or port is not legal"),
        ("postgresql://u@/db", "host is missing"),
        ("postgresql://[::1/db", "not a legal URL"),
        ("postgresql://h/d b", "blank"),
        ("memory:x", "nothing follows"),
        (5, "not text"),
    ],
)
def test_what_is_no_store_url(bad: object, hint: str) -> None:
    with pytest.raises(Invalid, match="must be a URL like sqlite:///data") as caught:
        store_url(bad)
    assert hint in str(caught.value)


@pytest.mark.parametrize("bad", ["file:", "file://data/bus", "file:///", "kafka://", "kafka://a,,b"])
def test_what_is_no_bus_url(bad: str) -> None:
    with pytest.raises(Invalid, match="must be a URL like file:data/bus"):
        bus_url(bad)


@given(PASSWORDS)
def test_passwords_are_masked_wherever_a_url_is_shown(password: str) -> None:
    url = store_url(f"postgresql://msgx:{password}@h:5432/msgx?sslpassword={password.replace('&', '')}")
    assert password in url.text
    for text in (str(url), repr(url), url.masked, f"{url}"):
        assert text.count("***") == 2
        assert f":{password}@" not in text
        assert "msgx" in text
