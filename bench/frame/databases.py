"""Databases in PostgreSQL made from one another: every round begins with the same pages."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from attrs import field, frozen
from psycopg import sql


def connect(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """A connection that is not ours; each statement commits."""
    return psycopg.connect(url, autocommit=True, connect_timeout=10)


def rows(url: str, statement: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
    """The rows of one statement."""
    with connect(url) as asked:
        return asked.execute(statement.encode(), values or None).fetchall()


def run(url: str, script: str) -> None:
    """Several statements; each commits unless the script says otherwise."""
    with connect(url) as asked:
        asked.execute(script.encode())


@frozen
class Databases:
    """`admin` is the URL of a database that stays."""

    admin: str
    _numbers: Iterator[int] = field(factory=lambda: itertools.count(1))

    def url(self, name: str) -> str:
        """The URL of a database."""
        return f"{self.admin.rpartition('/')[0]}/{name}"

    def create(self, purpose: str, template: str | None = None) -> str:
        """A new database, empty or a copy of `template`, in which nobody is connected; its name."""
        name = f"{purpose}_{next(self._numbers)}"
        with connect(self.admin) as owner:
            made = sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name))
            if template is not None:
                made += sql.SQL(" TEMPLATE {} STRATEGY FILE_COPY").format(sql.Identifier(template))
            owner.execute(made)
        return name

    def drop(self, name: str) -> None:
        """Remove it, whoever is in it."""
        with connect(self.admin) as owner:
            owner.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))

    @contextmanager
    def copy(self, template: str) -> Iterator[str]:
        """The URL of a copy while the context lasts. All of it is on the disk before anything is timed."""
        name = self.create("copy", template)
        run(self.admin, "CHECKPOINT")
        try:
            yield self.url(name)
        finally:
            self.drop(name)

    def made(self, purpose: str, fill: Callable[[str], None], template: str | None = None) -> str:
        """A database for copying from: `fill` gets its URL, then it is vacuumed; its name."""
        name = self.create(purpose, template)
        fill(self.url(name))
        run(self.url(name), "VACUUM (ANALYZE)")
        return name
