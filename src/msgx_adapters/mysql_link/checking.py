"""At the start: are the owner's table and columns there, and may we read them?"""

from __future__ import annotations

from collections.abc import Mapping

from msgx_core.errors import ConfigError, MsgxError

from .errors import Forbidden, server_code
from .link import Link
from .session import Result
from .statements import filled, quoted

_NO_DATABASE = frozenset({1044, 1049})
_NO_TABLE = 1146
_NO_COLUMN = 1054


def checked(
    link: Link, name: str, table: tuple[str, str], columns: Mapping[str, tuple[str, str]]
) -> Mapping[str, bool]:
    """Whether each column, by its place in the SQL, holds bytes rather than text.

    `table` and `columns` are pairs of setting and name. Raises `ConfigError` that names the setting of
    whatever is missing or forbidden, `Transient` when the server does not answer. `name` is the database.
    """
    try:
        found = _described(link, table, columns)
    except MsgxError as error:
        raise _explained(link, name, table, columns, error) from error
    return dict(zip(columns, found.binary, strict=True))


def _described(link: Link, table: tuple[str, str], columns: Mapping[str, tuple[str, str]]) -> Result:
    places = quoted({**columns, "table": table})
    names = ", ".join(places[place] for place in columns)
    sql = filled(__package__, "check", {"columns": names, "table": places["table"]})
    return link.run(lambda session: session.run(sql), again=True)


def _explained(
    link: Link,
    name: str,
    table: tuple[str, str],
    columns: Mapping[str, tuple[str, str]],
    error: MsgxError,
) -> MsgxError:
    number = server_code(error)
    detail = getattr(error, "detail", None)
    if number in _NO_DATABASE:
        return ConfigError([f"msgx.mailbox.url: the database {name} cannot be used ({detail})"])
    if number == _NO_TABLE:
        return ConfigError([f"{table[0]} = {table[1]}: there is no such table in {name} ({detail})"])
    if isinstance(error, Forbidden):
        return ConfigError([f"{table[0]} = {table[1]}: the mailbox user needs SELECT on it ({detail})"])
    if number == _NO_COLUMN:
        return ConfigError(_missing(link, table, columns) or [f"{table[0]} = {table[1]}: {detail}"])
    return error


def _missing(link: Link, table: tuple[str, str], columns: Mapping[str, tuple[str, str]]) -> list[str]:
    problems = []
    for place, (setting, column) in columns.items():
        try:
            _described(link, table, {place: (setting, column)})
        except MsgxError as error:
            if server_code(error) != _NO_COLUMN:
                raise
            problems.append(f"{setting} = {column}: there is no such column in {table[1]}")
    return problems
