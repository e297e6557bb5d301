"""Signing in and out, language and colours, and the stream that refreshes pages."""

from __future__ import annotations

from functools import partial
from typing import Final

from litestar import Response, get, post
from litestar.datastructures import Cookie
from litestar.response import Stream

from msgx_app.answers.tokens import digest_of
from msgx_app.http.access import TokenBook
from msgx_app.http.console.desk import (
    CHOICE_LASTS_S,
    HEADERS,
    LANGUAGE,
    THEME,
    GivenConsole,
    cookie,
    go,
    inside,
    shows,
)
from msgx_app.http.console.door import ROOT, SIGN_IN, VISIT, ConsoleDoor
from msgx_app.http.console.render import THEMES
from msgx_app.http.console.visits import COOKIE, Visit
from msgx_app.http.console.words import LANGUAGES
from msgx_app.http.limits import STREAM
from msgx_app.http.problems import Problem
from msgx_app.http.replies import AnyRequest

MAX_TOKEN: Final = 200


def entry_handlers(book: TokenBook, door: ConsoleDoor) -> list[object]:
    """All of them."""

    @post(SIGN_IN, include_in_schema=False, status_code=200)
    async def sign_in(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
        """Begin a session with a token; the cookie is another than before."""
        form = await console.form(request)
        target = inside(form.one("next", ROOT))
        token = form.one("token").strip()
        found = book.find(token) if 0 < len(token) <= MAX_TOKEN else None
        if found is None:
            if not book.known:
                raise book.unknown()
            values = {"target": target, "wrong": True}
            return await console.show_plain(request, "sign-in.html", values, status=403)
        console.sessions.end(_visit(request).key)
        key = console.sessions.begin(digest_of(token))
        return go(target, cookie(request, COOKIE, key))

    @shows(STREAM)
    async def stream(request: AnyRequest, console: GivenConsole) -> Stream:
        """Server-sent events: what has changed, as long as whoever looks may."""
        console.pulse.check_room()
        headers = {**HEADERS, "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        events = console.pulse.stream(partial(door.still_in, dict(request.scope)))
        return Stream(events, media_type="text/event-stream", headers=headers)

    return [to_console, sign_in_page, sign_in, sign_out, choose, stream]


@get("/", include_in_schema=False)
async def to_console() -> Response[bytes]:
    """The console is what a browser looks for here."""
    return go(ROOT)


@get(SIGN_IN, include_in_schema=False)
async def sign_in_page(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Where a token is asked for; who is in goes on."""
    target = inside(request.query_params.get("next", ROOT))
    if _visit(request).principal is not None:
        return go(target)
    return await console.show_plain(request, "sign-in.html", {"target": target, "wrong": False})


@post(f"{ROOT}/sign-out", include_in_schema=False, status_code=200)
async def sign_out(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """End the session."""
    await console.form(request)
    console.sessions.end(_visit(request).key)
    gone = Cookie(key=COOKIE, value="", path=ROOT, max_age=0, httponly=True, samesite="strict")
    return go(SIGN_IN, gone)


@post(f"{ROOT}/choose", include_in_schema=False, status_code=200)
async def choose(request: AnyRequest, console: GivenConsole) -> Response[bytes]:
    """Language and colours, remembered by the browser."""
    form = await console.form(request)
    chosen = []
    for name, field, known in ((LANGUAGE, "language", LANGUAGES), (THEME, "theme", THEMES)):
        value = form.one(field)
        if not value:
            continue
        if value not in known:
            raise Problem(422, f"{field}: one of {', '.join(known)}")
        chosen.append(cookie(request, name, value, lasts_s=CHOICE_LASTS_S))
    return go(inside(form.one("here", ROOT)), *chosen)


def _visit(request: AnyRequest) -> Visit:
    found: Visit = request.scope["state"][VISIT]
    return found
