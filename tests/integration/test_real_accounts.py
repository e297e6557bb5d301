"""Accounts and names that are wrong, on the real servers: what is said, without any password (D-04)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pytest

from real_set import RealSet, real_set
from services import postgres
from services.base import wait_until
from services.mysql import RIGHTS, user_in

SECRET = "S3cret-word"


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSet]:
    with real_set(tmp_path_factory.mktemp("real")) as made:
        (rules,) = made.postgres.server.folder.rglob("pg_hba.conf")
        rules.write_text(f"host all app 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        with postgres.connect(made.postgres.url) as owner:
            owner.execute("CREATE ROLE app LOGIN PASSWORD 'right'")
            owner.execute("SELECT pg_reload_conf()")
        cache: Any = made.redis.client()
        cache.execute_command("ACL", "SETUSER", "app", "on", ">right", "~msgx:*", "+@all")
        yield made


def changed(url: str, *, user: str = "", path: str = "") -> str:
    """The same server, another account or database."""
    parts = urlsplit(url)
    netloc = f"{user}@{parts.hostname}:{parts.port}" if user else parts.netloc
    return parts._replace(netloc=netloc, path=path or parts.path).geturl()


def place_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.hostname}:{parts.port}"


def cases(real: RealSet) -> Mapping[str, tuple[str, str, int, list[str]]]:
    """By name: setting, its value, exit code, what must be said."""
    store, cache, mailbox = real.postgres.url, real.redis.url, real.mailbox
    user = mailbox.user(*RIGHTS)
    name = str(urlsplit(user).username)
    inbound, outbound = f"`{mailbox.name}`.`CMINMSGS`", f"`{mailbox.name}`.`COUTMSGS`"
    reader = mailbox.user("SELECT ON {}.CMINMSGS", "SELECT ON {}.COUTMSGS")
    return {
        "store, password": (
            "MSGX_STORE_URL",
            changed(store, user=f"app:{SECRET}"),
            4,
            [f"as app on {place_of(store)}/", "msgx.store.url"],
        ),
        "store, database": (
            "MSGX_STORE_URL",
            changed(store, user=f"app:{SECRET}", path="/nope").replace("app:", "postgres:"),
            4,
            [f"as postgres on {place_of(store)}/nope", '"nope" does not exist', "make it"],
        ),
        "store, rights": (
            "MSGX_STORE_URL",
            f"{changed(store, user='app:right')}?schema=msgx",
            4,
            [f"as app on {place_of(store)}/", "42501", "msgx migrate --grants store"],
        ),
        "cache, password": (
            "MSGX_CACHE_URL",
            changed(cache, user=f"app:{SECRET}"),
            4,
            [f"as app on {place_of(cache)}/0", "msgx.cache.url"],
        ),
        "cache, database": (
            "MSGX_CACHE_URL",
            changed(cache, user="app:right", path="/99"),
            4,
            [f"as app on {place_of(cache)}/99", "out of range", "msgx.cache.url"],
        ),
        "mailbox, password": (
            "MSGX_MAILBOX_URL",
            changed(user, user=f"{name}:{SECRET}"),
            4,
            [f"as {name} on {place_of(user)}/{mailbox.name}", "msgx.mailbox.url"],
        ),
        "mailbox, database": (
            "MSGX_MAILBOX_URL",
            changed(user, path="/nope"),
            3,
            [f"{place_of(user)}/nope", name, "msgx migrate --grants mailbox"],
        ),
        "mailbox, rights": (
            "MSGX_MAILBOX_URL",
            reader,
            3,
            [
                f"GRANT UPDATE (`CMINMSGS_DATE_PROCESSED`) ON {inbound} TO {user_in(reader)}",
                f"GRANT INSERT ON {outbound} TO {user_in(reader)}",
            ],
        ),
        "bus, topic": ("MSGX_KAFKA_TOPIC_SCHD", "NOT_THERE", 3, ["NOT_THERE", real.kafka.servers, "make it"]),
    }


def test_the_culprit_is_named_with_its_account_and_a_remedy(real: RealSet) -> None:
    """Issue 3: by `config check`, and by a command that needs it."""
    msgx = real.msgx()
    msgx.ok("config", "check")
    for case, (setting, value, code, said) in cases(real).items():
        wrong: Any = {setting: value}
        answer = msgx("config", "check", "--json", **wrong)
        (row,) = (row for row in answer.json["SERVICES"] if not row["OK"])
        assert row["SERVICE"] == case.split(",")[0]
        assert [words for words in said if words not in row["ERROR"]] == [], case
        assert (answer.code, SECRET in answer.out + answer.err) == (code, False), case
        if case.startswith("store"):
            answer = msgx("messages", **wrong)
            assert f"msgx: the store cannot be used: {row['ERROR']}" in answer.err
            assert (answer.code, SECRET in answer.out + answer.err) == (4, False)


def test_the_daemon_waits_for_a_database_that_is_not_there(real: RealSet) -> None:
    """D-04: an outage like class 28, which names its reason."""
    setting, value, _, said = cases(real)["store, database"]
    with real.daemon("waits", **{setting: value}) as daemon:
        told = "waiting-for"
        wait_until(lambda: told in [line["event"] for line in real.log("waits")], "it says nothing", 60)
        assert daemon.poll() is None
    text = (real.folder / "waits.log").read_text()
    detail = next(line["detail"] for line in real.log("waits") if line["event"] == told)
    assert [words for words in said if words not in detail] == []
    assert SECRET not in text


def test_the_daemon_does_not_start_without_the_rights_to_write(real: RealSet) -> None:
    """Issue 3: not to be found out with the first message; all that is missing at once."""
    setting, value, code, said = cases(real)["mailbox, rights"]
    with real.daemon("refuses", **{setting: value}) as daemon:
        assert daemon.wait(60) == code
    text = (real.folder / "refuses.log").read_text()
    assert [words for words in said if words not in text] == []
