"""Values on the wire: parameters as libpq takes them, results in PostgreSQL's binary format.

Text formats of dates depend on settings of the session, which a pooler does not keep; binary ones do not.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from attrs import frozen

from msgx_adapters.store_sql.rows import unreadable
from msgx_core.errors import Rejected
from msgx_core.ports.inspection import Unreadable

TEXT_FORMAT = 0
BINARY_FORMAT = 1
_JSON_OID = 114


@frozen
class Texts:
    """Many texts as one parameter of type `json[]` or `text[]`."""

    items: Sequence[str]
    oid: int = _JSON_OID


@frozen
class Plain:
    """A parameter that is encoded already."""

    data: bytes


Encoded = tuple[bytes | None, int]


def encoded(value: Any) -> Encoded:
    """A parameter and its format."""
    if value is None:
        return None, TEXT_FORMAT
    try:
        return _ENCODERS[type(value)](value)
    except UnicodeEncodeError as error:
        raise Rejected("store-rejected:text-not-unicode", str(error)) from error


def _text(value: str) -> Encoded:
    data = value.encode()
    if b"\0" in data:
        raise Rejected("store-rejected:22021", "text with U+0000")
    return data, TEXT_FORMAT


def _instant(value: datetime) -> Encoded:
    return stamp(value).encode(), TEXT_FORMAT


def stamp(value: datetime) -> str:
    """An aware instant as text."""
    if value.tzinfo is None:
        raise ValueError(f"a datetime without a zone: {value!r}")
    return value.isoformat()


def _array(values: Iterable[Any]) -> Encoded:
    """Of numbers, days or instants; none of their texts needs quoting but instants bear it."""
    items = ("NULL" if v is None else stamp(v) if type(v) is datetime else str(v) for v in values)
    return ("{" + ",".join(items) + "}").encode(), TEXT_FORMAT


def _texts(value: Texts) -> Encoded:
    parts = [struct.pack("!IIIII", 1, 0, value.oid, len(value.items), 1)]
    for item in value.items:
        data = item.encode()
        parts += (len(data).to_bytes(4), data)
    return b"".join(parts), BINARY_FORMAT


_ENCODERS: dict[type, Callable[[Any], Encoded]] = {
    str: _text,
    int: lambda value: (b"%d" % value, TEXT_FORMAT),
    bool: lambda value: (b"t" if value else b"f", TEXT_FORMAT),
    float: lambda value: (repr(value).encode(), TEXT_FORMAT),
    datetime: _instant,
    date: lambda value: (value.isoformat().encode(), TEXT_FORMAT),
    list: _array,
    tuple: _array,
    Texts: _texts,
    Plain: lambda value: (value.data, TEXT_FORMAT),
}

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(2000, 1, 1).toordinal()
_INT2, _INT4, _INT8, _FLOAT8 = (struct.Struct(f"!{code}").unpack for code in "hiqd")


def _instant_of(data: bytes) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=_INT8(data)[0])
    except OverflowError as error:
        raise unreadable("an instant", _OUTSIDE.get(data, data.hex())) from error


def _day_of(data: bytes) -> date:
    try:
        return date.fromordinal(_EPOCH_DAY + _INT4(data)[0])
    except (ValueError, OverflowError) as error:
        raise unreadable("a day", _OUTSIDE.get(data, data.hex())) from error


_OUTSIDE = {
    b"\x7f" + b"\xff" * 7: "infinity",
    b"\x80" + b"\0" * 7: "-infinity",
    b"\x7f" + b"\xff" * 3: "infinity",
    b"\x80" + b"\0" * 3: "-infinity",
}
"""Instants and days that Python has no value for."""


def _texts_of(data: bytes) -> list[str]:
    """A one-dimensional array without NULLs."""
    found: list[str] = []
    at = 20
    while at < len(data):
        size = int.from_bytes(data[at : at + 4])
        found.append(data[at + 4 : at + 4 + size].decode())
        at += 4 + size
    return found


def _numbers_of(data: bytes) -> list[int]:
    return [int.from_bytes(data[at + 4 : at + 12], signed=True) for at in range(20, len(data), 12)]


DECODERS: dict[int, Callable[[bytes], Any]] = {
    16: lambda data: data == b"\1",
    20: lambda data: _INT8(data)[0],
    21: lambda data: _INT2(data)[0],
    23: lambda data: _INT4(data)[0],
    25: bytes.decode,
    19: bytes.decode,
    1043: bytes.decode,
    114: bytes.decode,
    3802: lambda data: data[1:].decode(),
    701: lambda data: _FLOAT8(data)[0],
    1082: _day_of,
    1184: _instant_of,
    1009: _texts_of,
    1016: _numbers_of,
    2278: lambda data: None,
}
"""By the type's OID, which is the same in every PostgreSQL."""


def _lenient(decode: Callable[[bytes], Any]) -> Callable[[bytes], Any]:
    def read(data: bytes) -> Any:
        try:
            return decode(data)
        except (ValueError, Rejected):
            return Unreadable(_OUTSIDE.get(data, data.hex()))

    return read


LENIENT_DECODERS = {oid: _lenient(decode) for oid, decode in DECODERS.items()}
"""The same for verification: what Python has no value for is `Unreadable`, such as the day `infinity`."""
