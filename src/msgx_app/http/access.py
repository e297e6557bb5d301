"""Who asks, and what they may: bearer tokens, or everything from this machine while there are no tokens."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final, Protocol
from urllib.parse import urlsplit

from attrs import evolve, frozen

from msgx_app.answers.tokens import digest_of
from msgx_app.http.limits import HEALTH, App, Receive, Scope, Send, answer_problem
from msgx_app.http.problems import Problem, busy, problem_of
from msgx_app.settings.network import Token
from msgx_core.ports import ApiRole, ApiToken, Clock

PRINCIPAL: Final = "principal"
"""Where the state of a request has its `Principal`."""

LOCAL: Final = "local"
REFRESH_S: Final = 2.0
"""So soon a new token works and a revoked one does not."""

PATIENCE_S: Final = 1.0
"""While the store is silent, so long a request waits for the newest list before the last one is good."""

_READS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LOCAL_HOST: Final = re.compile(
    rb"(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?", re.ASCII | re.IGNORECASE
)
_FOREIGN: Final = frozenset({b"cross-site", b"same-site"})


@frozen
class Principal:
    """Who asks: the name goes into the audit."""

    name: str
    roles: frozenset[ApiRole]

    def check(self, role: ApiRole) -> None:
        """Raises a `Problem` when that role is not among theirs."""
        if role not in self.roles:
            have = ", ".join(sorted(each.value for each in self.roles))
            raise Problem(403, f"this needs the role {role.value}; {self.name} has {have}")


ANYBODY_HERE: Final = Principal(LOCAL, frozenset(ApiRole))
_INCLUDED: Final[Mapping[ApiRole, frozenset[ApiRole]]] = {
    ApiRole.READER: frozenset({ApiRole.READER}),
    ApiRole.SENDER: frozenset({ApiRole.SENDER}),
    ApiRole.OPERATOR: frozenset({ApiRole.OPERATOR, ApiRole.READER}),
}


class TokenBook:
    """All tokens that are good now: those of the settings, and those of the store as of a moment ago.

    While the store does not answer, those last seen stay good. Of one event loop.
    """

    def __init__(
        self, given: Iterable[Token], fetch: Callable[[], Awaitable[Sequence[ApiToken]]], clock: Clock
    ) -> None:
        self._given = {t.sha256: _principal(t.name, ApiRole(t.role)) for t in given}
        self._fetch = fetch
        self._clock = clock
        self._kept: dict[str, Principal] | None = None
        self._problem: Problem | None = None
        self._asked_at_s = float("-inf")
        self._asking: asyncio.Future[None] | None = None

    async def look(self) -> None:
        """Ask the store, unless that was done a moment ago; an answer that is late is not waited for."""
        if self._asking is None:
            if self._clock.monotonic_s() - self._asked_at_s < REFRESH_S:
                return
            self._asking = asyncio.ensure_future(self._ask())
        await asyncio.wait({self._asking}, timeout=PATIENCE_S if self.known else None)

    async def _ask(self) -> None:
        try:
            tokens = await self._fetch()
            self._kept = {t.sha256: _principal(t.name, t.role) for t in tokens if t.revoked_at is None}
            self._problem = None
        except Exception as error:
            self._problem = problem_of(error)
        finally:
            self._asked_at_s = self._clock.monotonic_s()
            self._asking = None

    @property
    def known(self) -> bool:
        """Whether the store has ever told its tokens."""
        return self._kept is not None

    @property
    def empty(self) -> bool:
        """Whether there is no token at all, as far as is known."""
        return not self._given and not self._kept

    def unknown(self) -> Problem:
        """Why the tokens of the store are not known."""
        why = self._problem.detail if self._problem is not None else "the store was not asked yet"
        found = busy(f"tokens cannot be checked: {why}")
        return found if self._problem is None else evolve(found, more=self._problem.more)

    def find(self, token: str) -> Principal | None:
        """Whose token it is."""
        return self.holder_of(digest_of(token))

    def holder_of(self, digest: str) -> Principal | None:
        """Whose token has that digest."""
        return self._given.get(digest) or (self._kept or {}).get(digest)


class Guarded:
    """An ASGI application behind the tokens. Health needs none; `door` lets browsers in to the console."""

    def __init__(self, app: App, book: TokenBook, *, loopback: bool, door: Door | None = None) -> None:
        self._app = app
        self._book = book
        self._loopback = loopback
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through that may come in, with its `Principal`."""
        if scope["type"] == "http" and not scope["path"].startswith(HEALTH):
            scope.setdefault("state", {})
            if self._door is not None and self._door.serves(scope):
                if not await self._door.enter(scope, send):
                    return
            else:
                try:
                    scope["state"][PRINCIPAL] = await self._principal(scope)
                except Problem as problem:
                    await answer_problem(problem, scope, send)
                    return
        await self._app(scope, receive, send)

    async def _principal(self, scope: Scope) -> Principal:
        await self._book.look()
        headers = dict(scope["headers"])
        return principal_here(self._book, scope, headers, loopback=self._loopback) or bearer(
            self._book, headers
        )


class Door(Protocol):
    """Another way in, for browsers."""

    def serves(self, scope: Scope) -> bool:
        """Whether this request comes in here."""
        ...

    async def enter(self, scope: Scope, send: Send) -> bool:
        """Whether it may go on; otherwise it was answered."""
        ...


def principal_here(
    book: TokenBook, scope: Scope, headers: Mapping[bytes, bytes], *, loopback: bool
) -> Principal | None:
    """Anybody on this machine while there are no tokens; None: there are some. Raises `Problem`."""
    if not book.empty:
        return None
    if not loopback:
        raise Problem(
            403, "without tokens nothing but health is answered here: `msgx token create` makes one"
        )
    # Also while the store cannot be asked: then nobody may be let in who would need a token.
    if not book.known:
        raise book.unknown()
    _only_from_here(scope, headers)
    return ANYBODY_HERE


def bearer(book: TokenBook, headers: Mapping[bytes, bytes]) -> Principal:
    """Whose token the request has. Raises `Problem`."""
    scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise _unauthorized("a bearer token is needed")
    found = book.find(token.strip())
    if found is None:
        raise _unauthorized("this token is not known, or was revoked") if book.known else book.unknown()
    return found


def _principal(name: str, role: ApiRole) -> Principal:
    return Principal(name, _INCLUDED[role])


def _unauthorized(detail: str) -> Problem:
    return Problem(401, detail, headers={"WWW-Authenticate": 'Bearer realm="msgx"'})


def _only_from_here(scope: Scope, headers: Mapping[bytes, bytes]) -> None:
    """A page of another site must not use the browser of somebody here to get in."""
    if not _LOCAL_HOST.fullmatch(headers.get(b"host", b"")):
        raise Problem(403, "without tokens only localhost, 127.0.0.1 or [::1] may be asked by name")
    only_own_pages(scope, headers)


def only_own_pages(scope: Scope, headers: Mapping[bytes, bytes]) -> None:
    """What changes something comes from a page of ours, or from no page. Raises `Problem`."""
    if scope["method"] in _READS:
        return
    origin = headers.get(b"origin")
    foreign = origin is not None and urlsplit(origin).netloc != headers.get(b"host", b"")
    if foreign or headers.get(b"sec-fetch-site") in _FOREIGN:
        raise Problem(403, "a page of another site may not act here")
