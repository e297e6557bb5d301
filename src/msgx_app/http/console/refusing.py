"""Errors as pages in the layout, for browsers; problem details for everybody else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve
from litestar import Response

from msgx_app.answers.advice import Advice
from msgx_app.http.console.desk import HEADERS, Console
from msgx_app.http.console.door import VISIT, wants_page
from msgx_app.http.limits import Scope, Send, answer_problem
from msgx_app.http.problems import Problem

_TOLD = (401, 403, 404, 409, 422, 429, 500, 503)
_LIKE = {400: 422, 405: 404, 408: 422, 413: 422, 415: 422}


class Refuser:
    """How the console says no."""

    def __init__(self, console: Console, advice: Advice) -> None:
        self._console = console
        self._advice = advice

    async def send(self, problem: Problem, scope: Scope, send: Send) -> None:
        """Answer a request that has come no further than the door."""
        if not wants_page(scope):
            await answer_problem(problem, scope, send)
            return
        body = self.page(problem, scope)
        headers = {**HEADERS, **problem.headers, "Content-Type": "text/html; charset=utf-8"}
        told = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        told.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": problem.status, "headers": told})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def response(self, problem: Problem, scope: Mapping[str, Any]) -> Response[bytes] | None:
        """The answer to a browser; None: it is no browser that asks."""
        if not wants_page(scope):
            return None
        headers = {**HEADERS, **problem.headers}
        body = self.page(problem, scope)
        return Response(
            body, media_type="text/html; charset=utf-8", status_code=problem.status, headers=headers
        )

    def page(self, problem: Problem, scope: Mapping[str, Any]) -> bytes:
        """The page."""
        look = self._console.look(scope)
        visit = scope.get("state", {}).get(VISIT)
        if visit is not None and visit.fresh:
            look = evolve(look, mark="")  # its cookie goes with the first good page
        service = problem.more.get("service")
        advice = None if service is None else self._advice.of("service", service, look.words.language)
        kind = problem.status if problem.status in _TOLD else 500
        kind = _LIKE.get(problem.status, kind)
        again = problem.status == 503 and scope["method"] == "GET"
        values = {
            "problem": problem,
            "kind": kind,
            "service": service,
            "advice": advice,
            "again": again,
        }
        return self._console.renderer.page("error.html", look, values)
