"""At the start: are the owner's table and columns there, and may we read them?"""

from __future__ import annotations

from collections.abc import Mapping

from msgx_core.errors import ConfigError, MsgxError

from .errors import Forbidden, server_code
from .rights import Table
from .session import Result
from .statements import filled, quoted

_NO_DATABASE = frozenset({1044, 1049})
_NO_TABLE = 1146
_NO_COLUMN = 1054


def checked(table: Table, columns: Mapping[str, tuple[str, str]]) -> Mapping[str, bool]:
    """Whether each column, by its place in the SQL, holds bytes rather than text.

    `columns` are pairs of setting and name. Raises `ConfigError` that names the setting of whatever is
    missing or forbidden, `Transient` when the server does not answer.
    """
    try:
        found = _described(table, columns)
    except MsgxError as error:
        raise _explained(table, columns, error) from error
    return dict(zip(columns, found.binary, strict=True))


def _described(table: Table, columns: Mapping[str, tuple[str, str]]) -> Result:
    places = quoted({**columns, "table": (table.setting, table.name)})
    names = ", ".join(places[place] for place in columns)
    sql = filled(__package__, "check", {"columns": names, "table": places["table"]})
    return table.link.run(lambda session: session.run(sql), again=True)


def _explained(table: Table, columns: Mapping[str, tuple[str, str]], error: MsgxError) -> MsgxError:
    number, detail, place = server_code(error), getattr(error, "detail", None), table.target.name
    if number in _NO_DATABASE:
        remedy = "name another one, or have its owner run what `msgx migrate --grants mailbox` prints"
        return ConfigError([f"msgx.mailbox.url: the database {place} cannot be used: {remedy} ({detail})"])
    if number == _NO_TABLE:
        return ConfigError([f"{table.setting} = {table.name}: there is no such table in {place} ({detail})"])
    if isinstance(error, Forbidden):
        return table.lacks("SELECT", error)
    if number == _NO_COLUMN:
        return ConfigError(_missing(table, columns) or [f"{table.setting} = {table.name}: {detail}"])
    return error


def _missing(table: Table, columns: Mapping[str, tuple[str, str]]) -> list[str]:
    problems = []
    for place, (setting, column) in columns.items():
        try:
            _described(table, {place: (setting, column)})
        except MsgxError as error:
            if server_code(error) != _NO_COLUMN:
                raise
            problems.append(f"{setting} = {column}: there is no such column in {table.name}")
    return problems
