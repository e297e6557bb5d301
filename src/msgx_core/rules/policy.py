"""The choices an installation makes; everything else in the rules is fixed."""

from __future__ import annotations

import enum
from datetime import UTC, time, timedelta, tzinfo

from attrs import frozen

from msgx_core.model.schedule import DnldCoverage
from msgx_core.model.sis import whitelist


class MissingFlight(enum.Enum):
    """What a `FLOP` for an unknown flight does (D-08)."""

    CREATE = "create"
    SKIP = "skip"


class TimeFormat(enum.Enum):
    """How flight times are written in JSON (D-30)."""

    SIS = "sis"
    ISO8601 = "iso8601"


@frozen
class Policy:
    """Settings that decisions depend on; names follow the `msgx.*` parameters."""

    airport_zone: tzinfo = UTC
    sis_zone: tzinfo = UTC
    day_cutover: time = time(0, 0)
    include_day_boundary: bool = False
    flop_whitelist: frozenset[str] = whitelist("baseline")
    missing_flight: MissingFlight = MissingFlight.CREATE
    route_max_points: int = 4
    dnld_coverage: DnldCoverage = DnldCoverage.WINDOW
    suppress_unchanged: bool = False
    time_format: TimeFormat = TimeFormat.SIS
    ref_allow_empty: bool = False
    late_window: timedelta = timedelta(hours=24)
