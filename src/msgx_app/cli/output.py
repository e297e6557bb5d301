"""How answers are printed: JSON for machines, rich tables on a terminal, tab-separated lines elsewhere."""

from __future__ import annotations

import enum
import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from msgx_app.answers.machine import machine

T = TypeVar("T")

TERMINAL_LIMIT = 100
_PAGE = 500


def on_terminal() -> bool:
    """Whether people read standard output."""
    return sys.stdout.isatty()


def json_text(value: Any) -> str:
    """JSON with the text as it is, or escaped where standard output could not hold it."""
    encoding = (sys.stdout.encoding or "ascii").lower().replace("-", "")
    return json.dumps(machine(value), ensure_ascii=encoding != "utf8", separators=(", ", ": "))


def print_json(value: Any) -> None:
    """One JSON value."""
    if on_terminal():
        from rich.console import Console

        Console().print_json(json_text(value), ensure_ascii=False)
    else:
        print(json_text(value))


def print_json_array(items: Iterable[Any]) -> None:
    """A JSON array, one element a line, written as the elements come."""
    opened = False
    for item in items:
        print("," if opened else "[", json_text(item), sep="\n", end="")
        opened = True
    print("\n]" if opened else "[]")


def people(value: Any) -> str:
    """A value as text for people, without anything that could move their cursor."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return f"{value.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"
        case list() | tuple() if all(isinstance(each, str | int) for each in value):
            return clean(" ".join(str(each) for each in value))
        case Mapping() | list() | tuple():
            return clean(json.dumps(machine(value), ensure_ascii=False))
        case enum.Enum():
            return str(value.value)
        case _:
            return clean(str(value))


def telling(changes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Of `BEFORE` and `AFTER` those that people can see: an empty value looks like none."""
    return [each for each in changes if people(each.get("BEFORE")) != people(each.get("AFTER"))]


def exact(value: Any) -> str:
    """A value as text for people to the last digit, text in quotes: no two values look alike."""
    return clean(json.dumps(machine(value), ensure_ascii=False))


def clean(text: str) -> str:
    """Control and format characters as escapes: message text must not drive the terminal."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char)[0] == "C" else char
        for char in text
    )


def print_rows(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], *, empty: str, title: str | None = None
) -> None:
    """Rows for people by their columns; `empty` is said when there are none."""
    if on_terminal():
        _rich_rows(list(rows), columns, empty, title)
        return
    started = False
    for row in rows:
        if not started:
            print("\t".join(columns))
            started = True
        print("\t".join(people(row.get(column)) or "-" for column in columns))
    if not started:
        note(empty)


def _rich_rows(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], empty: str, title: str | None
) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if not rows:
        note(empty)
        return
    table = Table(box=SIMPLE_HEAD, title=title, title_justify="left", pad_edge=False)
    for column in columns:
        numeric = all(isinstance(row.get(column), int | float | None) for row in rows)
        # A time in two lines is no time.
        whole = column.endswith("_AT") or column == "STATE"
        table.add_column(column, justify="right" if numeric else "left", overflow="fold", no_wrap=whole)
    for row in rows:
        table.add_row(*(Text(people(row.get(column)), style=_style(row.get(column))) for column in columns))
    Console().print(table)


def print_facts(facts: Iterable[tuple[str, Any]], *, title: str) -> None:
    """Labelled values for people; those without a value are left out."""
    shown = [(label, people(value)) for label, value in facts if value is not None]
    if not on_terminal():
        for label, text in shown:
            print(f"{label}\t{text}")
        return
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in shown:
        grid.add_row(label, Text(text, style=_style(text)))
    Console().print(Panel(grid, title=title, title_align="left", expand=False))


_STYLES = {
    "SUCCEEDED": "green",
    "ACTIVE": "green",
    "SENT": "green",
    "PENDING": "yellow",
    "FAILED": "yellow",
    "SKIPPED": "dim",
    "DELETED": "dim",
    "DISCARDED": "dim",
    "DEAD": "bold red",
}


def _style(value: Any) -> str:
    return _STYLES.get(value, "") if isinstance(value, str) else ""


def note(text: str) -> None:
    """A remark for people, on standard error, so that standard output stays data."""
    print(text, file=sys.stderr)


def wanted(limit: int | None, *, as_json: bool) -> int | None:
    """How many rows to show when `--limit` says this; None: all."""
    return TERMINAL_LIMIT if limit is None and not as_json and on_terminal() else limit


class First(Generic[T]):
    """The first `limit` of `items`; `tell` says, after they were printed, how to get the others."""

    def __init__(self, items: Iterable[T], limit: int | None, more: Callable[[T], str]) -> None:
        self._items = items
        self._limit = limit
        self._more = more
        self._last: list[T] = []
        self._cut = False

    def __iter__(self) -> Iterator[T]:
        for number, item in enumerate(self._items):
            if number == self._limit:
                self._cut = True
                return
            self._last[:] = (item,)
            yield item

    def tell(self) -> None:
        """A note, if something was left off."""
        if self._cut:
            note(f"there are more: {self._more(self._last[0])}")


def paged(
    fetch: Callable[[int | None, int], Sequence[T]], key: Callable[[T], int], after: int | None
) -> Iterator[T]:
    """All items of a query that takes `after` and a limit, page by page."""
    while True:
        found = fetch(after, _PAGE)
        yield from found
        if len(found) < _PAGE:
            return
        after = key(found[-1])
