"""The OpenAPI document: operations from the code, shapes of answers from `schemas`, problems for errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from litestar import Litestar, Router
from litestar.handlers import HTTPRouteHandler
from litestar.openapi.plugins import JsonRenderPlugin

from msgx_app.http.parameters import MAX_ID, MIN_ID
from msgx_app.http.problems import MEDIA_TYPE
from msgx_app.http.replies import ANSWER, JSON, MANY
from msgx_app.http.schemas import SCHEMAS
from msgx_app.settings import Settings
from msgx_core.ports import Silent

_NOT_JSON: Final = {"Raw": "application/octet-stream", "Metrics": "text/plain"}
_PROBLEMS: Final = {
    "400": "The request cannot be read",
    "401": "A token is needed, or it is not known",
    "403": "The role does not allow it, or there are no tokens",
    "404": "There is no such thing",
    "405": "This address does not take that method",
    "408": "The request did not arrive in time",
    "409": "Refused as things are",
    "413": "Too large",
    "422": "A value is not legal",
    "429": "Too many requests; Retry-After says when",
    "500": "A fault of msgx",
    "503": "A service does not answer, or too much is under way; Retry-After says when",
}
_SENT: Final = {
    "required": True,
    "content": {
        media_type: {"schema": {"type": "string", "contentMediaType": "application/xml"}}
        for media_type in ("application/xml", "application/octet-stream", "text/xml")
    },
}


class NoPages(JsonRenderPlugin):
    """litestar's own pages about an interface, none of them: `/api/v1/openapi.json` is the one address.

    Theirs would show another document, without our answers, and load scripts from elsewhere.
    """

    def receive_router(self, router: Router) -> None:
        """Called by litestar when it has made its pages, before they are served."""
        router.routes.clear()


def described(settings: Settings) -> dict[str, Any]:
    """The document of the interface that these settings make; nothing is opened for it."""
    from msgx_app import backends
    from msgx_app.daemon.monitor import Monitor
    from msgx_app.http.app import litestar_app
    from msgx_app.http.budget import CpuBudget
    from msgx_app.http.office import Office
    from msgx_app.http.watch import Watch

    clock = backends.system_clock()
    office = Office(settings, clock, CpuBudget(clock, lambda: False))
    watch = Watch.on(Monitor(clock), office, backends.open_metrics(clock), "nobody")
    return document(litestar_app(office, watch, Silent()))


def document(app: Litestar) -> dict[str, Any]:
    """The document of an application."""
    found: dict[str, Any] = app.openapi_schema.to_schema()
    found.pop("servers", None)
    components = found.setdefault("components", {})
    bodies = {name: _closed(schema) for name, schema in components.get("schemas", {}).items()}
    components["schemas"] = {**bodies, **SCHEMAS}
    components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    found["security"] = [{"token": []}, {}]
    for path, method, handler in _operations(app):
        operation = found["paths"][path][method]
        operation["responses"] = _responses(handler, operation)
        if handler.opt[ANSWER] == "Sent":
            operation["requestBody"] = _SENT
        if path.startswith("/health/"):
            operation["security"] = []
    return found


def _closed(schema: dict[str, Any]) -> dict[str, Any]:
    """Bodies of requests take nothing that they do not name; litestar leaves the bounds of ids out."""
    if "properties" not in schema:
        return schema
    for wanted in (
        schema["properties"].get("ids", {}),
        *schema["properties"].get("ids", {}).get("oneOf", ()),
    ):
        if wanted.get("type") == "array":
            wanted["items"] = {"type": "integer", "minimum": MIN_ID, "maximum": MAX_ID}
    return {**schema, "additionalProperties": False}


def _operations(app: Litestar) -> Iterator[tuple[str, str, HTTPRouteHandler]]:
    for route in app.routes:
        for handler in getattr(route, "route_handlers", ()):
            if ANSWER not in handler.opt:
                continue
            # {msg_id:int} in the code is {msg_id} in the document.
            path = "/".join(
                "{" + part.strip("{}").partition(":")[0] + "}" if part.startswith("{") else part
                for part in route.path.split("/")
            )
            for method in sorted(handler.http_methods - {"OPTIONS", "HEAD"}):
                yield path, method.lower(), handler


def _responses(handler: HTTPRouteHandler, operation: dict[str, Any]) -> dict[str, Any]:
    answer = handler.opt[ANSWER]
    status = str(handler.status_code)
    if answer in _NOT_JSON:
        content: dict[str, Any] = {_NOT_JSON[answer]: {"schema": {"type": "string"}}}
    else:
        schema: dict[str, Any] = {"$ref": f"#/components/schemas/{answer}"}
        content = {JSON: {"schema": {"type": "array", "items": schema} if handler.opt.get(MANY) else schema}}
    good: dict[str, Any] = {"description": "As asked", "content": content}
    if any(each.get("name") == "after" for each in operation.get("parameters", ())):
        link = {"description": "Where the next page is", "schema": {"type": "string"}}
        good["headers"] = {"Link": link}
    responses: dict[str, Any] = {status: good}
    if answer == "Flight":
        responses["304"] = {"description": "What is held is still so"}
    problem = {"$ref": "#/components/schemas/Problem"}
    for code, words in _PROBLEMS.items():
        responses[code] = {"description": words, "content": {MEDIA_TYPE: {"schema": problem}}}
    return responses
