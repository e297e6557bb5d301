"""The JSON of flights and events: one shape in Kafka, Redis, HTTP and `--json` (D-28 to D-30)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from msgx_core.model.change import FlightPut
from msgx_core.model.flight import Child, DeleteReason, Fields, FlightState
from msgx_core.model.message import Node
from msgx_core.model.reference import RefRecord
from msgx_core.model.sis import COLLECTIONS, SCALARS, Kind
from msgx_core.rules.operation_day import instant_of
from msgx_core.rules.policy import Policy, TimeFormat
from msgx_core.rules.values import parse_time

_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\r", "&#13;"))
_BLANKS = (("\n", "&#10;"), ("\t", "&#9;"))  # a parser would make plain blanks of them in an attribute
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


def to_json(value: Mapping[str, Any]) -> str:
    """Compact JSON with the text as it is (no ASCII escapes)."""
    return _ENCODE(value)


def utc_text(instant: datetime) -> str:
    """ISO 8601 in UTC with microseconds, fixed width.

    >>> utc_text(datetime(2027, 3, 14, 6, 0, tzinfo=UTC))
    '2027-03-14T06:00:00.000000Z'
    """
    return instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def flight_document(state: FlightState, policy: Policy) -> dict[str, Any]:
    """The full state: a key that is absent means no value; there is never a null (D-30, R-364)."""
    document: dict[str, Any] = {
        "FLID": state.flid,
        "STATE": state.status.value,
        "STATE_VERSION": state.version,
        "UPDATED_AT": utc_text(state.updated_at),
        "LAST_MSG_ID": state.last_msg_id,
    }
    if state.operation_day is not None:
        document["OPERATION_DAY"] = state.operation_day.isoformat()
    document |= state.fields if policy.time_format is TimeFormat.SIS else _iso_fields(state.fields, policy)
    if state.mafl:
        document["MAFL"] = [_child(child) for child in state.mafl]
    return document


def _child(child: Child) -> dict[str, Any]:
    return {"FLID": child.flid} if child.flno is None else {"FLID": child.flid, "FLNO": child.flno}


def _iso_fields(fields: Fields, policy: Policy) -> dict[str, Any]:
    def iso(text: str) -> str:
        local = parse_time(text)
        if local is None:
            return text
        return instant_of(local, policy).astimezone(policy.sis_zone).isoformat()

    def element(tag: str, values: Mapping[str, str]) -> dict[str, str]:
        spec = COLLECTIONS[tag]
        kinds = {**spec.attributes, **spec.keys}
        return {k: iso(v) if kinds.get(k) is Kind.TIME else v for k, v in values.items()}

    out: dict[str, Any] = {}
    for tag, value in fields.items():
        if isinstance(value, tuple):
            out[tag] = [element(tag, e) for e in value]
        elif isinstance(value, str) and SCALARS[tag].kind is Kind.TIME:
            out[tag] = iso(value)
        else:
            out[tag] = value
    return out


def notice_document(
    state: FlightState,
    *,
    changed: tuple[str, ...],
    generation: int | None,
    reason: DeleteReason | None,
) -> dict[str, Any]:
    """A `msg` payload without `EVENT_ID`; with `reason` a tombstone, never a null value (D-28)."""
    document: dict[str, Any] = {
        "FLID": state.flid,
        "KIND": "UPSERT" if reason is None else "DELETE",
        "STATE_VERSION": state.version,
        "UPDATED_AT": utc_text(state.updated_at),
        "MSG_ID": state.last_msg_id,
    }
    if state.operation_day is not None:
        document["OPERATION_DAY"] = state.operation_day.isoformat()
        document["DAY_VERSION"] = generation or 0
    if reason is None:
        document["CHANGED"] = list(changed)
    else:
        document |= {"DELETED": True, "REASON": reason.value}
    return document


def with_event_id(event_id: int, payload: str) -> bytes:
    """The bytes of a `msg` value: the stored payload with its `EVENT_ID` in front.

    >>> with_event_id(7, '{"FLID":1}')
    b'{"EVENT_ID":7,"FLID":1}'
    """
    return f'{{"EVENT_ID":{event_id},{payload[1:]}'.encode()


def is_newer(held_version: int | None, event_version: int) -> bool:
    """For consumers: whether an event is newer than what is held for that FLID (R-351).

    >>> is_newer(None, 1), is_newer(3, 3), is_newer(3, 4)
    (True, False, True)
    """
    return held_version is None or event_version > held_version


def put_documents(put: FlightPut, generation: int | None, policy: Policy) -> tuple[str, str | None]:
    """The `msg` payload and the full state (None when deleted) of a put, as text."""
    notice = notice_document(put.state, changed=put.changed, generation=generation, reason=put.reason)
    document = to_json(flight_document(put.state, policy)) if put.state.is_live else None
    return to_json(notice), document


def node_document(node: Node) -> Any:
    """A reference record for people: children by tag, attributes as `@NAME`, repeats as arrays.

    Order between different tags that alternate is not kept here; `Node` itself keeps everything.
    """
    if not node.children and not node.attributes:
        return node.text
    out: dict[str, Any] = {f"@{k}": v for k, v in node.attributes.items()}
    grouped: dict[str, list[Any]] = {"#text": [node.text]} if node.text else {}
    for child in node.children:
        grouped.setdefault(child.tag, []).append(node_document(child))
    return out | {tag: items[0] if len(items) == 1 else items for tag, items in grouped.items()}


def node_xml(node: Node) -> str:
    """A reference record as XML text; nothing of the `Node` is lost.

    >>> node_xml(Node("ARPT", "", {"A": '"1"'}, (Node("ITCD", "H<G"), Node("#text", "&"), Node("NAME"))))
    '<ARPT A="&quot;1&quot;"><ITCD>H&lt;G</ITCD>&amp;<NAME/></ARPT>'
    """
    if node.tag == "#text":
        return _escape(node.text)
    attributes = "".join(f' {name}="{_escape(value, _BLANKS)}"' for name, value in node.attributes.items())
    inside = _escape(node.text) + "".join(map(node_xml, node.children))
    return f"<{node.tag}{attributes}>{inside}</{node.tag}>" if inside else f"<{node.tag}{attributes}/>"


def _escape(text: str, more: tuple[tuple[str, str], ...] = ()) -> str:
    for char, entity in (*_ENTITIES, *more):
        text = text.replace(char, entity)
    return text


def reference_document(record: RefRecord) -> dict[str, Any]:
    """A reference record with its key and origin."""
    return {
        "RTYPE": record.rtype,
        "RKEY": record.rkey,
        "RECORD": node_document(record.node),
        "MSG_ID": record.msg_id,
        "UPDATED_AT": utc_text(record.updated_at),
    }
