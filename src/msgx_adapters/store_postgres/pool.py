"""The connections of one store object: few, opened when needed, given up as soon as one of them fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from msgx_adapters.store_postgres.errors import AGAIN, STALE_STATEMENT, translated
from msgx_adapters.store_postgres.link import Link, Lost, Patience, Refused, Row, Silent
from msgx_adapters.store_postgres.remedies import not_let_in
from msgx_adapters.store_postgres.statement import Statement, statement
from msgx_adapters.store_postgres.target import Target
from msgx_adapters.store_postgres.values import encoded
from msgx_core.errors import Conflict, MsgxError, Transient

MAX_LINKS = 12
_TRIES = 3
_TRUSTED_S = 0.5
"""A connection that has been idle for longer is looked at before it is used."""

_PROBE = statement("probe", "SELECT 1")
_FOREIGN_SETTING = "startup parameter"
_SERVER_SAYS = "FATAL:"
_STALE_PLAN = "cached plan must not change result type"


class Pool:
    """Safe for several threads; each call has a connection to itself.

    `timeout_s` bounds connecting and how long a server may be silent while nobody knows that it lives;
    `statement_timeout_s` bounds one statement on a server that does.
    """

    def __init__(
        self, target: Target, *, timeout_s: float, statement_timeout_s: float, prepare: bool
    ) -> None:
        self.target = target
        self.timeout_s = timeout_s
        self.statement_timeout_s = statement_timeout_s
        self._prepare = prepare
        self._server_settings = True
        self._idle: list[Link] = []
        self._busy: set[Link] = set()
        self._turn = threading.Condition()
        self._closed = False

    def rows(
        self, wanted: Statement, values: Mapping[str, Any], *, epoch: int | None = None, again: bool = False
    ) -> list[Row]:
        """Run one statement; its rows. With `again` once more when the connection was lost: for reads.

        Raises `Transient`, `Rejected`, `Conflict` or `Fenced` (with our `epoch`) by the table of errors.
        """
        given = [encoded(values[name]) for name in wanted.parameters]
        tries = 0
        while True:
            tries += 1
            prepare = self._prepare
            try:
                with self._link() as link:
                    return link.call(wanted, given, self._patience(), prepare=prepare)
            except Lost as error:
                if not again or tries > 1 or isinstance(error, Silent):
                    raise
            except Refused as error:
                if tries < _TRIES and self._may_run_again(error, prepare=prepare):
                    continue
                raise translated(error.refusal, epoch, self.target.account) from error

    def two(
        self,
        first: tuple[Statement, Mapping[str, Any]],
        second: tuple[Statement, Mapping[str, Any]],
        *,
        epoch: int | None,
        meanwhile: Callable[[], None],
    ) -> tuple[list[Row], list[Row] | Conflict] | None:
        """Two statements at once, each a transaction: the rows of both; the second may answer `Conflict`.

        None when that is not to be had now: nothing was asked then, or the first was rolled back and may run
        again. Raises as `rows` does; then any of the two may have taken place.
        """
        (one, its_values), (other, other_values) = first, second
        with self._link() as link:
            if not self._prepare or not link.knows(one, other):
                return None
            asked = (
                (one, [encoded(its_values[name]) for name in one.parameters]),
                (other, [encoded(other_values[name]) for name in other.parameters]),
            )
            done, then = link.two(*asked, self._patience(), meanwhile)
        if isinstance(done, Refused):
            if self._may_run_again(done, prepare=True):
                return None
            raise translated(done.refusal, epoch, self.target.account) from done
        if not isinstance(then, Refused):
            return done, then
        error = translated(then.refusal, epoch, self.target.account)
        if isinstance(error, Conflict):
            return done, error
        raise error from then

    def script(self, sql: str) -> None:
        """Run a script in one transaction."""
        try:
            with self._link() as link:
                link.script(sql, self._patience())
        except Refused as error:
            raise translated(error.refusal, account=self.target.account) from error

    def close(self) -> None:
        """Close all; what runs is asked to stop. Idempotent; calls after it raise `Transient`."""
        with self._turn:
            self._closed = True
            links, self._idle = self._idle, []
            running = list(self._busy)
        for link in links:
            link.close()
        for link in running:
            with suppress(MsgxError):
                link.cancel(min(self.timeout_s, 1.0))

    def _may_run_again(self, error: Refused, *, prepare: bool) -> bool:
        """Whether the statement was rolled back for a reason that is over with the next try."""
        refusal = error.refusal
        if refusal.sqlstate in STALE_STATEMENT and prepare:
            # A pooler that does not know of prepared statements.
            self._prepare = False
            self._forget_idle()
            return True
        if refusal.message == _STALE_PLAN:
            self._forget_idle()
            return True
        return refusal.sqlstate in AGAIN

    @contextmanager
    def _link(self) -> Iterator[Link]:
        """A connection for one call; given back when it is good, closed when it is not."""
        link = self._take()
        good = False
        try:
            yield link
            good = True
        except Refused as error:
            good = error.refusal.sqlstate not in STALE_STATEMENT and error.refusal.message != _STALE_PLAN
            raise
        finally:
            self._give_back(link, good=good)

    def _take(self) -> Link:
        end = time.monotonic() + self.timeout_s
        with self._turn:
            while not self._closed and not self._idle and len(self._busy) >= MAX_LINKS:
                if not self._turn.wait(end - time.monotonic()):
                    raise Transient("store", f"all {MAX_LINKS} connections are busy")
            if self._closed:
                raise Transient("store", "closed")
            while self._idle:
                link = self._idle.pop()
                if time.monotonic() - link.used_at < _TRUSTED_S or link.is_quiet():
                    self._busy.add(link)
                    return link
                link.close()
        link = self._open()
        with self._turn:
            self._busy.add(link)
        return link

    def _give_back(self, link: Link, *, good: bool) -> None:
        with self._turn:
            self._busy.discard(link)
            if good and not self._closed:
                self._idle.append(link)
            else:
                link.close()
            self._turn.notify()
        if not good:
            # What broke one connection has probably broken the others.
            self._forget_idle()

    def _forget_idle(self) -> None:
        with self._turn:
            links, self._idle = self._idle, []
        for link in links:
            link.close()

    def _open(self) -> Link:
        """Connect, with limits of the server's own where it takes them: a pooler may not."""
        if self._server_settings:
            try:
                return self._connect(self._limits())
            except Lost as error:
                if _FOREIGN_SETTING not in error.detail:
                    raise
            self._server_settings = False
        return self._connect({})

    def _connect(self, settings: Mapping[str, str]) -> Link:
        try:
            return Link.open(self.target.conninfo(self.timeout_s, settings), self.timeout_s)
        except Lost as error:
            # Of the same kind: who asks whether the server lives wants to know whether it said something.
            raise type(error)("store", not_let_in(self.target.account, error.detail)) from error

    def _limits(self) -> Mapping[str, str]:
        milliseconds = str(round(self.statement_timeout_s * 1000))
        idle = str(round(self.timeout_s * 1000))
        return {"statement_timeout": milliseconds, "idle_in_transaction_session_timeout": idle}

    def _patience(self) -> Patience:
        """The watchdog of one call: a server that is silent must show on another connection that it lives."""

        def wait_on(waited_s: float) -> float:
            if waited_s == 0:
                return self.timeout_s
            if waited_s >= self.statement_timeout_s + self.timeout_s:
                raise Lost("store", f"no answer within {self.statement_timeout_s} s")
            self._probe()
            return self.timeout_s

        return wait_on

    def _probe(self) -> None:
        """Ask on another connection; `Silent` when nothing comes. A refusal is an answer."""

        def once(waited_s: float) -> float:
            if waited_s == 0:
                return self.timeout_s
            raise Silent("store", f"the server has been silent for more than {self.timeout_s} s")

        try:
            link = self._open()
        except Silent:
            raise
        except Lost as error:
            if _SERVER_SAYS in error.detail:
                return
            raise
        try:
            link.call(_PROBE, [], once, prepare=False)
        finally:
            link.close()
