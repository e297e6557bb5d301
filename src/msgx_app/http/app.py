"""The application: all operations, one shape of error, behind tokens, within limits."""

from __future__ import annotations

import traceback
from typing import Any

from litestar import Litestar, Response, Router
from litestar.di import Provide
from litestar.exceptions import HTTPException, ValidationException
from litestar.openapi import OpenAPIConfig

from msgx_app.answers.schemas import installed_version
from msgx_app.http.access import Guarded, TokenBook
from msgx_app.http.console.desk import Console
from msgx_app.http.console.door import is_console
from msgx_app.http.console.opening import Opened, open_console
from msgx_app.http.console.pulse import Pulse
from msgx_app.http.limits import App, Limited, Limits
from msgx_app.http.office import Office
from msgx_app.http.openapi import NoPages
from msgx_app.http.problems import FAULT, MEDIA_TYPE, Problem, problem_of
from msgx_app.http.replies import AnyRequest, handlers_in
from msgx_app.http.routes import about, flights, jobs, messages, operations, reference, sending
from msgx_app.http.watch import Watch
from msgx_core.ports import Telemetry

API = "/api/v1"
_API_ROUTES = (messages, flights, reference, operations, jobs)
_AT_ROOT = (about.live, about.ready, about.metrics, sending.send_message)


def application(
    office: Office, watch: Watch, telemetry: Telemetry, *, loopback: bool, pulse: Pulse | None = None
) -> App:
    """An ASGI application on an office. `loopback`: only this machine can reach it; no pulse: no console."""
    settings = office.settings.http
    book = TokenBook(settings.tokens, lambda: office.work(lambda desk: desk.store.tokens()), office.clock)
    limits = Limits(
        max_body_bytes=office.settings.sis.max_message_bytes,
        body_timeout_s=settings.body_timeout.total_seconds(),
        rate_per_s=settings.rate,
    )
    opened = None if pulse is None else open_console(office, watch, pulse, book, loopback=loopback)
    door = None if opened is None else opened.door
    app = litestar_app(office, watch, telemetry, opened)
    guarded = Guarded(app, book, loopback=loopback, door=door)
    return Limited(guarded, limits, office.clock, telemetry)


def litestar_app(office: Office, watch: Watch, telemetry: Telemetry, opened: Opened | None = None) -> Any:
    """The operations alone, and the pages if a console is opened."""

    def give_office() -> Office:
        return office

    def give_watch() -> Watch:
        return watch

    def fault(request: AnyRequest, error: Exception) -> Response[bytes]:
        telemetry.event("http-error", path=request.scope["path"], error=repr(error), traceback=_trace(error))
        return answer(request, FAULT)

    def answer(request: AnyRequest, problem: Problem) -> Response[bytes]:
        page = refuser.response(problem, request.scope) if refuser and is_console(request.scope) else None
        return _answer(request, problem) if page is None else page

    def give_console() -> Console | None:
        return None if opened is None else opened.console

    refuser = None if opened is None else opened.refuser
    pages = () if opened is None else opened.handlers
    own = [handler for module in _API_ROUTES for handler in handlers_in(vars(module))]
    return Litestar(
        route_handlers=[*_AT_ROOT, *pages, Router(API, route_handlers=[*own, about.status, about.openapi])],
        dependencies={
            "office": Provide(give_office, sync_to_thread=False),
            "watch": Provide(give_watch, sync_to_thread=False),
            "console": Provide(give_console, sync_to_thread=False),
        },
        lifespan=[] if opened is None else [opened.looking_on],
        exception_handlers={
            HTTPException: lambda request, error: answer(request, _http_problem(error)),
            Exception: lambda request, error: (
                fault(request, error) if (problem := problem_of(error)) is FAULT else answer(request, problem)
            ),
        },
        openapi_config=OpenAPIConfig(
            title="msgx",
            version=installed_version(),
            description="An airport's messages, the flights that came of them, and what operators do.",
            render_plugins=(NoPages(),),
            use_handler_docstrings=True,
        ),
        request_max_body_size=None,  # `Limited` counts, and answers in our own shape
        logging_config=None,
        debug=False,
    )


def _http_problem(error: HTTPException) -> Problem:
    """What litestar itself refuses."""
    detail = str(error.detail)
    if isinstance(error, ValidationException):
        wrong = [_place(each) for each in error.extra or () if isinstance(each, dict)]
        said = "; ".join(f"{each['key']}: {each['message']}" for each in wrong) or detail
        return Problem(422, said, more={"errors": wrong})
    return Problem(error.status_code, _words(error.status_code, detail), headers=dict(error.headers or {}))


def _place(extra: dict[str, Any]) -> dict[str, str]:
    return {"key": str(extra.get("key", "body")), "message": str(extra.get("message", "not legal"))}


def _words(status: int, detail: str) -> str:
    match status:
        case 404:
            return "there is nothing at this address"
        case 405:
            return "this address does not take that method"
        case _:
            return detail


def _answer(request: AnyRequest, problem: Problem) -> Response[bytes]:
    body = problem.body(request.scope["path"])
    return Response(body, media_type=MEDIA_TYPE, status_code=problem.status, headers=dict(problem.headers))


def _trace(error: Exception) -> str:
    return "".join(traceback.format_exception(error))
