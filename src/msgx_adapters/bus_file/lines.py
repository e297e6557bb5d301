"""One record as one line of JSON, and what cannot become one."""

from __future__ import annotations

import json
import re
from typing import NoReturn

from msgx_core.ports.bus import BusRecord

# Kafka's topic names, without those that hide a file or leave the folder.
_TOPIC = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,248}")


def refusal(record: BusRecord, max_bytes: int) -> str | None:
    """Why the bus does not take this record whatever its value; None when it may."""
    if not _TOPIC.fullmatch(record.topic):
        return "refused:topic"
    return "too-large" if len(record.value) > max_bytes else None


def to_line(record: BusRecord) -> bytes:
    """`{"key":…,"value":…}` in compact UTF-8 with its line end; `ValueError` when the value is not JSON."""
    try:
        value = json.loads(record.value.decode(), parse_constant=_no_constant)
        text = json.dumps({"key": record.key, "value": value}, ensure_ascii=False, separators=(",", ":"))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    return text.encode() + b"\n"


def from_line(topic: str, line: bytes) -> BusRecord:
    """The record of a line, its value compact."""
    content = json.loads(line)
    value = json.dumps(content["value"], ensure_ascii=False, separators=(",", ":"))
    return BusRecord(topic, content["key"], value.encode())


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
