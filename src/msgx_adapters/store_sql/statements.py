"""Named SQL statements, read once from the `.sql` files of a package."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType

_NAME = re.compile(r"^-- name: (\w+)[ \t]*$", re.MULTILINE)
_END = re.compile(r";?(\s|^--.*$)*\Z", re.MULTILINE)


def parse(text: str) -> Mapping[str, str]:
    """Statements of one file by name; comments before a name are remarks for the reader.

    >>> parse("-- about\\n-- name: one\\nSELECT 1;\\n")
    {'one': 'SELECT 1'}
    """
    parts = _NAME.split(text)[1:]
    found: dict[str, str] = {}
    for name, body in zip(parts[::2], parts[1::2], strict=True):
        sql = _END.sub("", body).strip()
        if name in found or not sql:
            raise ValueError(f"statement {name!r} is empty or there twice")
        found[name] = sql
    return found


def load(package: str) -> Mapping[str, str]:
    """All named statements in the folder `sql` of `package`; a name is unique over its files."""
    found: dict[str, str] = {}
    for file in sorted(files(package).joinpath("sql").iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".sql"):
            continue
        statements = parse(file.read_text(encoding="utf-8"))
        twice = found.keys() & statements.keys()
        if twice:
            raise ValueError(f"{file.name}: {sorted(twice)} are named in another file too")
        found.update(statements)
    return MappingProxyType(found)
