"""JSON Schemas of what consumers read, made from the tag tables: flights, `msg` and `schd` (D-28 to D-30).

They say what is there and how it looks; what they do not name may come with a later version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgx_core.model.flight import DeleteReason, FlightStatus
from msgx_core.model.sis import COLLECTIONS, MODEL_TAGS, SCALARS, SINGLES, Collection, Kind, Single
from msgx_core.rules.policy import TimeFormat

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TEXT = "TEXT"

_FLID: Schema = {"type": "integer", "minimum": 1, "maximum": 999_999_999_999}
_COUNT: Schema = {"type": "integer", "minimum": 0}
_ID: Schema = {"type": "integer"}
_VERSION: Schema = {"type": "integer", "minimum": 1, "description": "Rises with each change of the flight."}
_INSTANT: Schema = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$"}
_DAY: Schema = {"type": "string", "format": "date", "pattern": r"^\d{4}-\d\d-\d\d$"}
_KINDS: Mapping[Kind, Schema] = {
    Kind.TEXT: {"type": "string", "minLength": 1},
    Kind.TIME: {"type": "string", "pattern": r"^\d\d[A-Z]{3}\d{6}$", "description": "DDMMMYYHHMM, local."},
    Kind.DURATION: {"type": "string", "pattern": r"^\d\d[0-5]\d$", "description": "HHMM."},
    Kind.INTEGER: {"type": "string", "pattern": r"^-?\d{1,18}$"},
    Kind.DECIMAL: {"type": "string", "pattern": r"^-?\d{1,18}(\.\d{1,9})?$"},
    Kind.FLID: _FLID,
}
_ISO_TIME: Schema = {"type": "string", "format": "date-time", "description": "ISO 8601 with offset."}


def flight_schema(time_format: TimeFormat = TimeFormat.SIS) -> Schema:
    """The full state of a flight: in `schd`, cache, HTTP and `--json`. A value is never null."""
    properties: Schema = {
        "FLID": _FLID,
        "STATE": {"enum": [status.value for status in FlightStatus]},
        "STATE_VERSION": _VERSION,
        "UPDATED_AT": _INSTANT,
        "LAST_MSG_ID": {**_ID, "description": "The message that touched it last."},
        "OPERATION_DAY": _DAY,
    }
    properties |= {tag: _tag(tag, time_format) for tag in MODEL_TAGS}
    properties["MAFL"] = {
        "type": "array",
        "minItems": 1,
        "description": "Its live code-share flights.",
        "items": _object({"FLID": _FLID, "FLNO": _KINDS[Kind.TEXT]}, ("FLID",)),
    }
    return _object(properties, ("FLID", "STATE", "STATE_VERSION", "UPDATED_AT", "LAST_MSG_ID"))


def notice_schema() -> Schema:
    """A `msg` value; its key is the FLID. A deletion is a value too, never null."""
    shared: Schema = {
        "EVENT_ID": {"type": "integer", "minimum": 1, "description": "Consecutive, in the order of effects."},
        "FLID": _FLID,
        "STATE_VERSION": _VERSION,
        "UPDATED_AT": _INSTANT,
        "MSG_ID": {**_ID, "description": "The message behind it."},
        "OPERATION_DAY": _DAY,
        "DAY_VERSION": {**_COUNT, "description": "Generation of the day's roster."},
    }
    required = ("EVENT_ID", "FLID", "KIND", "STATE_VERSION", "UPDATED_AT", "MSG_ID")
    tags = {"type": "array", "items": {"enum": [*MODEL_TAGS, "MAFL"]}, "uniqueItems": True}
    upsert = {**shared, "KIND": {"const": "UPSERT"}, "CHANGED": tags}
    delete = {
        **shared,
        "KIND": {"const": "DELETE"},
        "DELETED": {"const": True},
        "REASON": {"enum": [reason.value for reason in DeleteReason]},
    }
    return {
        "oneOf": [
            _object(upsert, (*required, "CHANGED")),
            _object(delete, (*required, "DELETED", "REASON")),
        ]
    }


def package_schema(time_format: TimeFormat = TimeFormat.SIS) -> Schema:
    """A `schd` value: full states of some flights."""
    flights = {"type": "array", "minItems": 1, "items": flight_schema(time_format)}
    return _object({"SCHD": _object({"FLTR": flights}, ("FLTR",))}, ("SCHD",))


def document(title: str, schema: Schema) -> Schema:
    """A schema as a document of its own."""
    return {"$schema": DIALECT, "title": title, **schema}


def async_api(
    version: str, topic_msg: str, topic_schd: str, time_format: TimeFormat = TimeFormat.SIS
) -> Schema:
    """Both topics as an AsyncAPI document; what msgx sends, consumers receive."""
    key = {"type": "string", "pattern": r"^\d{1,12}$", "description": "FLID."}
    messages = {
        "notice": _message("A flight has changed or is gone", notice_schema(), key),
        "package": _message("Full states of flights", package_schema(time_format), {"type": "string"}),
    }
    channels = {
        "msg": _channel(topic_msg, "One notice for each version of a flight, in order.", "notice"),
        "schd": _channel(topic_schd, "The newest full state of each flight that changed.", "package"),
    }
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "msgx events",
            "version": version,
            "description": "Compare STATE_VERSION: events may come twice, and late.",
        },
        "channels": channels,
        "operations": {
            f"send-{name}": {"action": "send", "channel": {"$ref": f"#/channels/{name}"}} for name in channels
        },
        "components": {"messages": messages},
    }


def _message(title: str, payload: Schema, key: Schema) -> Schema:
    return {
        "title": title,
        "contentType": "application/json",
        "payload": payload,
        "bindings": {"kafka": {"key": key}},
    }


def _channel(address: str, description: str, message: str) -> Schema:
    return {
        "address": address,
        "description": description,
        "messages": {message: {"$ref": f"#/components/messages/{message}"}},
        "bindings": {"kafka": {"topic": address}},
    }


def _tag(tag: str, time_format: TimeFormat) -> Schema:
    if tag in SCALARS:
        return _kind(SCALARS[tag].kind, time_format)
    if tag in SINGLES:
        return _single(SINGLES[tag])
    return _collection(COLLECTIONS[tag], time_format)


def _kind(kind: Kind, time_format: TimeFormat) -> Schema:
    if kind is Kind.TIME and time_format is not TimeFormat.SIS:
        return _ISO_TIME
    return _KINDS[kind]


def _single(spec: Single) -> Schema:
    return _some(dict.fromkeys((*spec.attributes, TEXT), _KINDS[Kind.TEXT]))


def _collection(spec: Collection, time_format: TimeFormat) -> Schema:
    keys = {**spec.attributes, **spec.keys}
    properties = {key: _kind(kind, time_format) for key, kind in keys.items()}
    if spec.sequence is not None:
        properties = {spec.sequence: _KINDS[Kind.TEXT], **properties}
    if spec.has_text:
        properties[TEXT] = _KINDS[Kind.TEXT]
    size: Schema = {} if spec.limit is None else {"maxItems": spec.limit}
    return {"type": "array", "minItems": 1, **size, "items": _some(properties)}


def _some(properties: Mapping[str, Schema]) -> Schema:
    """An object with at least one of these."""
    return {"type": "object", "properties": dict(properties), "minProperties": 1}


def _object(properties: Mapping[str, Schema], required: Iterable[str]) -> Schema:
    return {"type": "object", "properties": dict(properties), "required": list(required)}
