"""Connections: only so many, and none that says nothing, or sends heads or refused bodies without end."""

from __future__ import annotations

import asyncio

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_CONNECTIONS = 256
MAX_HEAD_BYTES = 64 * 1024
MAX_DRAINED_BYTES = 32 * 1024 * 1024
"""Of a body that was refused, so much is read and thrown away: else its sender would not see the answer."""

SILENT_S = 15.0
DRAIN_S = 5.0
_ONE_READ_BYTES = 256 * 1024


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's own, with bounds that it does not have. What breaks one is closed without an answer."""

    _head_bytes = 0
    _drained_bytes = 0
    _in_body = False
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it, unless there are too many."""
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
            return
        self._limit(SILENT_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._no_limit()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on what is within the bounds."""
        if self._in_body:
            if self.cycle.response_complete:
                self._drained_bytes += len(data)
        else:
            self._head_bytes += len(data)
        # One read may hold a head and the first part of its body.
        if (
            self._head_bytes > MAX_HEAD_BYTES + _ONE_READ_BYTES
            or self._drained_bytes > MAX_DRAINED_BYTES
            or self.transport.is_closing()
        ):
            self.transport.abort()
            return
        try:
            super().data_received(data)
        except (UnicodeDecodeError, httptools.HttpParserError):
            self.send_400_response("Invalid HTTP request received.")

    def on_headers_complete(self) -> None:
        """A request has begun."""
        self._head_bytes = 0
        self._in_body = True
        self._no_limit()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """A request has come whole."""
        self._in_body = False
        self._head_bytes = self._drained_bytes = 0
        self._no_limit()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """What is still to come of the body is not wanted."""
        if self._in_body:
            self._limit(DRAIN_S)
        super().on_response_complete()

    def _limit(self, seconds: float) -> None:
        self._no_limit()
        self._timer = self.loop.call_later(seconds, self._end_of_patience)

    def _no_limit(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_of_patience(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()
