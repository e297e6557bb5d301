"""Records as documents of the index, and the template that says how they are searched."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NoReturn

from attrs import frozen

from msgx_core.ports import HistoryRecord

_PROPERTIES: Mapping[str, Any] = {
    "FLID": {"type": "long"},
    "STATE_VERSION": {"type": "long"},
    "OPERATION_DAY": {"type": "date", "format": "strict_date"},
    # To the microsecond, as we compare it.
    "ENDED_AT": {"type": "date_nanos"},
    # One field for all tags: a new tag needs no mapping, and none can break another's type.
    "FLIGHT": {"type": "flattened", "ignore_above": 1024},
}


@frozen
class Entry:
    """A document ready for `_bulk`: its id, its FLID, and the two lines with their ends."""

    id: str
    flid: int
    lines: bytes


def entry(record: HistoryRecord) -> Entry:
    """A record as it is sent, under `FLID-VERSION`; `ValueError` when its document is not a JSON object."""
    try:
        document = json.loads(record.document, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(document, dict):
        raise ValueError("the document is no JSON object")
    name = f"{record.flid}-{record.version}"
    day = record.operation_day
    source = {
        "FLID": record.flid,
        "STATE_VERSION": record.version,
        "OPERATION_DAY": None if day is None else day.isoformat(),
        "ENDED_AT": instant_text(record.ended_at),
        "FLIGHT": document,
    }
    return Entry(name, record.flid, _line({"index": {"_id": name}}) + _line(source))


def instant_text(at: datetime) -> str:
    """An instant in UTC."""
    return at.astimezone(UTC).isoformat(timespec="microseconds")


def template(index: str) -> Mapping[str, Any]:
    """Settings and mappings of the index, for when it is made."""
    return {
        "index_patterns": [index],
        "priority": 200,
        "template": {"mappings": {"dynamic": False, "properties": dict(_PROPERTIES)}},
        "_meta": {"made_by": "msgx"},
    }


def _line(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
