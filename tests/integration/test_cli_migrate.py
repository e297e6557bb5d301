"""`msgx migrate` and what every command says to a store of another msgx."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from msgx_adapters.store_postgres.migrations import REVISIONS as POSTGRES_REVISIONS
from msgx_adapters.store_sqlite.migrations import REVISIONS
from msgx_app.cli.app import command
from msgx_cli import Msgx
from revisions import postgres_later, sqlite_later
from services.catalogue import catalogue, differences
from services.dba import change, drop, run
from services.postgres import POSTGRES, own_schema

COMMANDS = """
init --force --airport KMG|config check|migrate|migrate --sql|run|drain|status|messages|messages show 1
messages readmit 1 --reason x|flights|flights show 1|ref ARPT|resources|snapshots|replay 1 --reason x
writeback|writeback resume 1 --reason x|outbox|outbox requeue 1 --reason x|outbox discard 1 --reason x|alerts
alerts ack 1 --reason x|cache rebuild|requests|request|request ref GLST --reason x
request schedule today --reason x|explain 1|verify|jobs
sweep --set msgx.history.url=file:data/history|sweep --via-daemon|retention --dry-run
recover --republish --reason x
token|token list|token create x --role reader --reason x|token revoke x --reason x
"""
WITHOUT_STORE = {"config", "config show", "send", "decode", "simulate", "cache", "schema"}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with POSTGRES.found() as url:
        yield url


@pytest.fixture
def store(server: str) -> Iterator[str]:
    with own_schema(server) as url:
        yield url


@pytest.mark.parametrize("words", re.findall(r"[^|\n]+", COMMANDS))
def test_every_command_refuses_a_newer_store(msgx: Msgx, words: str) -> None:
    with closing(sqlite3.connect(msgx.folder / "data" / "store.db")) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '0042'")
        raw.commit()
    answer = msgx(*words.split())
    assert answer.code == 3, answer
    assert re.search(
        f"schema revision 0042, this msgx knows {REVISIONS.newest} at most: use the newer msgx",
        answer.err + answer.out,
    )


def test_no_command_is_forgotten() -> None:
    def names(group: Any, *before: str) -> Iterator[str]:
        for name in list(group.commands):
            yield " ".join((*before, name))
            if hasattr(group.commands[name], "commands"):
                yield from names(group.commands[name], *before, name)

    asked = re.findall(r"[^|\n]+", COMMANDS)
    assert {name for name in names(command()) if not any(words.startswith(name) for words in asked)} <= (
        WITHOUT_STORE
    )


def test_migrate_twice(msgx: Msgx, store: str) -> None:
    drop(store)
    at = ("--set", f"msgx.store.url={store}")
    answer = msgx("messages", *at)
    assert answer.code == 3
    assert "has no schema yet" in answer.err
    assert "msgx migrate" in answer.err
    assert f"was made: revision {POSTGRES_REVISIONS.newest}" in msgx.ok("migrate", *at).out
    made = catalogue(store)
    assert f"is up to date: revision {POSTGRES_REVISIONS.newest}" in msgx.ok("migrate", *at).out
    assert differences(made, catalogue(store)) == {}
    assert msgx.ok("messages", "--json", *at).json == []


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_an_upgrade_says_from_what_to_what(
    msgx: Msgx, store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    at = ("--set", f"msgx.store.url={store}") if kind == "postgres" else ()
    if at:
        drop(store)
    msgx.ok("migrate", *at)
    before = (POSTGRES_REVISIONS if at else REVISIONS).newest
    later = (postgres_later if kind == "postgres" else sqlite_later)(
        monkeypatch, tmp_path / "later", 'op.execute("SELECT 1")'
    )
    assert f"was upgraded from revision {before} to {later.newest}" in msgx.ok("migrate", *at).out
    told = msgx.ok("migrate", "--json", *at).json
    assert (told["FROM_REVISION"], told["REVISION"]) == (later.newest, later.newest)


def test_the_printed_script_makes_the_schema(msgx: Msgx, store: str) -> None:
    at = ("--set", f"msgx.store.url={store}")
    made = catalogue(store)
    answer = msgx.ok("migrate", "--sql", *at)
    assert "nothing to do" in answer.err
    drop(store)
    answer = msgx.ok("migrate", "--sql", *at)
    assert answer.err == ""
    assert run(store, answer.out) is None
    assert differences(made, catalogue(store)) == {}
    change(store, "UPDATE {0}.alembic_version SET version_num = '0042'")
    assert msgx("migrate", "--sql", *at).code == 3
    assert msgx("migrate", "--sql", "--from", "0042", *at).code == 3


def test_the_printed_rights_of_the_store(msgx: Msgx, store: str) -> None:
    schema = store.rpartition("=")[2]
    answer = msgx.ok("migrate", "--grants", "store", "--set", f"msgx.store.url={store}")
    assert f'GRANT SELECT ON ALL TABLES IN SCHEMA "{schema}" TO msgx_read' in answer.out
    assert "::" not in answer.out
    assert msgx.ok("migrate", "--grants", "store", "--json", "--set", f"msgx.store.url={store}").json == {
        "SQL": answer.out
    }


def test_the_printed_rights_of_the_mailbox(msgx: Msgx) -> None:
    """R-153: The owner's names and our user, no password."""
    answer = msgx.ok(
        "migrate",
        "--grants",
        "mailbox",
        "--set",
        "msgx.mailbox.url=mysql://gate:swordfish@h/aodb",
        "--set",
        "msgx.mailbox.table.inbound=IN_MSG",
        "--set",
        "msgx.mailbox.column.inbound-processed=DONE_AT",
    ).out
    assert "swordfish" not in answer
    assert "GRANT UPDATE (`DONE_AT`) ON `aodb`.`IN_MSG` TO 'gate'@'%';" in answer
    assert "GRANT SELECT, INSERT ON `aodb`.`COUTMSGS` TO 'gate'@'%';" in answer
    assert "ON `aodb`.`IN_MSG` (`DONE_AT`, `CMINMSGS_ID`);" in answer


def test_files_have_no_roles(msgx: Msgx) -> None:
    for which in ("store", "mailbox"):
        answer = msgx("migrate", "--grants", which)
        assert answer.code == 1
        assert "nothing to grant" in answer.err


@pytest.mark.parametrize("words", ["--grants store --sql", "--from 0001", "--grants other"])
def test_options_that_do_not_go_together(msgx: Msgx, words: str) -> None:
    assert msgx("migrate", *words.split()).code == 2
