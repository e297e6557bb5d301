"""SQL files with the owner's table and column names filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from msgx_core.errors import ConfigError

_PART = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,63}")
_REMARK = re.compile(r"^--.*\n", re.MULTILINE)
_LIST = "/*list*/"


def quoted(names: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """Names in backticks, so that keywords are names too; `schema.table` is two names.

    `names` maps the place in the SQL to the setting and its value. Raises `ConfigError` for each value that
    is no name.
    """
    problems = [
        f"{setting} = {name!r} is not a table or column name"
        for setting, name in names.values()
        if not all(_PART.fullmatch(part) for part in name.split("."))
    ]
    if problems:
        raise ConfigError(problems)
    return {place: ".".join(f"`{part}`" for part in name.split(".")) for place, (_, name) in names.items()}


def filled(package: str | None, name: str, names: Mapping[str, str] | None = None) -> str:
    """The statement of one `.sql` file, without its remarks, with `{place}`s filled in when there are any."""
    text = _statement(package or "", name)
    return text.format_map(names) if names else text


def filled_list(sql: str, parts: Iterable[object]) -> str:
    """The statement with `/*list*/` replaced by numbers that the caller made."""
    return sql.replace(_LIST, ", ".join(map(str, parts)))


@cache
def _statement(package: str, name: str) -> str:
    text = files(package).joinpath("sql", f"{name}.sql").read_text(encoding="utf-8")
    return _REMARK.sub("", text).strip().removesuffix(";")
