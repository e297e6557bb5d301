"""HTTP endpoints, from the OpenAPI document of the application itself."""

from __future__ import annotations

from typing import Any

from msgx_app.http.openapi import described
from msgx_app.settings import Settings
from msgx_app.settings.flow import AirportSettings
from reference.markdown import code, page, prose, sentence, table

INTRO = """\
[HTTP](../http.md) says who may do what and what it may cost. `docs/schemas/openapi.json`
([here](../schemas/openapi.json)) is the whole description for machines, and each msgx serves its own at
`/api/v1/openapi.json`.
"""


def text() -> str:
    """The page."""
    found = described(Settings(airport=AirportSettings(code="XXX")))
    operations = [
        (method.upper(), path, operation)
        for path, methods in found["paths"].items()
        for method, operation in methods.items()
    ]
    overview = [
        (f"{code(f'{method} {path}')}", sentence(operation["description"]))
        for method, path, operation in operations
    ]
    parts = [INTRO, table(("endpoint", "does"), overview)]
    for method, path, operation in operations:
        parts += _operation(f"{method} {path}", operation, found["components"]["schemas"])
    return page("HTTP endpoints", *parts)


def _operation(name: str, operation: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    rows = [
        (
            code(p["name"]),
            p["in"],
            _looks(p.get("schema", {})),
            sentence(p["description"]) if p.get("description") else "",
        )
        for p in operation.get("parameters", ())
    ]
    body = _body(operation, schemas)
    if not rows and not body:
        return []
    parts = [f"## {name}\n"]
    if rows:
        parts.append(table(("parameter", "in", "value", "meaning"), rows))
    if body:
        parts.append(table(("field of the body", "value", "meaning"), body))
    return parts


def _body(operation: dict[str, Any], schemas: dict[str, Any]) -> list[tuple[str, ...]]:
    content = operation.get("requestBody", {}).get("content", {})
    reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    schema = schemas.get(reference.rpartition("/")[2], {})
    needed = schema.get("required", ())
    return [
        (
            code(name),
            _looks(value) + ("" if name in needed else ", may be left out"),
            sentence(value.get("description", "")),
        )
        for name, value in schema.get("properties", {}).items()
    ]


def _looks(schema: dict[str, Any]) -> str:
    """A schema in a few words."""
    if "oneOf" in schema:
        return " or ".join(
            dict.fromkeys(_looks(each) for each in schema["oneOf"] if each.get("type") != "null")
        )
    if "enum" in schema:
        return " or ".join(code(str(value)) for value in schema["enum"] if value is not None)
    if schema.get("type") == "array":
        return f"a list of {_looks(schema.get('items', {}))}"
    kind = schema.get("type", "value")
    least, most = schema.get("minimum"), schema.get("maximum")
    bounds = "" if least is None or most is None or most > 10**9 else f" from {least} to {most}"
    return prose(f"{'|'.join(kind) if isinstance(kind, list) else kind}{bounds}")
