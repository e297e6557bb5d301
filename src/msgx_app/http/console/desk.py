"""What every page of the console is made with: who looks, what is shown, and where one goes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit

from attrs import evolve, frozen
from litestar import Response, get, post
from litestar.datastructures import Cookie
from litestar.di import NamedDependency
from litestar.params import SkipValidation

from msgx_app.http.console.door import ROOT, VISIT, cookies_of
from msgx_app.http.console.forms import Form, read_form
from msgx_app.http.console.pulse import Pulse
from msgx_app.http.console.render import THEMES, Look, Renderer
from msgx_app.http.console.visits import COOKIE, Sessions, Visit
from msgx_app.http.console.words import language_of
from msgx_app.http.office import Desk, Office
from msgx_app.http.replies import AnyRequest, Decorator, needs
from msgx_app.http.watch import Watch
from msgx_core.ports import ApiRole
from msgx_core.ports.operations import OperatorResult

T = TypeVar("T")
LANGUAGE: Final = "msgx_language"
THEME: Final = "msgx_theme"
CHOICE_LASTS_S: Final = 365 * 24 * 3600
PAGE_ROWS: Final = 50
HEADERS: Final = {"Referrer-Policy": "same-origin", "Vary": "Cookie, Accept-Language"}
"""With the policy of the other answers browsers would not say where a form comes from."""

_HTML: Final = "text/html; charset=utf-8"


@frozen
class Console:
    """The parts of the console."""

    office: Office
    watch: Watch
    sessions: Sessions
    renderer: Renderer
    pulse: Pulse

    def look(self, scope: Mapping[str, Any]) -> Look:
        """For whom a page is made."""
        headers = dict(scope["headers"])
        cookies = cookies_of(headers)
        accepted = headers.get(b"accept-language", b"").decode("latin-1")
        words = self.renderer.words[language_of(cookies.get(LANGUAGE), accepted)]
        theme = cookies.get(THEME, "")
        look = Look(words, theme if theme in THEMES else THEMES[0], _here(scope, headers), "")
        visit: Visit | None = scope.get("state", {}).get(VISIT)
        if visit is None:
            return look
        last = self.pulse.last
        look = evolve(look, mark=self.sessions.mark(visit.key), signed_in=visit.signed_in)
        if visit.principal is None:
            return look
        look = evolve(look, principal=visit.principal)
        return evolve(look, badges=last.badges, store_up=last.store_up) if look.may_read else look

    async def show(
        self,
        request: AnyRequest,
        template: str,
        make: Callable[[Desk], Mapping[str, Any]],
        *,
        status: int = 200,
    ) -> Response[bytes]:
        """A page of what `make` finds in the store; both are done in a worker thread."""
        look = self._noticed(request)
        body = await self.office.work(lambda desk: self.renderer.page(template, look, make(desk)))
        return self.answer(request, body, status=status)

    async def show_plain(
        self, request: AnyRequest, template: str, values: Mapping[str, Any], *, status: int = 200
    ) -> Response[bytes]:
        """A page that needs no store."""
        look = self._noticed(request)
        body = await self.office.without_store(lambda: self.renderer.page(template, look, values))
        return self.answer(request, body, status=status)

    def answer(self, request: AnyRequest, body: bytes, *, status: int = 200) -> Response[bytes]:
        """A page as an answer; a browser that is here for the first time gets its cookie."""
        visit: Visit = request.scope["state"][VISIT]
        cookies = [cookie(request, COOKIE, visit.key)] if visit.fresh else []
        return Response(body, media_type=_HTML, status_code=status, headers=HEADERS, cookies=cookies)

    async def form(self, request: AnyRequest) -> Form:
        """What a form of ours sent. Raises `Problem`."""
        return await read_form(request, self.sessions)

    async def act(
        self, request: AnyRequest, act: Callable[[Desk], Sequence[OperatorResult]], *, done: str, back: str
    ) -> Response[bytes]:
        """Do something to several things, then show `back` with `done.<done>`; what was refused is told."""
        found = await self.office.work(act)
        refused = [each for each in found if each.refused is not None]
        if refused:
            values = {"results": found, "refused": refused, "done": done, "back": back}
            return await self.show_plain(request, "refused.html", values, status=409)
        return go(with_query(back, done=done, n=len(found)))

    def _noticed(self, request: AnyRequest) -> Look:
        """With what was done a moment ago, as the address says; only texts of ours are shown."""
        look = self.look(request.scope)
        done, count = request.query_params.get("done"), request.query_params.get("n", "1")
        key = f"done.{done}"
        if done is None or key not in look.words.texts or not count.isascii() or not count.isdigit():
            return look
        return evolve(look, notice=("good", look.words(key, n=int(count[:9]))))


GivenConsole = NamedDependency[SkipValidation[Console]]


def shows(path: str, *, role: ApiRole = ApiRole.READER) -> Decorator:
    """A page."""
    return get(path, guards=[needs(role)], include_in_schema=False, cache=False)


def takes(path: str, *, role: ApiRole = ApiRole.OPERATOR) -> Decorator:
    """Where a form goes."""
    return post(path, guards=[needs(role)], include_in_schema=False, status_code=200)


def go(where: str, *cookies: Cookie) -> Response[bytes]:
    """Go on to another page of the console."""
    headers = {**HEADERS, "Location": where}
    return Response(b"", status_code=303, headers=headers, cookies=list(cookies), media_type=_HTML)


def cookie(request: AnyRequest, name: str, value: str, *, lasts_s: int | None = None) -> Cookie:
    """For our pages alone; over HTTPS only, if that is how we are reached."""
    headers = request.headers
    secure = "https" in (
        request.scope["scheme"],
        headers.get("x-forwarded-proto", "").strip().lower(),
        urlsplit(headers.get("origin", "")).scheme,
    )
    return Cookie(
        key=name,
        value=value,
        path=ROOT,
        max_age=lasts_s,
        httponly=True,
        samesite="strict",
        secure=secure,
    )


def inside(target: str) -> str:
    """An address of the console that a browser may be sent to; the overview for any other."""
    parts = urlsplit(target)
    is_ours = target == ROOT or target.startswith((f"{ROOT}/", f"{ROOT}?"))
    odd = parts.scheme or parts.netloc or "\\" in target or not target.isprintable() or not target.isascii()
    return ROOT if odd or not is_ours or len(target) > 2000 else target


def with_query(path: str, **more: object) -> str:
    """An address with more in its query; None takes a name out."""
    parts = urlsplit(path)
    kept = [(name, value) for name, value in parse_qsl(parts.query) if name not in more]
    query = urlencode([*kept, *((name, value) for name, value in more.items() if value is not None)])
    return f"{parts.path}?{query}" if query else parts.path


def _here(scope: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> str:
    """The address of the page; of an answer to a form, the page that the form was on."""
    if scope["method"] == "POST":
        parts = urlsplit(headers.get(b"referer", b"").decode("latin-1"))
        return inside(with_query(parts.path + (f"?{parts.query}" if parts.query else ""), done=None, n=None))
    query = scope.get("query_string", b"").decode("latin-1")
    return str(scope["path"]) + (f"?{query}" if query else "")


@frozen
class PageOf:
    """Some rows, and where the next ones are; `first` None: these are the first."""

    rows: Sequence[Any]
    next: str | None
    first: str | None


def page_of(
    here: str,
    after: object,
    fetch: Callable[[int], Sequence[T]],
    cursor: Callable[[T], object],
    most: int = PAGE_ROWS,
) -> PageOf:
    """At most so many rows; `here` is the address of this page, its `after` says where it begins."""
    rows = fetch(most + 1)
    more = len(rows) > most
    here = with_query(here, done=None, n=None)
    following = with_query(here, after=cursor(rows[most - 1])) if more else None
    first = None if after is None else with_query(here, after=None)
    return PageOf(rows[:most], following, first)
