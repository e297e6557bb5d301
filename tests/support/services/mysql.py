"""MySQL or MariaDB for tests: databases of the test's own, and a private server to stop and to freeze.

`MSGX_TEST_MYSQL` names a server by a URL whose user may create databases and users.
"""

from __future__ import annotations

import atexit
import itertools
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from attrs import define, field, frozen
from mysql.connector.connection import MySQLConnection

from services import base
from services.base import Finder, NotHere, PrivateServer, binary

_numbers = itertools.count(1)

MAILBOX = (
    """
    CREATE TABLE CMINMSGS (
        CMINMSGS_ID BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
        CMINMSGS_CLOB_MSG MEDIUMTEXT,
        CMINMSGS_DATE_RECEIVED DATETIME NULL,
        CMINMSGS_DATE_PROCESSED DATETIME NULL,
        CMINMSGS_STATUS VARCHAR(20),
        INDEX CMINMSGS_UNPROCESSED (CMINMSGS_DATE_PROCESSED, CMINMSGS_ID)
    ) ENGINE = InnoDB
    """,
    """
    CREATE TABLE COUTMSGS (
        COUTMSGS_ID BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
        COUTMSGS_CLOB_MSG MEDIUMTEXT,
        COUTMSGS_DATE_INSERTED DATETIME NOT NULL,
        COUTMSGS_DATE_SENT DATETIME NULL,
        ROUTINGID VARCHAR(23) NOT NULL,
        COUTMSGS_FLAG TINYINT NOT NULL DEFAULT 0
    ) ENGINE = InnoDB
    """,
)
"""The owner's tables as wire.md describes them."""

RIGHTS = ("SELECT, UPDATE (CMINMSGS_DATE_PROCESSED) ON {}.CMINMSGS", "SELECT, INSERT ON {}.COUTMSGS")
"""What the production user may do, as in the adapter's `grants.sql`."""


def connect(url: str) -> MySQLConnection:
    """A connection of the owner's: autocommit, and zero dates may be written."""
    parts = urlsplit(url)
    connection = MySQLConnection()
    connection.connect(
        host=parts.hostname,
        port=parts.port or 3306,
        user=parts.username or "",
        password=parts.password or "",
        database=parts.path.strip("/") or None,
        charset="utf8mb4",
        collation="utf8mb4_general_ci",
        autocommit=True,
        sql_mode="NO_ENGINE_SUBSTITUTION",
        connection_timeout=5,
        read_timeout=60,
        write_timeout=60,
    )
    return connection


def user_in(url: str) -> str:
    """The user of a URL that `Database.user` made, as it stands in SQL."""
    return f"'{urlsplit(url).username}'@'%'"


def answers(url: str) -> None:
    """Raise when the server does not answer."""
    connect(url).close()


@define
class Database:
    """A database of the test's own, seen by its owner through a connection that is not the adapter's."""

    url: str
    name: str
    _owner: MySQLConnection
    _users: list[str] = field(factory=list)

    def run(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Run a statement as the owner; times come back as the server writes them."""
        with closing(self._owner.cursor(raw=True)) as cursor:
            cursor.execute(sql, values)
            rows = cursor.fetchall() if cursor.description else []
        return [tuple(None if cell is None else bytes(cell) for cell in row) for row in rows]  # type: ignore[arg-type]

    def value(self, sql: str, *values: Any) -> str | None:
        """The first cell as text."""
        cell = self.run(sql, *values)[0][0]
        return None if cell is None else cell.decode()

    def insert(self, sql: str, *values: Any) -> int:
        """Insert a row; its id."""
        with closing(self._owner.cursor()) as cursor:
            cursor.execute(sql, values)
            return cursor.lastrowid or 0

    def user(self, *rights: str) -> str:
        """A new user with these rights (`{}` stands for the database); the URL to come in as that user."""
        name, password = f"msgx_{os.getpid()}_{next(_numbers)}", "p@ss:/word%"
        self._users.append(name)
        self.run(
            f"CREATE USER '{name}'@'%' IDENTIFIED BY '{password.replace('%', '%%')}'".replace("%%'", "%'")
        )
        for right in rights:
            self.run(f"GRANT {right.format(self.name)} TO '{name}'@'%'")
        parts = urlsplit(self.url)
        return f"mysql://{name}:{quote(password, safe='')}@{parts.hostname}:{parts.port}/{self.name}"

    def kill(self, user_url: str) -> int:
        """End all connections of a user; how many there were."""
        name = urlsplit(user_url).username
        found = self.run("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = %s", name)
        for (connection_id,) in found:
            self.run(f"KILL CONNECTION {int(connection_id)}")
        return len(found)

    def lock_out(self, user_url: str) -> None:
        """The user does not come in any more, and nobody of that name stays in."""
        self.run(f"ALTER USER {user_in(user_url)} ACCOUNT LOCK")
        self.kill(user_url)

    def let_in(self, user_url: str) -> None:
        """The user may come in again."""
        self.run(f"ALTER USER {user_in(user_url)} ACCOUNT UNLOCK")

    def reconnect(self) -> None:
        """After the server was away."""
        self.close()
        self._owner = connect(self.url)

    def close(self) -> None:
        """Close the owner's connection."""
        self._owner.close()

    def drop(self) -> None:
        """Remove the database and the users made here."""
        self.run(f"DROP DATABASE IF EXISTS `{self.name}`")
        for name in self._users:
            self.run(f"DROP USER '{name}'@'%'")


@contextmanager
def database_on(url: str, *, charset: str = "utf8mb4", tables: Sequence[str] = MAILBOX) -> Iterator[Database]:
    """A new database on this server with the mailbox tables; removed at the end."""
    name = f"msgx_test_{os.getpid()}_{next(_numbers)}"
    with closing(Database(urlsplit(url)._replace(path=f"/{name}").geturl(), name, connect(url))) as found:
        found.run(f"CREATE DATABASE `{name}` CHARACTER SET {charset}")
        try:
            found.run(f"USE `{name}`")
            for table in tables:
                found.run(table)
            yield found
        finally:
            found.drop()


@frozen
class PrivateMysql:
    """A server of the test's own; `server` freezes, kills and starts it, `url` is its administrator's."""

    url: str
    server: PrivateServer


@contextmanager
def private_mysql(*options: str) -> Iterator[PrivateMysql]:
    """MariaDB in a temporary folder, with options of `mariadbd`; skips or fails when that cannot be."""
    with ExitStack() as keep:
        try:
            private = keep.enter_context(_started(*options))
        except NotHere as why:
            base.unavailable("private MySQL", str(why))
        yield private


@contextmanager
def _started(*options: str) -> Iterator[PrivateMysql]:
    daemon = binary("mariadbd", "/usr/sbin", "/usr/libexec")
    install = binary("mariadb-install-db", "/usr/bin")
    user = base.unprivileged("mysql")
    with base.private_folder(user) as folder:
        _install(install, folder, user)
        port = base.free_port()
        url = f"mysql://root@127.0.0.1:{port}/mysql"
        command = [
            *(daemon, "--no-defaults", f"--datadir={folder}/data", f"--socket={folder}/s"),
            *(f"--port={port}", "--bind-address=127.0.0.1", f"--pid-file={folder}/pid"),
            *("--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci"),
            *("--max-allowed-packet=64M", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=48M"),
            *("--innodb-flush-log-at-trx-commit=2", "--skip-log-bin", "--performance-schema=OFF"),
            *options,
        ]
        server = PrivateServer(command, folder, lambda: _is_up(url), user)
        server.start()
        try:
            yield PrivateMysql(url, server)
        finally:
            server.stop()


def _install(install: str, folder: Path, user: str | None) -> None:
    options = ("--auth-root-authentication-method=normal", "--skip-test-db")
    command = [install, "--no-defaults", f"--datadir={folder}/data", *options]
    # Its temporary files have fixed names: two of them at once need two places.
    here = {**os.environ, "TMPDIR": str(folder)}
    done = subprocess.run(
        command, cwd=folder, env=here, user=user, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NotHere(f"mariadb-install-db failed: {done.stderr[-300:]}")


def _is_up(url: str) -> bool:
    try:
        answers(url)
    except Exception:
        return False
    return True


@contextmanager
def _private_url() -> Iterator[str]:
    with _started() as private:
        yield private.url


FINDER = Finder("MySQL", "MSGX_TEST_MYSQL", "mysql://root@127.0.0.1:3306/test", answers, _private_url)


@cache
def server_url() -> str:
    """The server that all tests of this process share."""
    keep = ExitStack()
    atexit.register(keep.close)
    return keep.enter_context(FINDER.found())


@contextmanager
def database(*, charset: str = "utf8mb4", tables: Sequence[str] = MAILBOX) -> Iterator[Database]:
    """A new database on the shared server, with the mailbox tables; skips or fails when there is none."""
    with database_on(server_url(), charset=charset, tables=tables) as found:
        yield found
