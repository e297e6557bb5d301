"""One record as one line of JSON."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any, NoReturn

from msgx_core.ports import HistoryRecord


def to_line(record: HistoryRecord) -> bytes:
    """The record with its line end; `ValueError` when its document is not a JSON object."""
    try:
        document = json.loads(record.document, parse_constant=_no_constant)
        if not isinstance(document, dict):
            raise ValueError("the document is no JSON object")
        text = json.dumps(
            {
                "FLID": record.flid,
                "STATE_VERSION": record.version,
                "OPERATION_DAY": None if record.operation_day is None else record.operation_day.isoformat(),
                "ENDED_AT": record.ended_at.astimezone(UTC).isoformat(timespec="microseconds"),
                "FLIGHT": document,
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )
        return text.encode() + b"\n"
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def from_line(line: bytes) -> HistoryRecord:
    """The record of a line; `ValueError` when it is not one."""
    try:
        content: dict[str, Any] = json.loads(line)
        day = content["OPERATION_DAY"]
        return HistoryRecord(
            flid=content["FLID"],
            version=content["STATE_VERSION"],
            operation_day=None if day is None else date.fromisoformat(day),
            ended_at=datetime.fromisoformat(content["ENDED_AT"]),
            document=json.dumps(content["FLIGHT"], ensure_ascii=False, separators=(",", ":")),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(f"not a record of ours: {error!r}") from error


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
