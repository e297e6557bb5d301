"""One connection, straight on libpq. Every wait is bounded; after a broken one the connection is given up."""

from __future__ import annotations

import select
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import pq

from msgx_adapters.store_postgres.errors import Refusal
from msgx_adapters.store_postgres.statement import Statement
from msgx_adapters.store_postgres.values import BINARY_FORMAT, DECODERS, LENIENT_DECODERS, Encoded
from msgx_core.errors import Transient

if TYPE_CHECKING:
    from psycopg.pq.abc import PGconn, PGresult

Row = dict[str, Any]

_FIELD = pq.DiagnosticField
_GOOD = frozenset({pq.ExecStatus.TUPLES_OK, pq.ExecStatus.COMMAND_OK})


class Lost(Transient):
    """The connection is no more. What was sent may have been committed."""


class Silent(Lost):
    """Nothing came in time."""


class Refused(Exception):
    """The server answered with an error; the connection is good."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


Asked = tuple[Statement, Sequence[Encoded]]
Answer = list[Row] | Refused

Patience = Callable[[float], float]
"""Given how many seconds a wait has lasted, how many more to wait; raises when it is enough."""


class Link:
    """Not for several threads at once. `used_at` is when the last answer came, of the monotonic clock."""

    def __init__(self, raw: PGconn) -> None:
        self._raw = raw
        # By name: a statement that is made anew from the same text is prepared already.
        self._known: set[bytes] = set()
        self._shapes: dict[Statement, list[tuple[str, Callable[[bytes], Any]]]] = {}
        raw.nonblocking = 1
        self._poll = select.poll()
        self._poll.register(raw.socket, select.POLLIN)
        self.used_at = time.monotonic()

    @classmethod
    def open(cls, conninfo: bytes, timeout_s: float) -> Link:
        """Connect within `timeout_s`; `Lost` when that fails, with the server's or libpq's words."""
        end = time.monotonic() + timeout_s
        raw = pq.PGconn.connect_start(conninfo)
        try:
            wanted = pq.PollingStatus.WRITING
            while wanted is not pq.PollingStatus.OK:
                if raw.status == pq.ConnStatus.BAD or wanted is pq.PollingStatus.FAILED:
                    raise Lost("store", _words(raw))
                event = select.POLLOUT if wanted is pq.PollingStatus.WRITING else select.POLLIN
                _wait(raw.socket, event, end, timeout_s)
                wanted = pq.PollingStatus(raw.connect_poll())
            return cls(raw)
        except BaseException:
            raw.finish()
            raise

    def call(
        self, statement: Statement, values: Sequence[Encoded], patience: Patience, *, prepare: bool
    ) -> list[Row]:
        """Run one statement in a transaction of its own; its rows by column name.

        `Refused` when the server says no, `Lost` when nobody knows what has become of it.
        """
        data = [value[0] for value in values]
        formats = [value[1] for value in values]
        if prepare:
            name = statement.unique_name
            if name not in self._known:
                self._exchange(lambda: self._raw.send_prepare(name, statement.sql), patience)
                self._known.add(name)
            result = self._exchange(
                lambda: self._raw.send_query_prepared(name, data, formats, BINARY_FORMAT), patience
            )
        else:
            result = self._exchange(
                lambda: self._raw.send_query_params(statement.sql, data, None, formats, BINARY_FORMAT),
                patience,
            )
        return self._rows(statement, result)

    def knows(self, *statements: Statement) -> bool:
        """Whether the server has these prepared on this connection."""
        return all(statement.unique_name in self._known for statement in statements)

    def two(
        self, first: Asked, second: Asked, patience: Patience, meanwhile: Callable[[], None]
    ) -> list[Answer]:
        """Run two prepared statements, each in a transaction of its own, the second after the first.

        Both are sent before anything is waited for; `meanwhile` runs then. Each answer is the rows or the
        refusal. `Lost` when nobody knows what has become of them.
        """
        raw = self._raw
        try:
            raw.enter_pipeline_mode()
            for statement, values in (first, second):
                data, formats = [value[0] for value in values], [value[1] for value in values]
                raw.send_query_prepared(statement.unique_name, data, formats, BINARY_FORMAT)
                raw.pipeline_sync()
            waited_from = time.monotonic()
            if raw.flush():
                self._send_all(patience, waited_from)
            meanwhile()
            results = [self._until_sync(patience) for _ in range(2)]
            raw.exit_pipeline_mode()
        except psycopg.Error as error:
            raise Lost("store", " ".join(str(error).split())) from error
        return [
            self._answer(asked[0], result) for asked, result in zip((first, second), results, strict=True)
        ]

    def _until_sync(self, patience: Patience) -> PGresult | None:
        """What one of several statements came to."""
        waited_from = time.monotonic()
        found: PGresult | None = None
        while True:
            while self._raw.is_busy():
                self._await(self._poll, patience, waited_from)
                self._raw.consume_input()
            result = self._raw.get_result()
            if self._raw.status == pq.ConnStatus.BAD:
                raise Lost("store", _words(self._raw))
            if result is None:
                continue
            if result.status == pq.ExecStatus.PIPELINE_SYNC:
                return found
            found = result if found is None else found

    def _answer(self, statement: Statement, result: PGresult | None) -> Answer:
        try:
            return self._rows(statement, self._checked(result))
        except Refused as refused:
            return refused

    def script(self, sql: str, patience: Patience) -> None:
        """Run several statements without parameters in one transaction."""
        self._exchange(lambda: self._raw.send_query(sql.encode()), patience)

    def is_quiet(self) -> bool:
        """False when the server has said something unasked: it has given this connection up."""
        return not self._poll.poll(0)

    def close(self) -> None:
        """Close at once. Idempotent."""
        self._raw.finish()

    def cancel(self, timeout_s: float) -> None:
        """Ask the server to stop what runs here; nobody knows whether it did."""
        try:
            asked = self._raw.cancel_conn()
        except psycopg.Error:  # an old libpq
            return
        try:
            end = time.monotonic() + timeout_s
            asked.start()
            wanted = pq.PollingStatus.WRITING
            while wanted not in {pq.PollingStatus.OK, pq.PollingStatus.FAILED}:
                event = select.POLLOUT if wanted is pq.PollingStatus.WRITING else select.POLLIN
                _wait(asked.socket, event, end, timeout_s)
                wanted = pq.PollingStatus(asked.poll())
        finally:
            asked.finish()

    def _exchange(self, send: Callable[[], None], patience: Patience) -> PGresult:
        """Send, wait for all results; the last one, or the error."""
        raw = self._raw
        try:
            send()
            waited_from = time.monotonic()
            if raw.flush():
                self._send_all(patience, waited_from)
            last: PGresult | None = None
            while True:
                while raw.is_busy():
                    self._await(self._poll, patience, waited_from)
                    raw.consume_input()
                result = raw.get_result()
                if result is None:
                    break
                if last is None or last.status in _GOOD:
                    last = result
        except psycopg.Error as error:
            raise Lost("store", " ".join(str(error).split())) from error
        return self._checked(last)

    def _send_all(self, patience: Patience, waited_from: float) -> None:
        """A large statement: the server may say something before it has all of it."""
        both = select.poll()
        both.register(self._raw.socket, select.POLLIN | select.POLLOUT)
        while self._raw.flush():
            self._await(both, patience, waited_from)
            self._raw.consume_input()

    def _await(self, ready: Any, patience: Patience, waited_from: float) -> None:
        wait_s = patience(0.0)
        while not ready.poll(wait_s * 1000):
            wait_s = patience(time.monotonic() - waited_from)

    def _checked(self, result: PGresult | None) -> PGresult:
        raw = self._raw
        if raw.status == pq.ConnStatus.BAD or result is None:
            raise Lost("store", _words(raw))
        self.used_at = time.monotonic()
        if result.status in _GOOD:
            return result
        state = result.error_field(_FIELD.SQLSTATE)
        if state is None:
            raise Lost("store", _words(raw))
        detail = result.error_field(_FIELD.MESSAGE_DETAIL)
        message = result.error_field(_FIELD.MESSAGE_PRIMARY) or b""
        raise Refused(
            Refusal(
                state.decode(),
                message.decode(errors="replace"),
                None if detail is None else detail.decode(errors="replace"),
            )
        )

    def _rows(self, statement: Statement, result: PGresult) -> list[Row]:
        shape = self._shapes.get(statement)
        if shape is None:
            decoders = LENIENT_DECODERS if statement.lenient else DECODERS
            shape = [
                ((result.fname(n) or b"").decode().upper(), decoders[result.ftype(n)])
                for n in range(result.nfields)
            ]
            self._shapes[statement] = shape
        get = result.get_value
        rows = []
        for number in range(result.ntuples):
            row: Row = {}
            for column, (name, decode) in enumerate(shape):
                data = get(number, column)
                row[name] = None if data is None else decode(data)
            rows.append(row)
        return rows


def _wait(fd: int, event: int, end: float, timeout_s: float) -> None:
    ready = select.poll()
    ready.register(fd, event)
    left = end - time.monotonic()
    if left <= 0 or not ready.poll(left * 1000):
        raise Silent("store", f"no answer to a connection attempt within {timeout_s} s")


def _words(raw: PGconn) -> str:
    return " ".join(raw.get_error_message().split()) or "the connection was lost"
