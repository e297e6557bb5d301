"""Schedules: coverage, rosters and the schedule log (D-11, D-16)."""

from __future__ import annotations

import enum
from datetime import date, datetime

from attrs import frozen


@frozen
class Days:
    """The package is complete for these operation days: absence there deletes."""

    days: frozenset[date]


@frozen
class Interval:
    """The package is complete between its first and last `SODT`, both inclusive instants."""

    first: datetime
    last: datetime


@frozen
class Nothing:
    """The package only upserts."""


Coverage = Days | Interval | Nothing


class DnldCoverage(enum.Enum):
    """How a `DNLD` is read (`msgx.schd.dnld-coverage`)."""

    WINDOW = "window"
    SINGLE_DAY = "single-day"
    OBSERVED = "observed"


@frozen
class Roster:
    """The flights of one operation day and its generation (0: never covered)."""

    day: date
    version: int
    flids: frozenset[int]


class SnapshotResult(enum.Enum):
    """`SCHD_SNAP_LOG.RESULT`."""

    COMMITTED = "COMMITTED"
    REPLAY_SKIPPED = "REPLAY_SKIPPED"
    ROLLED_BACK = "ROLLED_BACK"


class SnapshotFlag(enum.Enum):
    """`SCHD_SNAP_LOG.FLAGS` (H-53)."""

    EMPTY = "EMPTY"
    RECS_DROP = "RECS_DROP"
    OUT_OF_ORDER = "OUT_OF_ORDER"
    SEQN_REGRESSION = "SEQN_REGRESSION"
    DAY_MISMATCH = "DAY_MISMATCH"


@frozen
class SnapshotLogRow:
    """One attempt and day of a schedule; a trace, never read by a decision (D-16)."""

    msg_id: int
    recv_at: datetime
    result: SnapshotResult
    operation_day: date | None = None
    scope_start: datetime | None = None
    scope_end: datetime | None = None
    recs: int | None = None
    old_version: int | None = None
    new_version: int | None = None
    deleted_count: int = 0
    flags: tuple[SnapshotFlag, ...] = ()
    old_flid_digest: str | None = None
    new_flid_digest: str | None = None
    archive_key: str | None = None
    duration_ms: int | None = None


@frozen
class SenderMark:
    """The last `SEQN` and `DTTM` of a sender and of its schedules, updated in ① only (D-16).

    `dnld_recs` and `resp_recs` are the record counts of the last committed schedule of that STYP.
    """

    sndr: str
    seqn: int
    dttm: str
    schedule_dttm: str | None = None
    dnld_recs: int | None = None
    resp_recs: int | None = None
