"""Events: what consumers read, from the schemas made of the tag tables."""

from __future__ import annotations

from typing import Any

from msgx_app.answers.schemas import FILES
from msgx_core.rules.schemas import flight_schema, notice_schema
from reference.markdown import code, page, sentence, table

INTRO = """\
`KAFKA_MSG` has one notice for each version of a flight, `KAFKA_SCHD` the newest full state of each flight
that changed; [Ordering](../explanation/ordering.md) says what a consumer may rely on. A key that is absent
means no value, `null` is never written. Fields that are not named here may come with a later version.
"""


def text() -> str:
    """The page."""
    upsert, delete = notice_schema()["oneOf"]
    files = "\n".join(f"* [{name}](../schemas/{name})" for name in FILES) + "\n"
    return page(
        "Events",
        INTRO,
        "For machines, under the default configuration (`msgx schema` writes those of yours):\n",
        files,
        "## msg: a flight has changed\n",
        _fields(upsert),
        "## msg: a flight is gone\n",
        _fields(delete),
        '## schd: full states\n\nThe value is `{"SCHD": {"FLTR": [ … ]}}`, a list of flights:\n',
        _fields(flight_schema()),
    )


def _fields(schema: dict[str, Any]) -> str:
    rows = [
        (
            code(name),
            _looks(value),
            "always" if name in schema["required"] else "when it has a value",
            sentence(value["description"]) if "description" in value else "",
        )
        for name, value in schema["properties"].items()
    ]
    return table(("field", "value", "there", "meaning"), rows)


def _looks(value: dict[str, Any]) -> str:
    if "const" in value:
        return code(str(value["const"]).lower() if value["const"] is True else str(value["const"]))
    if "enum" in value:
        return " or ".join(map(code, value["enum"]))
    if value["type"] == "array":
        items = value["items"]
        if "enum" in items:
            return "a list of tags"
        return "a list of objects: " + ", ".join(map(code, items["properties"]))
    if value["type"] == "object":
        return "an object: " + ", ".join(map(code, value["properties"]))
    if "pattern" in value:
        return f"{value['type']} {code(value['pattern'])}"
    return str(value["type"])
