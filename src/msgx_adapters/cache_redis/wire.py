"""Connections to the server: borrowed, given back, thrown away after a failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import RedisError, ResponseError

from msgx_core.errors import Transient

from .errors import not_let_in, translate


class Wire(Protocol):
    """What we use of redis-py's `Connection`, which has no types."""

    def connect(self) -> None:
        """Connect and log in; nothing when that is done."""
        ...

    def send_command(self, *args: str | bytes | int) -> None:
        """Send one command."""
        ...

    def read_response(self) -> Any:
        """Its answer; errors of the server are raised."""
        ...

    def disconnect(self) -> None:
        """Close the socket. Idempotent."""
        ...


class Wires:
    """Idle connections, the last used first. A caller has one to itself while it talks.

    redis-py's client does the same with locks, polls and telemetry around each command; a message here is
    one command, so this is the hot path.
    """

    def __init__(self, make: Callable[[], Wire], account: str = "") -> None:
        """`make` gives connections; `account` is who comes in where, without the password."""
        self._make = make
        self._account = account
        self._idle: list[Wire] = []
        self._guard = threading.Lock()
        self._closed = False

    def ask(self, *command: str | bytes | int) -> Any:
        """The answer to one command that may be sent twice; raises what `translate` makes of errors.

        The server may have closed an idle connection long ago. That is no outage: the command goes out again
        on a new one, once, and not after a timeout.
        """
        wire = self._pop()
        if wire is not None:
            try:
                wire.send_command(*command)
                reply = wire.read_response()
            except ResponseError as error:
                self._push(wire)
                raise translate(error) from error
            except NoConnection:
                self._drop(wire)
            except (RedisError, UnicodeError) as error:
                self._drop(wire)
                raise translate(error) from error
            except BaseException:
                self._drop(wire)
                raise
            else:
                self._push(wire)
                return reply
        with self.one() as ask:
            return ask(*command)

    @contextmanager
    def one(self) -> Iterator[Callable[..., Any]]:
        """One new connection for as long as the context lasts: once it is broken, it stays broken."""
        wire = self._connected()
        in_step = True

        def ask(*command: str | bytes | int) -> Any:
            nonlocal in_step
            if not in_step:
                raise Transient("cache", "the connection broke")
            in_step = False
            try:
                wire.send_command(*command)
                reply = wire.read_response()
            except (RedisError, UnicodeError) as error:
                in_step = isinstance(error, ResponseError)
                raise translate(error) from error
            in_step = True
            return reply

        try:
            yield ask
        finally:
            if in_step:
                self._push(wire)
            else:
                self._drop(wire)

    def close(self) -> None:
        """Close what is idle now, and later what is in use. Idempotent."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for wire in idle:
            wire.disconnect()

    def _pop(self) -> Wire | None:
        with self._guard:
            if self._closed:
                raise Transient("cache", "closed")
            return self._idle.pop() if self._idle else None

    def _connected(self) -> Wire:
        if self._closed:
            raise Transient("cache", "closed")
        wire = self._make()
        try:
            wire.connect()
        except (RedisError, OSError) as error:
            self._drop(wire)
            raise not_let_in(self._account, error) from error
        return wire

    def _push(self, wire: Wire) -> None:
        with self._guard:
            if not self._closed:
                self._idle.append(wire)
                return
        wire.disconnect()

    def _drop(self, wire: Wire) -> None:
        """Others that are idle are as old as this one, or older."""
        with self._guard:
            idle, self._idle = self._idle, []
        for each in (wire, *idle):
            each.disconnect()
