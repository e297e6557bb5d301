"""The outermost layer: how much a request may be, how often, how many at once; and the headers of answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from attrs import define, frozen

from msgx_app.http.headers import completed
from msgx_app.http.problems import FAULT, MEDIA_TYPE, Problem, busy
from msgx_app.http.rates import Rates
from msgx_core.ports import Clock, Telemetry

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_ACTIVE = 64
MAX_ACTIVE_PER_CLIENT = 16
MAX_BODIES_BYTES = 64 * 1024 * 1024
"""Of all bodies that are being received or worked on, together."""

HEALTH = "/health/"
STREAM = "/console/stream"
"""It stays open, and whoever answers it bounds how many there are: it is no request that is under way."""


@frozen
class Limits:
    """The bounds that a setting can move."""

    max_body_bytes: int
    body_timeout_s: float
    rate_per_s: float


@define
class _Body:
    """What came of a request's body so far."""

    bytes: int = 0
    whole: bool = False


class Limited:
    """An ASGI application within its bounds. Of one event loop."""

    def __init__(self, app: App, limits: Limits, clock: Clock, telemetry: Telemetry) -> None:
        self._app = app
        self._limits = limits
        self._clock = clock
        self._telemetry = telemetry
        self._rates = Rates(clock, limits.rate_per_s)
        self._active = 0
        self._bodies_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1003})
            return
        client = _client_of(scope)
        answer = _Answer(send, scope)
        started_s = self._clock.monotonic_s()
        refusal = self._refusal(scope, client)
        if refusal is not None:
            why, problem = refusal
            self._telemetry.count("msgx.http.refused", why=why)
            await answer.problem(problem)
        else:
            await self._admitted(scope, receive, answer, client)
            if scope["path"] != STREAM:
                self._telemetry.observe("msgx.http.duration", self._clock.monotonic_s() - started_s)
        self._telemetry.count("msgx.http.requests", status=f"{answer.status // 100}xx")

    async def _admitted(self, scope: Scope, receive: Receive, answer: _Answer, client: str) -> None:
        body = _Body()
        stays = scope["path"] == STREAM
        self._active += not stays
        try:
            await self._app(scope, self._metered(receive, body), answer.send)
        except Exception:
            # The application answers its own errors: this one is a fault, or a client that went away.
            if answer.status == 0:
                await answer.problem(FAULT)
        finally:
            self._active -= not stays
            self._bodies_bytes -= body.bytes
            if not stays:
                self._rates.leave(client)

    def _refusal(self, scope: Scope, client: str) -> tuple[str, Problem] | None:
        """Why this request is not looked at; None: it is, and counts as the client's from now on."""
        length = _length_of(scope)
        most = self._limits.max_body_bytes
        if length is None or length > most:
            detail = f"at most {most} bytes are taken" if length else "Content-Length is no number"
            return "body", Problem(413 if length else 400, detail)
        if self._active >= MAX_ACTIVE or self._bodies_bytes + length > MAX_BODIES_BYTES:
            return "busy", busy("too many requests are under way", after_s=1)
        if not scope["path"].startswith(HEALTH):
            wait_s = self._rates.wait_s(client)
            if wait_s > 0:
                text = f"more than {self._limits.rate_per_s:g} requests a second from {client}"
                return "rate", busy(text, status=429, after_s=int(wait_s) + 1)
        if scope["path"] != STREAM and not self._rates.enter(client, MAX_ACTIVE_PER_CLIENT):
            return "rate", busy(
                f"{MAX_ACTIVE_PER_CLIENT} requests of {client} are under way", status=429, after_s=1
            )
        return None

    def _metered(self, receive: Receive, body: _Body) -> Receive:
        ends_at_s = self._clock.monotonic_s() + self._limits.body_timeout_s

        async def metered() -> Message:
            if body.whole:
                return await receive()
            left_s = ends_at_s - self._clock.monotonic_s()
            try:
                message = await asyncio.wait_for(receive(), max(left_s, 0.001))
            except TimeoutError:
                self._telemetry.count("msgx.http.refused", why="slow")
                seconds = f"{self._limits.body_timeout_s:g}"
                raise Problem(408, f"the request did not arrive within {seconds} s") from None
            if message["type"] != "http.request":
                return message
            body.whole = not message.get("more_body", False)
            self._grow(body, len(message.get("body", b"")))
            return message

        return metered

    def _grow(self, body: _Body, more: int) -> None:
        body.bytes += more
        self._bodies_bytes += more
        if body.bytes > self._limits.max_body_bytes:
            self._telemetry.count("msgx.http.refused", why="body")
            raise Problem(413, f"at most {self._limits.max_body_bytes} bytes are taken")
        if self._bodies_bytes > MAX_BODIES_BYTES:
            self._telemetry.count("msgx.http.refused", why="busy")
            raise busy("too many large requests are under way")


class _Answer:
    """Where an answer goes; adds the headers and remembers the status. 0: nothing was answered yet."""

    def __init__(self, send: Send, scope: Scope) -> None:
        self._send = send
        self._scope = scope
        self.status = 0

    async def send(self, message: Message) -> None:
        """Pass on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message = {**message, "headers": completed(list(message.get("headers", ())))}
        await self._send(message)

    async def problem(self, problem: Problem) -> None:
        """Answer with a problem."""
        await answer_problem(problem, self._scope, self.send)


async def answer_problem(problem: Problem, scope: Scope, send: Send) -> None:
    """The whole answer to a request that has a problem."""
    body = problem.body(scope["path"])
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", str(len(body)).encode())]
    headers += [(name.lower().encode(), value.encode()) for name, value in problem.headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _client_of(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "unknown"


def _length_of(scope: Scope) -> int | None:
    """The declared length of the body; 0 when none is; None when it is no number."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() and len(value) < 20 else None
    return 0
