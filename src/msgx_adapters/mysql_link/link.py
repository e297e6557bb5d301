"""A connection for one role that comes back by itself after a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from msgx_core.errors import Rejected, Transient

from .errors import Busy, Forbidden, Gone
from .session import Session
from .target import Target

T = TypeVar("T")

_CONNECTION_IS_GOOD = (Rejected, Busy, Forbidden)


class Link:
    """One thread at a time. Connects at the first use and again after any failure of the connection.

    Each wait (for another thread, to connect, for an answer) is bounded by `timeout_s`, in whole seconds
    for the server's part.
    """

    def __init__(self, target: Target, timeout_s: float) -> None:
        self._target = target
        self._timeout_s = timeout_s
        self._guard = threading.Lock()
        self._session: Session | None = None
        self._closed = False

    def run(self, work: Callable[[Session], T], *, again: bool) -> T:
        """Do some short work on a connection that the server may have given up meanwhile.

        With `again` the work may be done twice: when the connection turns out to be gone, it is done once
        more on a new one. Otherwise a connection that was used before is asked first whether it lives.
        """
        with self._alone():
            used_before = self._session is not None
            try:
                if used_before and not again:
                    self._attempt(Session.ask)
                elif used_before:
                    return self._attempt(work)
            except Gone:
                pass
            return self._attempt(work)

    def close(self) -> None:
        """Close for good, after the work that is going on. Idempotent."""
        with self._guard:
            self._closed = True
            session, self._session = self._session, None
            if session is not None:
                session.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._guard.acquire(timeout=self._timeout_s):
            raise Transient("mailbox", f"another thread has used it for more than {self._timeout_s} s")
        try:
            if self._closed:
                raise Transient("mailbox", "closed")
            yield
        finally:
            self._guard.release()

    def _attempt(self, work: Callable[[Session], T]) -> T:
        if self._session is None:
            self._session = Session(self._target, self._timeout_s)
        try:
            return work(self._session)
        except _CONNECTION_IS_GOOD:
            raise
        except BaseException:
            # Whatever was interrupted, nobody knows what the connection would say next.
            self._session.drop()
            self._session = None
            raise
