"""One open connection: statements in, raw values out."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import cast

from attrs import frozen
from mysql.connector.connection import MySQLConnection
from mysql.connector.constants import ClientFlag
from mysql.connector.errors import Error

from msgx_core.errors import Rejected, Transient

from .errors import Busy, Forbidden, Gone, translated
from .statements import filled
from .target import Target

_BINARY = 63
"""The "character set" of columns of bytes."""

Value = int | str | bytes | None


@frozen
class Result:
    """What a statement gave: cells as the server sent them, and what it changed.

    `binary` tells columns of bytes from columns of text, whose cells are UTF-8.
    """

    rows: Sequence[Sequence[bytes | None]]
    binary: Sequence[bool]
    changed: int
    last_id: int


class Session:
    """Autocommit, and so no snapshot outlives a statement; every result is read to its end.

    The mode of the session is ours, whatever the server's default is: strict, so that nothing is cut to fit,
    and zero dates may be read and compared. Waiting for a row's or a table's lock ends before the driver
    would take the server for dead.
    """

    def __init__(self, target: Target, timeout_s: float) -> None:
        whole_s = max(1, math.ceil(timeout_s))
        wait = filled(__package__, "session").format(lock_wait_s=max(1, whole_s // 2))
        # The pure connection by name: the other one needs a C extension and falls back in silence.
        self._connection = MySQLConnection()
        try:
            with _translating(target.account):
                self._connection.connect(
                    **target.arguments,
                    autocommit=True,
                    sql_mode="STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION",
                    init_command=wait,
                    client_flags=[-ClientFlag.FOUND_ROWS],
                    allow_local_infile=False,
                    connection_timeout=whole_s,
                    read_timeout=whole_s,
                    write_timeout=whole_s,
                )
                # One for all statements: the driver asks the server before it makes a cursor.
                self._cursor = self._connection.cursor(raw=True)
        except BaseException:
            self.drop()
            raise

    def run(self, sql: str, values: Sequence[Value] = ()) -> Result:
        """Run one statement to its end. Raises `Transient` (`Gone`, `Busy`, …) or `Rejected`."""
        cursor = self._cursor
        with _translating():
            cursor.execute(sql, tuple(values))
            described = cursor.description or ()
            rows = cursor.fetchall() if described else []
            return Result(
                rows=cast("Sequence[Sequence[bytes | None]]", rows),
                binary=[column[8] == _BINARY for column in described],
                changed=cursor.rowcount,
                last_id=cursor.lastrowid or 0,
            )

    def ask(self) -> None:
        """Return when the connection is alive. Raises `Transient`."""
        with _translating():
            self._connection.cmd_ping()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end, roll back on any error. Begin with the change: no snapshot is wanted.

        After an error of the connection nothing is said any more: whoever drops it rolls back.
        """
        self.run("START TRANSACTION")
        try:
            yield
        except (Busy, Forbidden):
            self._end("ROLLBACK")
            raise
        except Transient:
            raise
        except Exception:
            self._end("ROLLBACK")
            raise
        self._end("COMMIT")

    def _end(self, sql: str) -> None:
        try:
            self.run(sql)
        except Rejected as error:
            raise Transient("mailbox", f"{sql} refused ({error.detail})") from error

    def close(self) -> None:
        """Take leave and close."""
        with suppress(Error, OSError):
            self._connection.close()

    def drop(self) -> None:
        """Close without a word: the other side may be frozen."""
        with suppress(Error, OSError):
            self._connection.shutdown()
        # The driver leaves a socket open that was never connected; what is shut down sends nothing any more.
        with suppress(Error, OSError):
            self._connection.close()


@contextmanager
def _translating(account: str = "") -> Iterator[None]:
    try:
        yield
    except Error as error:
        raise translated(error, account) from error
    except (OSError, IndexError, struct.error) as error:
        # The driver does not expect a connection that ends in the middle of a packet.
        raise Gone("mailbox", f"broken answer ({type(error).__name__} {error})") from error
