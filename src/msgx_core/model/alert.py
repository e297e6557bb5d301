"""Alerts: rows that stay until a person acknowledges them (D-41)."""

from __future__ import annotations

import enum

from attrs import frozen


class AlertCode(enum.Enum):
    """The closed list of alert codes."""

    OUTAGE = "OUTAGE"
    """A service cannot be reached or refuses all work; messages wait (D-04)."""
    CACHE_LOST = "CACHE_LOST"
    """The cache was empty or another store's, and was filled anew (D-31)."""
    SAME_FLID_ACROSS_OPERATION_DAYS = "SAME_FLID_ACROSS_OPERATION_DAYS"
    """A package would have moved a flight to another day; nothing of it was written (D-10)."""
    ROSTER_DAY_MISMATCH = "ROSTER_DAY_MISMATCH"
    """A flight of a covered day's roster lives under another day; nothing was written (D-11)."""
    EMPTY = "EMPTY"
    """A schedule had no records, or none for a day that it covers (D-11, D-12)."""
    RECS_DROP = "RECS_DROP"
    """A schedule had far fewer records than the one before it (D-16)."""
    OUT_OF_ORDER = "OUT_OF_ORDER"
    """A schedule was sent before the one that was applied last (D-16)."""
    SEQN_REGRESSION = "SEQN_REGRESSION"
    """A sender's number went backwards (D-16)."""
    BAD_VALUE = "BAD_VALUE"
    """Optional values of a record did not parse and were taken as absent; one alert a message (D-14)."""
    DUPLICATE_DIFFERENT_CONTENT = "DUPLICATE_DIFFERENT_CONTENT"
    """A message was skipped as a duplicate and says something else (D-24)."""
    AMBIGUOUS_ANSWER = "AMBIGUOUS_ANSWER"
    """A schedule answer may be that of an earlier request; it only updated (D-32)."""
    EROR = "EROR"
    """The AODB refused one of our requests (D-32)."""
    SEND_LOST = "SEND_LOST"
    """The sending of a request broke off, and the mailbox does not have it (D-32)."""
    MISSING_ROW = "MISSING_ROW"
    """The mailbox row is gone that was to be marked."""
    TRANSIENT_DEADLINE = "TRANSIENT_DEADLINE"
    """A mark was given up: past its age one more try failed (D-38)."""
    BACKFILL_ATTEMPTS = "BACKFILL_ATTEMPTS"
    """A mark has failed many times and is still tried."""
    DEAD_EVENT = "DEAD_EVENT"
    """The bus refused an event for good; consumers lack it (D-28)."""
    EXHAUSTED = "EXHAUSTED"
    """A message has used up its attempts (D-05, D-25)."""


@frozen
class Alert:
    """Something a person must look at; written with the change it reports."""

    code: AlertCode
    msg_id: int | None = None
    flid: int | None = None
    detail: str | None = None
