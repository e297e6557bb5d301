"""A message as the codec reads it, for people: its records with their tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgx_app import backends
from msgx_app.answers.verdicts import verdict
from msgx_app.settings import Settings
from msgx_core.errors import MessageError
from msgx_core.model.message import ErrorAnswer, FlightRecord, Node, ReferencePackage, SchedulePackage
from msgx_core.rules.render import node_xml


def decoded(raw: bytes, settings: Settings, most: int = 20) -> dict[str, Any]:
    """What `msgx decode` says, and under `RECORDS_READ` at most so many records, tag by tag as sent."""
    found = verdict(raw, settings)
    try:
        message = backends.open_codec(settings).decode(raw)
    except MessageError:
        return found
    records = []
    match message.body:
        case SchedulePackage(records=all_of_them):
            records = [_flight(each) for each in all_of_them[:most]]
        case FlightRecord() as record:
            records = [_flight(record)]
        case ReferencePackage(records=nodes):
            records = [_node(each) for each in nodes[:most]]
        case ErrorAnswer() as answer:
            told = {"CODE": answer.code, "TEXT": answer.text, "TYPE": answer.in_type, "STYP": answer.in_styp}
            records = [{"NAME": "EROR", "TAGS": [(tag, value) for tag, value in told.items() if value]}]
    return {**found, "RECORDS_READ": records}


def _flight(record: FlightRecord) -> dict[str, Any]:
    return {"NAME": f"FLID {record.flid}" if record.flid else "", "TAGS": list(_tags(record))}


def _tags(record: FlightRecord) -> Iterator[tuple[str, str]]:
    yield from record.values.items()
    for name, elements in record.elements.items():
        for element in elements:
            yield name, " ".join(f"{key}={value}" for key, value in element.items())
    for name, xml in record.raw_sections.items():
        yield name, xml


def _node(node: Node) -> dict[str, Any]:
    tags = [
        (each.tag, node_xml(each) if each.children or each.attributes else each.text)
        for each in node.children
    ]
    return {"NAME": node.tag, "TAGS": tags}
