"""Answers: JSON made in a worker thread, pages with a link to the next, roles that operations need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlencode

from litestar import Request, Response, get, post
from litestar.connection import ASGIConnection
from litestar.di import NamedDependency
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler
from litestar.params import SkipValidation

from msgx_app.http.access import PRINCIPAL, Principal
from msgx_app.http.office import Desk, Office
from msgx_app.http.problems import Problem
from msgx_app.http.watch import Watch
from msgx_core.ports import ApiRole
from msgx_core.ports.operations import Audit, OperatorResult

T = TypeVar("T")
AnyRequest = Request[Any, Any, Any]
GivenOffice = NamedDependency[SkipValidation[Office]]
GivenWatch = NamedDependency[SkipValidation[Watch]]
Decorator = Callable[[Callable[..., Any]], HTTPRouteHandler]

JSON: Final = "application/json"
ANSWER: Final = "answer"
"""Where a handler's `opt` names the schema of its answer; `schemas` has them."""

MANY: Final = "many"


def reads(path: str, answer: str, *, many: bool = False, role: ApiRole = ApiRole.READER) -> Decorator:
    """An operation that reads."""
    return get(path, guards=[needs(role)], opt={ANSWER: answer, MANY: many}, cache=False)


def acts(path: str, answer: str, *, many: bool = False, status: int = 200) -> Decorator:
    """An operation that changes something: for operators."""
    guards = [needs(ApiRole.OPERATOR)]
    return post(path, guards=guards, opt={ANSWER: answer, MANY: many}, status_code=status)


def needs(role: ApiRole) -> Callable[[ASGIConnection[Any, Any, Any, Any], BaseRouteHandler], None]:
    """A guard that lets in who has the role."""

    def guard(connection: ASGIConnection[Any, Any, Any, Any], handler: BaseRouteHandler) -> None:
        principal_of(connection).check(role)

    return guard


def principal_of(connection: ASGIConnection[Any, Any, Any, Any]) -> Principal:
    """Who asks."""
    found: Principal = connection.scope["state"][PRINCIPAL]
    return found


def audit_of(request: AnyRequest, reason: str) -> Audit:
    """Who and why, for the audit."""
    return Audit(principal_of(request).name, reason.strip())


async def reply(
    office: Office, job: Callable[[Desk], Any], *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response[bytes]:
    """What the job makes, as JSON."""
    body = await office.json(job)
    return Response(body, media_type=JSON, status_code=status, headers=headers)


async def page(
    office: Office,
    request: AnyRequest,
    limit: int,
    fetch: Callable[[Desk, int], Sequence[T]],
    cursor: Callable[[T], object],
    document: Callable[[T, Desk], Any] = lambda row, desk: row,
) -> Response[bytes]:
    """At most `limit` rows; when there are more, `Link` says where they go on (`after`)."""

    more: list[object] = []

    def made(desk: Desk) -> list[Any]:
        rows = fetch(desk, limit + 1)
        if len(rows) > limit:
            more.append(cursor(rows[limit - 1]))
        return [document(row, desk) for row in rows[:limit]]

    body = await office.json(made)
    headers = next_link(request, more[0]) if more else {}
    return Response(body, media_type=JSON, headers=headers)


async def results(
    office: Office, key: str, act: Callable[[Desk], Sequence[OperatorResult]]
) -> Response[bytes]:
    """What became of each target; a problem (409) when every one was refused."""
    from msgx_app.answers.replays import result_rows

    found = await office.work(act)
    rows = result_rows(found, key)
    if found and all(each.refused is not None for each in found):
        said = "; ".join(f"{each.target}: {each.refused}" for each in found[:5])
        raise Problem(409, f"refused: {said}", more={"RESULTS": rows})
    return await reply(office, lambda desk: rows)


def next_link(request: AnyRequest, after: object) -> dict[str, str]:
    """The header that says where the next page is."""
    query = [(name, value) for name, value in request.query_params.multi_items() if name != "after"]
    return {
        "Link": f'<{quote(request.scope["path"])}?{urlencode([*query, ("after", str(after))])}>; rel="next"'
    }


def handlers_in(names: Mapping[str, Any]) -> list[HTTPRouteHandler]:
    """The route handlers among a module's names."""
    return [each for each in names.values() if isinstance(each, HTTPRouteHandler)]
