"""Browsers come in here: by their session, by a bearer token, or as anybody on this machine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Any, Final
from urllib.parse import urlencode

from msgx_app.http.access import PRINCIPAL, Principal, TokenBook, bearer, only_own_pages, principal_here
from msgx_app.http.console.visits import COOKIE, Sessions, Visit, new_key
from msgx_app.http.limits import STREAM, Scope, Send
from msgx_app.http.problems import Problem

ROOT: Final = "/console"
SIGN_IN: Final = f"{ROOT}/sign-in"
OPEN: Final = (SIGN_IN, f"{ROOT}/static/", f"{ROOT}/choose")
"""What answers also who has not signed in, once there are tokens."""

VISIT: Final = "visit"
"""Where the state of a request has its `Visit`."""

Refuse = Callable[[Problem, Scope, Send], Awaitable[None]]


class ConsoleDoor:
    """`Door` for everything below /console, and for /."""

    def __init__(self, book: TokenBook, sessions: Sessions, refuse: Refuse, *, loopback: bool) -> None:
        self._book = book
        self._sessions = sessions
        self._refuse = refuse
        self._loopback = loopback

    def serves(self, scope: Scope) -> bool:
        """Whether it is an address of the console."""
        return is_console(scope)

    async def enter(self, scope: Scope, send: Send) -> bool:
        """Note who it is; a stranger is sent to sign in."""
        try:
            visit = await self._visit(scope)
            if visit.principal is None and not _is_open(scope["path"]):
                if scope["method"] in ("GET", "HEAD") and scope["path"] != STREAM and wants_page(scope):
                    await _to_sign_in(scope, send)
                    return False
                raise Problem(401, "sign in first", headers={"WWW-Authenticate": 'Bearer realm="msgx"'})
        except Problem as problem:
            await self._refuse(problem, scope, send)
            return False
        scope["state"][VISIT] = visit
        if visit.principal is not None:
            scope["state"][PRINCIPAL] = visit.principal
        return True

    async def still_in(self, scope: Scope) -> bool:
        """Whether a long request would be let in again, by the same name and with the same roles."""
        try:
            visit = await self._visit(scope)
        except Problem:
            return False
        return visit.principal is not None and visit.principal == scope["state"][PRINCIPAL]

    async def _visit(self, scope: Scope) -> Visit:
        await self._book.look()
        headers = dict(scope["headers"])
        only_own_pages(scope, headers)
        cookie = cookies_of(headers).get(COOKIE)
        key = cookie or new_key()
        here = principal_here(self._book, scope, headers, loopback=self._loopback)
        if here is not None:
            return Visit(key, cookie is None, here, signed_in=False)
        found = None if cookie is None else self._signed_in(cookie)
        if found is not None:
            return Visit(key, False, found, signed_in=True)
        if b"authorization" in headers:
            return Visit(key, cookie is None, bearer(self._book, headers), signed_in=False)
        return Visit(key, cookie is None, None, signed_in=False)

    def _signed_in(self, cookie: str) -> Principal | None:
        digest = self._sessions.token_of(cookie)
        if digest is None:
            return None
        found = self._book.holder_of(digest)
        if found is None and not self._book.known:
            raise self._book.unknown()
        return found


def is_console(scope: Mapping[str, Any]) -> bool:
    """Whether it is an address of the console, or the root."""
    path: str = scope["path"]
    return path in ("/", ROOT) or path.startswith(f"{ROOT}/")


def cookies_of(headers: Mapping[bytes, bytes]) -> dict[str, str]:
    """The cookies of a request; none when they cannot be read."""
    try:
        found = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1"))
    except CookieError:
        return {}
    return {name: morsel.value for name, morsel in found.items() if len(morsel.value) <= 128}


def wants_page(scope: Mapping[str, Any]) -> bool:
    """Whether a browser asks for something to show."""
    return b"text/html" in dict(scope["headers"]).get(b"accept", b"")


def _is_open(path: str) -> bool:
    return path == "/" or any(path == each or (each[-1] == "/" and path.startswith(each)) for each in OPEN)


async def _to_sign_in(scope: Scope, send: Send) -> None:
    query = scope.get("query_string", b"").decode("latin-1")
    target = scope["path"] + (f"?{query}" if query else "")
    where = f"{SIGN_IN}?{urlencode({'next': target})}" if target != ROOT else SIGN_IN
    headers = [(b"location", where.encode("latin-1")), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 303, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
