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
from msgx_app.http.limits import App, Limited, Limits
from msgx_app.http.office import Office
from msgx_app.http.problems import FAULT, MEDIA_TYPE, Problem, problem_of
from msgx_app.http.replies import AnyRequest, handlers_in
from msgx_app.http.routes import about, flights, jobs, messages, operations, reference, sending
from msgx_app.http.watch import Watch
from msgx_core.ports import Telemetry

API = "/api/v1"
_API_ROUTES = (messages, flights, reference, operations, jobs)
_AT_ROOT = (about.live, about.ready, about.metrics, sending.send_message)


def application(office: Office, watch: Watch, telemetry: Telemetry, *, loopback: bool) -> App:
    """An ASGI application on an office. `loopback`: only this machine can reach it."""
    settings = office.settings.http
    book = TokenBook(settings.tokens, lambda: office.work(lambda desk: desk.store.tokens()), office.clock)
    limits = Limits(
        max_body_bytes=office.settings.sis.max_message_bytes,
        body_timeout_s=settings.body_timeout.total_seconds(),
        rate_per_s=settings.rate,
    )
    guarded = Guarded(litestar_app(office, watch, telemetry), book, loopback=loopback)
    return Limited(guarded, limits, office.clock, telemetry)


def litestar_app(office: Office, watch: Watch, telemetry: Telemetry) -> Any:
    """The operations alone."""

    def give_office() -> Office:
        return office

    def give_watch() -> Watch:
        return watch

    def fault(request: AnyRequest, error: Exception) -> Response[bytes]:
        telemetry.event("http-error", path=request.scope["path"], error=repr(error), traceback=_trace(error))
        return _answer(request, FAULT)

    own = [handler for module in _API_ROUTES for handler in handlers_in(vars(module))]
    return Litestar(
        route_handlers=[*_AT_ROOT, Router(API, route_handlers=[*own, about.status, about.openapi])],
        dependencies={
            "office": Provide(give_office, sync_to_thread=False),
            "watch": Provide(give_watch, sync_to_thread=False),
        },
        exception_handlers={
            HTTPException: _http_problem,
            Exception: lambda request, error: _known(request, error) or fault(request, error),
        },
        openapi_config=OpenAPIConfig(
            title="msgx",
            version=installed_version(),
            description="An airport's messages, the flights that came of them, and what operators do.",
            render_plugins=(),
            use_handler_docstrings=True,
        ),
        request_max_body_size=None,  # `Limited` counts, and answers in our own shape
        logging_config=None,
        debug=False,
    )


def _known(request: AnyRequest, error: Exception) -> Response[bytes] | None:
    problem = problem_of(error)
    return None if problem is FAULT else _answer(request, problem)


def _http_problem(request: AnyRequest, error: HTTPException) -> Response[bytes]:
    """What litestar itself refuses."""
    detail = str(error.detail)
    if isinstance(error, ValidationException):
        wrong = [_place(each) for each in error.extra or () if isinstance(each, dict)]
        said = "; ".join(f"{each['key']}: {each['message']}" for each in wrong) or detail
        return _answer(request, Problem(422, said, more={"errors": wrong}))
    headers = dict(error.headers or {})
    return _answer(request, Problem(error.status_code, _words(error.status_code, detail), headers=headers))


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
