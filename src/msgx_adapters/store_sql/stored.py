"""Rows as verification reads them: each value as what its column holds, or `Unreadable` (D-36)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from msgx_core.model.message import Node
from msgx_core.ports.inspection import Column, Kind, StoredRow, Table, Unreadable

_MOST_CHARS = 200
_BROKEN = (ValueError, TypeError, OverflowError, RecursionError, LookupError)


def stored_row(table: Table, row: Mapping[str, Any]) -> StoredRow:
    """The columns of `table` that the row has; texts may be bytes."""
    return {c.name: _value(c, row[c.name]) for c in table.columns if c.name in row}


def unreadable(value: Any) -> Unreadable:
    """What stands there, so that it can be printed."""
    if value is None:
        return Unreadable("NULL")
    if isinstance(value, (list, dict)):
        text = json.dumps(_plain(value), default=str)
    else:
        text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
    text = text.encode("utf-8", "backslashreplace").decode()
    return Unreadable(text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}…")


def _plain(value: Any) -> Any:
    """Objects as objects again; one in which a key comes twice as its pairs."""
    if isinstance(value, _Object):
        value = [(key, _plain(each)) for key, each in value]
        return dict(value) if len(dict(value)) == len(value) else value
    return [_plain(each) for each in value] if isinstance(value, list) else value


def in_form(row: StoredRow, name: str, text: Any, written: Callable[[Any], str]) -> StoredRow:
    """The row, its value of that name `Unreadable` where the text is another than msgx writes for it."""
    value = row[name]
    if isinstance(value, Unreadable) or (
        isinstance(value, Mapping) and any(isinstance(each, Unreadable) for each in value.values())
    ):
        return row
    stands, wanted = _text(text), written(value)
    if stands == wanted:
        return row
    at = next((n for n, (a, b) in enumerate(zip(stands, wanted, strict=False)) if a != b), 0)
    return {**row, name: Unreadable(f"not as msgx writes it: …{stands[max(0, at - 40) : at + 80]}")}


def _value(column: Column, value: Any) -> Any:
    if value is None and column.optional:
        return None
    if isinstance(value, Unreadable):
        return value
    try:
        found = _READERS[column.kind](value)
    except _BROKEN:
        return unreadable(value)
    return unreadable(value) if column.legal and found not in column.legal else found


def _number(value: Any) -> int:
    if type(value) is not int:
        raise TypeError
    return value


def _flag(value: Any) -> bool:
    if type(value) is bool:
        return value
    if value not in (0, 1):
        raise ValueError
    return bool(_number(value))


def _text(value: Any) -> str:
    text = value.decode() if isinstance(value, bytes) else value
    if type(text) is not str:
        raise TypeError
    # A lone surrogate, which JSON can hold, is no text.
    text.encode()
    return text


def _instant(value: Any) -> datetime:
    if isinstance(value, datetime):
        return value
    text = _text(value)
    instant = datetime.fromisoformat(text)
    if instant.tzinfo is None or instant.astimezone(UTC).isoformat(timespec="microseconds") != text:
        raise ValueError
    return instant


def _day(value: Any) -> date:
    if isinstance(value, date):
        return value
    day = date.fromisoformat(_text(value))
    if day.isoformat() != _text(value):
        raise ValueError
    return day


def _numbers(value: Any) -> list[int]:
    return [_number(each) for each in value]


def _fields(value: Any) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for tag, each in _pairs(_load(_text(value))):
        # A key that comes twice is none that `json.loads` would tell.
        fields[_text(tag)] = _field(each) if tag not in fields else unreadable([fields[tag], each])
    return fields


def _field(value: Any) -> Any:
    """Text, a number, an element or a collection, as `load_fields` gives them."""
    try:
        if isinstance(value, _Object):
            return _texts(value)
        if isinstance(value, list):
            return tuple(_texts(each) for each in value)
        return _text(value) if isinstance(value, str) else _number(value)
    except _BROKEN:
        return unreadable(value)


class _Object(list[tuple[Any, Any]]):
    """The keys and values of a JSON object, also where a key comes twice."""


def _load(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_Object)


def _texts(value: Any) -> dict[str, str]:
    pairs = _pairs(value)
    found = {_text(key): _text(each) for key, each in pairs}
    if len(found) < len(pairs):
        raise ValueError
    return found


def _pairs(value: Any) -> _Object:
    if not isinstance(value, _Object):
        raise TypeError
    return value


def _node(value: Any) -> Node:
    return _tree(_load(_text(value)))


def _tree(value: Any) -> Node:
    if isinstance(value, _Object) or not isinstance(value, list) or not isinstance(value[3], list):
        raise TypeError
    tag, text, attributes, children = value
    return Node(_text(tag), _text(text), _texts(attributes), tuple(_tree(child) for child in children))


_READERS: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.NUMBER: _number,
    Kind.FLAG: _flag,
    Kind.TEXT: _text,
    Kind.INSTANT: _instant,
    Kind.DAY: _day,
    Kind.NUMBERS: _numbers,
    Kind.FIELDS: _fields,
    Kind.NODE: _node,
}
