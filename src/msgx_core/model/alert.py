"""Alerts: rows that stay until a person acknowledges them (D-41)."""

from __future__ import annotations

import enum

from attrs import frozen


class AlertCode(enum.Enum):
    """The closed list of alert codes."""

    OUTAGE = "OUTAGE"
    CACHE_LOST = "CACHE_LOST"
    SAME_FLID_ACROSS_OPERATION_DAYS = "SAME_FLID_ACROSS_OPERATION_DAYS"
    ROSTER_DAY_MISMATCH = "ROSTER_DAY_MISMATCH"
    EMPTY = "EMPTY"
    RECS_DROP = "RECS_DROP"
    OUT_OF_ORDER = "OUT_OF_ORDER"
    SEQN_REGRESSION = "SEQN_REGRESSION"
    BAD_VALUE = "BAD_VALUE"
    DUPLICATE_DIFFERENT_CONTENT = "DUPLICATE_DIFFERENT_CONTENT"
    AMBIGUOUS_ANSWER = "AMBIGUOUS_ANSWER"
    EROR = "EROR"
    SEND_LOST = "SEND_LOST"
    MISSING_ROW = "MISSING_ROW"
    TRANSIENT_DEADLINE = "TRANSIENT_DEADLINE"
    BACKFILL_ATTEMPTS = "BACKFILL_ATTEMPTS"
    DEAD_EVENT = "DEAD_EVENT"
    EXHAUSTED = "EXHAUSTED"


@frozen
class Alert:
    """Something a person must look at; written with the change it reports."""

    code: AlertCode
    msg_id: int | None = None
    flid: int | None = None
    detail: str | None = None
