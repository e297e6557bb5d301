"""Rows and documents under the column and tag names of the design (D-30)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from msgx_app.refusals import BadValue
from msgx_core.model.flight import FlightState
from msgx_core.model.reference import RefRecord
from msgx_core.model.request import Request
from msgx_core.model.schedule import Roster
from msgx_core.model.sis import CATEGORIES, RSTA
from msgx_core.ports.operations import Row, Views
from msgx_core.rules.policy import Policy
from msgx_core.rules.reference import is_available, statuses
from msgx_core.rules.render import flight_document, node_xml, reference_document

_MOST = 10_000
ABOUT_MESSAGES = ("replay", "readmit", "resume_writeback")
"""Actions of the audit whose target is a message."""


def document(state: FlightState, policy: Policy) -> dict[str, Any]:
    """The full state as on the bus, and when the flight was first seen."""
    return {**flight_document(state, policy), "CREATED_AT": state.created_at}


def message_story(store: Views, row: Row) -> dict[str, Any]:
    """A message's row with its events, schedule log, alerts and what people did with it."""
    msg_id = row["MSG_ID"]
    actions = store.audit(_MOST, target=msg_id)
    return {
        **row,
        "EVENTS": store.message_events(msg_id),
        "SNAPSHOTS": store.snapshots(_MOST, msg_id=msg_id),
        "ALERTS": store.alerts(True, _MOST, msg_id=msg_id),
        "AUDIT": [each for each in actions if each["ACTION"] in ABOUT_MESSAGES],
    }


def request_row(each: Request) -> dict[str, Any]:
    """A request under the column names of `REQ_TRACK`; ASKS_FOR is the same in short, for people."""
    days = f"{each.first_day}" if each.first_day == each.last_day else f"{each.first_day}..{each.last_day}"
    return {
        "REQUEST_ID": each.request_id,
        "SLOT": each.slot,
        "ASKS_FOR": each.rtype or days,
        "STATE": each.state,
        "REASON": each.reason,
        "SEQN": each.seqn,
        "RTYPE": each.rtype,
        "FIRST_DAY": each.first_day,
        "LAST_DAY": each.last_day,
        "CREATED_AT": each.created_at,
        "SEND_STARTED_AT": each.send_started_at,
        "SENT_AT": each.sent_at,
        "CLOSED_AT": each.closed_at,
        "RESP_MSG_ID": each.resp_msg_id,
    }


def category_of(text: str) -> str:
    """A category of reference data, or RSTA, from what somebody wrote. Raises `BadValue`."""
    category = text.strip().upper()
    if category not in CATEGORIES and category != RSTA:
        raise BadValue(f"{text!r}: one of {' '.join(CATEGORIES)} {RSTA}")
    return category


def reference_row(record: RefRecord) -> dict[str, Any]:
    """A record whole, as it was sent."""
    return {**reference_document(record), "XML": node_xml(record.node)}


def resource_rows(records: Sequence[RefRecord], policy: Policy, instant: datetime) -> list[dict[str, Any]]:
    """Gates, stands, desks and belts with a stored status, and whether each is available then (D-40)."""
    return [
        {
            "RTYP": status.rtyp,
            "RSID": status.rsid,
            "STAT": status.stat,
            "AVAILABLE": is_available(status, instant),
            "STARTS_AT": status.starts_at,
            "ENDS_AT": status.ends_at,
            "MSG_ID": status.msg_id,
        }
        for status in statuses(records, policy)
    ]


def roster_row(roster: Roster) -> dict[str, Any]:
    """An operation day's roster and its generation."""
    return {"OPERATION_DAY": roster.day, "VERSION": roster.version, "FLIDS": sorted(roster.flids)}
