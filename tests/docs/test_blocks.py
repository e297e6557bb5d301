"""Every code block of the README and the documentation is run; what cannot be says why."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import yaml
from lxml import etree

from msgx_adapters.store_postgres.schema import grants_sql
from pages import Block, blocks, name_of, pages
from services.base import Finder, NotHere, unavailable
from services.postgres import POSTGRES, connect, own_schema, schema_of, server_of
from services.redis import REDIS, client
from stories import SHELL, Story, agrees

PARSERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "toml": tomllib.loads,
    "xml": lambda text: etree.fromstring(text.encode()),
    "yaml": yaml.safe_load,
}
HOW = re.compile(r"exit \d+|stays|pytest|on postgresql|on redis")
SHOWN = ("diff", "text")
"""No code: figures, and what `make mutate` writes."""

PAGES = [pytest.param(page, id=name_of(page)) for page in pages() if list(blocks(page))]


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run_as_a_story(page: Path, tmp_path: Path) -> None:
    story = Story(tmp_path)
    for block in blocks(page):
        if block.why_not or block.how in ("on postgresql", "on redis"):
            continue
        if block.language in (*SHELL, "python"):
            story.add(block)
        elif block.language in PARSERS:
            PARSERS[block.language](block.text)
        else:
            assert block.language in SHOWN, (
                f"{block.place}: a block says what it is; {block.language!r} is not known"
            )
    story.run()


@pytest.mark.parametrize("page", PAGES)
def test_what_is_said_about_a_block_is_understood(page: Path) -> None:
    """One that is not run says why, in words."""
    for block in blocks(page):
        assert not block.how or HOW.fullmatch(block.how), f"{block.place}: what is run: {block.how}?"
        assert not block.why_not or len(block.why_not.split()) >= 3, block.place
        if block.language in SHOWN:
            commands = ("$ ", "msgx ", "make ", "pip ", "python ")
            assert not any(line.startswith(commands) for line in block.text.splitlines()), (
                f"{block.place}: commands are no {block.language}"
            )


def on(server: str) -> list[Any]:
    """Pages with blocks for a server of others, and these blocks."""
    found = [(name_of(page), [b for b in blocks(page) if b.how == f"on {server}"]) for page in pages()]
    return [pytest.param(those, id=name) for name, those in found if those]


@pytest.mark.parametrize("those", on("postgresql"))
def test_blocks_for_postgresql_run_on_one(those: list[Block]) -> None:
    """Those of a page in order, in one transaction of which nothing stays."""
    with POSTGRES.found() as url, own_schema(url) as own, rolled_back(server_of(own)) as connection:
        connection.execute("DROP ROLE IF EXISTS msgx, board")
        connection.execute(grants_sql(schema_of(own)).encode())
        for block in those:
            connection.execute(block.text.replace("{{schema}}", schema_of(own)).encode())


@pytest.mark.parametrize("those", on("redis"))
def test_blocks_for_redis_run_on_one(those: list[Block]) -> None:
    with private(REDIS) as server, client(server) as redis:
        for block in those:
            for line in block.text.splitlines():
                redis.execute_command(*shlex.split(line))


@contextmanager
def private(server: Finder) -> Iterator[str]:
    """One of our own, because its settings are changed."""
    try:
        with server.private() as url:
            yield url
    except NotHere as why:
        unavailable(server.service, str(why))


@contextmanager
def rolled_back(url: str) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    with connect(url) as connection:
        connection.autocommit = False
        yield connection
        connection.rollback()


def written(folder: Path, text: str) -> list[Block]:
    page = folder / "page.md"
    page.write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pages.ROOT", folder)
        return list(blocks(page))


def told(folder: Path, text: str) -> str:
    """What the runner says of a page that is wrong."""
    (folder / "work").mkdir(exist_ok=True)
    story = Story(folder / "work")
    for block in written(folder, text):
        story.add(block)
    with pytest.raises(AssertionError) as caught:
        story.run()
    return str(caught.value)


def test_a_block_that_fails_is_found(tmp_path: Path) -> None:
    said = told(tmp_path, "```sh\ntrue\n```\n\n```sh\necho so far\nfalse\necho never\n```\n")
    assert said.startswith("page.md:6: ")
    assert "so far" in said
    assert "never\n" not in said.partition("ended with")[2]


def test_output_that_is_not_as_told_is_found(tmp_path: Path) -> None:
    said = told(tmp_path, "```console\n$ echo one\ntwo\n```\n")
    assert "the page says\ntwo\nit printed\none" in said


def test_a_python_block_that_raises_is_found(tmp_path: Path) -> None:
    assert "ZeroDivisionError" in told(tmp_path, "```python\n1 / 0\n```\n")


def test_a_code_that_is_told_must_come(tmp_path: Path) -> None:
    assert "ended with 90" in told(tmp_path, "<!-- run: exit 3 -->\n```sh\ntrue\n```\n")


def test_what_a_comment_says_is_for_the_next_block_alone(tmp_path: Path) -> None:
    text = "<!-- not run: it never ends -->\n```sh\na\n```\n\n```sh\nb\n```\n"
    text += "<!-- run: exit 1 -->\nwords\n\n```sh\nc\n```\n"
    found = written(tmp_path, text)
    assert [(block.text, block.why_not, block.how) for block in found] == [
        ("a\n", "it never ends", ""),
        ("b\n", "", ""),
        ("c\n", "", ""),
    ]


@pytest.mark.parametrize(
    ("printed", "page", "same"),
    [
        ("a  1\nb\t2\n", "a 1\nb 2", True),
        ("a 1\nb 2\nc 3\n", "a 1\n…\nc 3", True),
        ("at 2027-03-14 10:00", "at …", True),
        ("a 1\nb 2", "a 1", False),
        ("a 1", "a 2", False),
    ],
)
def test_what_is_printed_is_compared_with_what_is_told(printed: str, page: str, same: bool) -> None:
    assert agrees(printed, page) is same
