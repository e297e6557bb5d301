"""Tables and columns of the store, from the schema as it is declared."""

from __future__ import annotations

import re

from attrs import frozen

from msgx_adapters.store_postgres.schema import declared_sql
from reference.markdown import code, page, prose, table

INTRO = """\
The PostgreSQL store, in the schema `msgx` unless the URL names another one. Everything may be read ([DBA
hand-over](../dba-handover.md)), nothing but msgx writes. `FLIGHT_FULL` has whole flights, `REF_MASTER` all
reference data. The SQLite store has the same facts in fewer tables: the fields of a flight are one JSON
object.
"""

_MADE = re.compile(
    r'^CREATE (TABLE|VIEW) (?:IF NOT EXISTS )?"msgx"\.(\w+)(?: \(\n(.*?)\n\)| AS)', re.S | re.M
)
_COLUMN = re.compile(
    r"^    (\w+) ([a-z][\w ]*?(?:\(\d+\))?(?:\[\])?)(?= COLLATE| NOT| DEFAULT| CHECK| GENERATED|,|$)(.*)",
    re.M,
)
_COMMENT = re.compile(
    r"""^COMMENT ON (?:TABLE|VIEW|COLUMN) "msgx"\.([\w.]+)\s+IS\s+((?:'(?:[^']|'')*'\s*)+);""", re.M
)
_NEXT_LITERAL = re.compile(r"(?<!')'\s+'(?!')")
"""Between the parts of a text that goes over several lines."""
_NO_COLUMN = frozenset({"PRIMARY", "CONSTRAINT", "FOREIGN", "UNIQUE", "CHECK", "REFERENCES"})


@frozen
class Column:
    """A column of a table; a view's has no type here."""

    name: str
    type: str
    required: bool
    meaning: str


@frozen
class Relation:
    """A table or view with its columns in order."""

    name: str
    kind: str
    meaning: str
    columns: tuple[Column, ...]


def relations() -> list[Relation]:
    """All of them in the order of the declaration."""
    script = declared_sql()
    meanings = {name: _plain(told) for name, told in _COMMENT.findall(script)}
    return [
        Relation(name, kind.lower(), meanings.get(name, ""), tuple(_columns(name, body, meanings)))
        for kind, name, body in _MADE.findall(script)
    ]


def _plain(literals: str) -> str:
    """The text that a quoted one, perhaps in several parts, stands for."""
    return _NEXT_LITERAL.sub("", literals.strip())[1:-1].replace("''", "'")


def _columns(name: str, body: str, meanings: dict[str, str]) -> list[Column]:
    found = [
        Column(column, kind.strip(), "NOT NULL" in rest, meanings.get(f"{name}.{column}", ""))
        for column, kind, rest in _COLUMN.findall(body)
        if column not in _NO_COLUMN
    ]
    if not body:  # a view: what its comments name
        own = [key for key in meanings if key.startswith(f"{name}.")]
        found = [Column(key.partition(".")[2], "", False, meanings[key]) for key in own]
    return found


def text() -> str:
    """The page."""
    parts = [INTRO]
    for relation in relations():
        parts.append(f"## {relation.name}\n\n{prose(relation.meaning)}\n")
        rows = [
            (code(c.name), c.type, "yes" if c.required else "", prose(c.meaning)) for c in relation.columns
        ]
        if relation.kind == "view":
            parts.append(table(("column of the view", "meaning"), [(row[0], row[3]) for row in rows]))
        else:
            parts.append(table(("column", "type", "never null", "meaning"), rows))
    return page("Tables and columns", *parts)
