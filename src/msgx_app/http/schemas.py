"""Shapes of the answers, for the OpenAPI document: rows under the column names of the design."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from msgx_core.model.alert import AlertCode
from msgx_core.model.events import EventStatus, Target
from msgx_core.model.job import JobKind, JobState
from msgx_core.model.proc import MessageState
from msgx_core.model.request import RequestSlot, RequestState
from msgx_core.model.schedule import SnapshotFlag, SnapshotResult
from msgx_core.rules.schemas import flight_schema

Schema = dict[str, Any]

_INT: Schema = {"type": "integer"}
_NUMBER: Schema = {"type": "number"}
_TEXT: Schema = {"type": "string"}
_BOOL: Schema = {"type": "boolean"}
_DAY: Schema = {"type": "string", "format": "date"}
_AT: Schema = {"type": "string", "format": "date-time"}
_ANY: Schema = {}
_OBJECT: Schema = {"type": "object"}
_COUNTS: Schema = {"type": "object", "additionalProperties": _INT}


def _enum(kind: Any) -> Schema:
    return {"enum": [member.value for member in kind]}


def _array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _row(required: str, /, **columns: Schema) -> Schema:
    """An object; a column without a value is absent, so that only some are always there."""
    return {"type": "object", "properties": columns, "required": required.split()}


_MESSAGE_COLUMNS: Final[Mapping[str, Schema]] = {
    "MSG_ID": _INT,
    "STATE": _enum(MessageState),
    "IDENTITY_KEY": _TEXT,
    **dict.fromkeys(("SNDR", "TYPE", "STYP", "SEQN", "DTTM"), _TEXT),
    "ERROR_CODE": _TEXT,
    "REASON": _TEXT,
    "DETAIL": _TEXT,
    "ATTEMPTS": _INT,
    "ENQUEUED_AT": _AT,
    "RECEIVED_AT": _AT,
    "APPLIED_AT": _AT,
    "APPLY_NO": _INT,
    "FINISHED_AT": _AT,
    "NEXT_ATTEMPT_AT": _AT,
    "BACKFILL_AT": _AT,
    "BACKFILL_ATTEMPTS": _INT,
    "BACKFILL_NEXT_AT": _AT,
    "BACKFILL_ABANDONED_AT": _AT,
    "BACKFILL_ABANDONED_REASON": _TEXT,
}
_DECIDED = ("MSG_ID", "TYPE", "STYP", "STATE", "APPLY_NO", "APPLIED_AT")
_CHANGES = _array(_row("TAG", TAG=_TEXT, BEFORE=_ANY, AFTER=_ANY))
_EFFECT = _row(
    "FLID STATE_VERSION CHANGES",
    FLID=_INT,
    FROM_VERSION=_INT,
    STATE_VERSION=_INT,
    REASON=_ANY,
    CHANGES=_CHANGES,
)
_REFERENCE_EFFECT = _row(
    "RTYPE ACTION RKEYS",
    RTYPE=_TEXT,
    ACTION=_TEXT,
    RKEYS=_array(_TEXT),
    CHANGES=_array(_row("RKEY TAG", RKEY=_TEXT, TAG=_TEXT, BEFORE=_TEXT, AFTER=_TEXT)),
)

SCHEMAS: Final[Mapping[str, Schema]] = {
    "Sent": _row("MSG_ID", MSG_ID=_INT),
    "Message": _row("MSG_ID STATE ATTEMPTS ENQUEUED_AT", **_MESSAGE_COLUMNS),
    "Failures": _row(
        "STATE N OLDEST_MSG_ID NEWEST_MSG_ID NEWEST_AT",
        STATE=_enum(MessageState),
        ERROR_CODE=_TEXT,
        REASON=_TEXT,
        N=_INT,
        OLDEST_MSG_ID=_INT,
        NEWEST_MSG_ID=_INT,
        NEWEST_AT=_AT,
    ),
    "MessageStory": _row(
        "MSG_ID STATE ATTEMPTS ENQUEUED_AT EVENTS SNAPSHOTS ALERTS AUDIT",
        **_MESSAGE_COLUMNS,
        EVENTS=_array(_ref("Event")),
        SNAPSHOTS=_array(_ref("Snapshot")),
        ALERTS=_array(_ref("Alert")),
        AUDIT=_array(_ref("Audit")),
    ),
    "Explanation": _row(
        "MSG_ID STATE RULES BASIS",
        **{name: _MESSAGE_COLUMNS[name] for name in _DECIDED},
        **dict.fromkeys(("ERROR_CODE", "REASON", "DETAIL", "BASIS", "NOTE"), _TEXT),
        RULES=_array(_row("RULE SOURCE RESULT", RULE=_TEXT, SOURCE=_TEXT, RESULT=_TEXT)),
        FLIGHTS=_array(_EFFECT),
        REFERENCE=_array(_REFERENCE_EFFECT),
    ),
    "Result": _row("DONE", MSG_ID=_INT, EVENT_ID=_INT, ALERT_ID=_INT, DONE=_BOOL, REFUSED=_TEXT),
    "ResultOrPreview": _row(
        "MSG_ID",
        MSG_ID=_INT,
        DONE=_BOOL,
        REFUSED=_TEXT,
        TYPE=_TEXT,
        STYP=_TEXT,
        STATE=_enum(MessageState),
        ERROR_CODE=_TEXT,
        REASON=_TEXT,
        DETAIL=_TEXT,
        FLIGHTS=_array(_EFFECT),
        REFERENCE=_array(_REFERENCE_EFFECT),
        ALERTS=_array(_row("CODE", CODE=_enum(AlertCode), FLID=_INT, DETAIL=_TEXT)),
    ),
    "Flight": flight_schema(),
    "FlightVersion": _row(
        "FLID KIND STATE_VERSION MSG_ID SOURCE",
        SOURCE=_TEXT,
        EVENT_ID=_INT,
        FLID=_INT,
        KIND=_TEXT,
        STATE_VERSION=_INT,
        MSG_ID=_INT,
        CHANGED=_array(_TEXT),
        REASON=_TEXT,
        TYPE=_TEXT,
        STYP=_TEXT,
        SEQN=_TEXT,
        UPDATED_AT=_TEXT,
        VALUES=_CHANGES,
    ),
    "Reference": _row(
        "RTYPE RKEY RECORD XML MSG_ID UPDATED_AT",
        RTYPE=_TEXT,
        RKEY=_TEXT,
        RECORD=_ANY,
        XML=_TEXT,
        MSG_ID=_INT,
        UPDATED_AT=_TEXT,
    ),
    "Resource": _row(
        "RTYP RSID STAT AVAILABLE MSG_ID",
        RTYP=_TEXT,
        RSID=_TEXT,
        STAT=_TEXT,
        AVAILABLE=_BOOL,
        STARTS_AT=_AT,
        ENDS_AT=_AT,
        MSG_ID=_INT,
    ),
    "Snapshot": _row(
        "LOG_ID MSG_ID RECV_AT RESULT",
        LOG_ID=_INT,
        MSG_ID=_INT,
        RECV_AT=_AT,
        OPERATION_DAY=_DAY,
        SCOPE_START=_ANY,
        SCOPE_END=_ANY,
        RECS=_INT,
        OLD_VERSION=_INT,
        NEW_VERSION=_INT,
        DELETED_COUNT=_INT,
        RESULT=_enum(SnapshotResult),
        FLAGS=_array(_enum(SnapshotFlag)),
        DURATION_MS=_INT,
        ARCHIVE_KEY=_TEXT,
    ),
    "Roster": _row("OPERATION_DAY VERSION FLIDS", OPERATION_DAY=_DAY, VERSION=_INT, FLIDS=_array(_INT)),
    "Event": _row(
        "EVENT_ID TARGET FLID STATE_VERSION STATUS ATTEMPTS PAYLOAD CREATED_AT",
        EVENT_ID=_INT,
        TARGET=_enum(Target),
        FLID=_INT,
        STATE_VERSION=_INT,
        MSG_ID=_INT,
        STATUS=_enum(EventStatus),
        ATTEMPTS=_INT,
        LAST_CODE=_TEXT,
        PAYLOAD=_OBJECT,
        CREATED_AT=_AT,
        NEXT_ATTEMPT_AT=_AT,
        SENT_AT=_AT,
    ),
    "Alert": _row(
        "ALERT_ID CODE CREATED_AT",
        ALERT_ID=_INT,
        CODE=_enum(AlertCode),
        MSG_ID=_INT,
        FLID=_INT,
        DETAIL=_TEXT,
        CREATED_AT=_AT,
        ENDED_AT=_AT,
        ACKED_AT=_AT,
    ),
    "Audit": _row(
        "AUDIT_ID ACTION TARGET ACTOR REASON CREATED_AT",
        AUDIT_ID=_INT,
        ACTION=_TEXT,
        TARGET=_INT,
        ACTOR=_TEXT,
        REASON=_TEXT,
        DETAIL=_TEXT,
        CREATED_AT=_AT,
    ),
    "Request": _row(
        "REQUEST_ID SLOT ASKS_FOR STATE CREATED_AT",
        REQUEST_ID=_INT,
        SLOT=_enum(RequestSlot),
        ASKS_FOR=_TEXT,
        STATE=_enum(RequestState),
        REASON=_TEXT,
        SEQN=_TEXT,
        RTYPE=_TEXT,
        FIRST_DAY=_DAY,
        LAST_DAY=_DAY,
        CREATED_AT=_AT,
        SEND_STARTED_AT=_AT,
        SENT_AT=_AT,
        CLOSED_AT=_AT,
        RESP_MSG_ID=_INT,
    ),
    "Job": _row(
        "JOB_ID KIND STATE CREATED_AT",
        JOB_ID=_INT,
        KIND=_enum(JobKind),
        STATE=_enum(JobState),
        CREATED_AT=_AT,
        STARTED_AT=_AT,
        ENDED_AT=_AT,
        DETAIL=_TEXT,
        COUNTS=_COUNTS,
        EPOCH=_INT,
    ),
    "Health": _row("STATUS SINCE OUTAGES", STATUS=_TEXT, SINCE=_AT, OUTAGES=_array(_TEXT)),
    "Status": _row(
        "AT MESSAGES FLIGHTS WRITEBACK OUTBOX REQUESTS ALERTS LEASE SERVICES INSTANCE",
        AT=_AT,
        HEAD=_OBJECT,
        MESSAGES=_COUNTS,
        ERROR_CODES=_COUNTS,
        FLIGHTS=_COUNTS,
        WRITEBACK=_row("PENDING ABANDONED", PENDING=_INT, ABANDONED=_INT),
        OUTBOX={"type": "object", "additionalProperties": _COUNTS},
        OLDEST_UNSENT={
            "type": "object",
            "additionalProperties": _row("AT AGE_S", AT=_AT, AGE_S=_NUMBER),
        },
        REQUESTS=_row("OPEN SLOTS", OPEN=_INT, SLOTS=_array(_ref("Request"))),
        JOBS=_row("OPEN LIST", OPEN=_INT, LIST=_array(_ref("Job"))),
        ALERTS=_row("OPEN", OPEN=_INT),
        LEASE=_row("HELD EPOCH", HOLDER=_TEXT, HELD=_BOOL, EPOCH=_INT, EXPIRES_IN_S=_NUMBER),
        OUTAGES=_array(_OBJECT),
        MAILBOX=_row("NOT_TAKEN_IN AT_LEAST", NOT_TAKEN_IN=_INT, AT_LEAST=_BOOL),
        SERVICES=_array(
            _row("SERVICE OK", SERVICE=_TEXT, OK=_BOOL, URL=_TEXT, ERROR=_TEXT, AT=_AT, OUTAGE=_OBJECT)
        ),
        INSTANCE=_row("HOLDER PHASE SINCE VERSION LOOPS", HOLDER=_TEXT, PHASE=_TEXT, SINCE=_AT),
    ),
    "OpenApi": _OBJECT,
    "Problem": {
        **_row(
            "type title status detail instance",
            type=_TEXT,
            title=_TEXT,
            status=_INT,
            detail=_TEXT,
            instance=_TEXT,
            service=_TEXT,
            errors=_array(_row("key message", key=_TEXT, message=_TEXT)),
            RESULTS=_array(_ref("Result")),
        ),
        "description": "RFC 9457",
    },
}  # fmt: skip
"""By name; `opt["answer"]` of a handler names one. `Raw` and `Metrics` are no JSON."""
