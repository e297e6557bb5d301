"""Statements of the `.sql` files, made ready for libpq: `:name` becomes `$n`, `msgx.` the schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import sha256
from types import MappingProxyType

from attrs import frozen

from msgx_adapters.store_sql.statements import load

_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)\b")
_SCHEMA = re.compile(r"\bmsgx\.")


@frozen(eq=False)
class Statement:
    """One statement: `sql` with numbered parameters, `parameters` their names in order.

    `unique_name` tells its text: behind a pooler a name may meet what another client has prepared. `lenient`:
    a value that cannot be read is `Unreadable`; so are those of the statements named `stored_…`.
    """

    name: str
    sql: bytes
    parameters: tuple[str, ...]
    unique_name: bytes
    lenient: bool = False


def in_schema(sql: str, schema: str) -> str:
    """The same SQL for another schema than `msgx`; names are always qualified, so no search path matters."""
    return _SCHEMA.sub(f'"{schema}".', sql)


def statement(name: str, sql: str) -> Statement:
    """A statement from its text with named parameters."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    text = _PARAMETER.sub(number, sql).encode()
    unique_name = f"msgx_{sha256(text).hexdigest()[:24]}".encode()
    return Statement(name, text, tuple(names), unique_name, lenient=name.startswith("stored_"))


def statements(schema: str) -> Mapping[str, Statement]:
    """All statements of this package for a schema."""
    found = load("msgx_adapters.store_postgres")
    return MappingProxyType({name: statement(name, in_schema(sql, schema)) for name, sql in found.items()})
