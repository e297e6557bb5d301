"""Rows to values. A row maps the column names of the design; instants and days are decoded already."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from attrs import evolve

from msgx_adapters.store_sql.documents import load_fields, load_node
from msgx_core.errors import Rejected
from msgx_core.model.events import DueEvent, Target
from msgx_core.model.flight import Child, Fields, FlightState, FlightStatus
from msgx_core.model.job import Job, JobKind, JobState
from msgx_core.model.outage import Outage
from msgx_core.model.proc import MessageState, ProcRow, WritebackDue
from msgx_core.model.reference import RefRecord
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.model.schedule import SenderMark
from msgx_core.ports.tokens import ApiRole, ApiToken

Row = Mapping[str, Any]

LEAST, MOST = -(2**63), 2**63 - 1
"""Below and above every id: where a list begins when nobody says behind which."""

_TOGETHER = 200


def unreadable(where: str, what: object) -> Rejected:
    """The error for a stored value that cannot be read as what its column holds."""
    return Rejected("store-rejected:unreadable", f"{where}: {str(what)[:80]!r}; `msgx verify` names its row")


def parsed(column: str, text: str) -> Any:
    """JSON as people see it; the error of `unreadable` for what is none, or no object in `PAYLOAD`."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise unreadable(column, text) from error
    if column == "PAYLOAD" and not isinstance(found, dict):
        raise unreadable(column, text)
    return found


def proc_row(row: Row) -> ProcRow:
    """The pump's part of a `PROC_STATE` row."""
    return ProcRow(
        msg_id=row["MSG_ID"],
        state=MessageState(row["STATE"]),
        attempts=row["ATTEMPTS"],
        enqueued_at=row["ENQUEUED_AT"],
        received_at=row["RECEIVED_AT"],
        next_attempt_at=row["NEXT_ATTEMPT_AT"],
        identity_key=row["IDENTITY_KEY"],
        type=row["TYPE"],
        styp=row["STYP"],
        code=row["ERROR_CODE"],
        reason=row["REASON"],
        detail=row["DETAIL"],
        applied_at=row["APPLIED_AT"],
        coverage=row["COVERAGE"],
        trying=bool(row["TRYING"]),
    )


def flights(rows: Sequence[Row]) -> list[FlightState]:
    """Flights without their `MAFL`, in the order of the rows."""
    states: list[FlightState] = []
    for start in range(0, len(rows), _TOGETHER):
        some = rows[start : start + _TOGETHER]
        try:
            fields = load_fields([row["CONTENT"] for row in some])
            states.extend(_flight(row, values) for row, values in zip(some, fields, strict=True))
        except (ValueError, TypeError, AttributeError) as error:
            first, last = some[0]["FLID"], some[-1]["FLID"]
            whose = f"flight {first}" if first == last else f"a flight from {first} to {last}"
            raise unreadable(f"CONTENT or STATE of {whose}", str(error)) from error
    return states


def _flight(row: Row, fields: Fields) -> FlightState:
    return FlightState(
        flid=row["FLID"],
        status=FlightStatus(row["STATE"]),
        version=row["STATE_VERSION"],
        operation_day=row["OPERATION_DAY"],
        fields=fields,
        last_msg_id=row["LAST_MSG_ID"],
        created_at=row["CREATED_AT"],
        updated_at=row["UPDATED_AT"],
        sodt_at=row["SODT_AT"],
    )


def with_mafl(flights: Iterable[FlightState], children: Iterable[tuple[int, Child]]) -> list[FlightState]:
    """The flights with `MAFL` where they carry one; `children` are (main FLID, live child) (D-21)."""
    by_main: defaultdict[int, list[Child]] = defaultdict(list)
    for main, child in children:
        by_main[main].append(child)
    for entries in by_main.values():
        entries.sort(key=lambda child: child.flid)
    return [
        evolve(state, mafl=tuple(by_main[state.flid]))
        if state.flid in by_main and state.carries_mafl
        else state
        for state in flights
    ]


def writeback_due(row: Row) -> WritebackDue:
    """A claimed write-back."""
    return WritebackDue(row["MSG_ID"], row["BACKFILL_ATTEMPTS"], row["FINISHED_AT"], row["ENQUEUED_AT"])


def due_event(row: Row) -> DueEvent:
    """An unsent event."""
    return DueEvent(
        event_id=row["EVENT_ID"],
        target=Target(row["TARGET"]),
        flid=row["FLID"],
        version=row["STATE_VERSION"],
        payload=row["PAYLOAD"],
        attempts=row["ATTEMPTS"],
    )


def request(row: Row) -> Request:
    """A request."""
    return Request(
        request_id=row["REQUEST_ID"],
        slot=RequestSlot(row["SLOT"]),
        state=RequestState(row["STATE"]),
        created_at=row["CREATED_AT"],
        seqn=row["SEQN"],
        rtype=row["RTYPE"],
        first_day=row["FIRST_DAY"],
        last_day=row["LAST_DAY"],
        send_started_at=row["SEND_STARTED_AT"],
        sent_at=row["SENT_AT"],
        closed_at=row["CLOSED_AT"],
        reason=row["REASON"],
        resp_msg_id=row["RESP_MSG_ID"],
    )


def job(row: Row) -> Job:
    """A job."""
    return Job(
        job_id=row["JOB_ID"],
        kind=JobKind(row["KIND"]),
        state=JobState(row["STATE"]),
        created_at=row["CREATED_AT"],
        started_at=row["STARTED_AT"],
        ended_at=row["ENDED_AT"],
        detail=row["DETAIL"],
        counts=json.loads(row["COUNTS"] or "{}"),
        epoch=row["EPOCH"],
    )


def outage(row: Row) -> Outage:
    """The last outage of a service."""
    return Outage(
        service=row["SERVICE"],
        since=row["SINCE"],
        detail=row["DETAIL"],
        ended_at=row["ENDED_AT"],
        epoch=row["EPOCH"],
    )


def sender_mark(row: Row) -> SenderMark:
    """What is known of a sender."""
    return SenderMark(
        sndr=row["SNDR"],
        seqn=row["SEQN"],
        dttm=row["DTTM"],
        schedule_dttm=row["SCHEDULE_DTTM"],
        dnld_recs=row["DNLD_RECS"],
        resp_recs=row["RESP_RECS"],
    )


def reference(row: Row) -> RefRecord:
    """A reference record."""
    try:
        node = load_node(row["PAYLOAD"])
    except (ValueError, TypeError) as error:
        raise unreadable(f"PAYLOAD of {row['RTYPE']} {row['RKEY']}", str(error)) from error
    return RefRecord(row["RTYPE"], row["RKEY"], node, row["MSG_ID"], row["UPDATED_AT"])


def for_people(row: Row) -> dict[str, Any]:
    """The columns that have a value (`ports.operations.Row`)."""
    return {name: value for name, value in row.items() if value is not None}


def api_token(row: Row) -> ApiToken:
    """A row of `API_TOKEN`."""
    return ApiToken(row["NAME"], ApiRole(row["ROLE"]), row["SHA256"], row["CREATED_AT"], row["REVOKED_AT"])
