"""What is simulated (the plan) and what comes out (a message at a time of the simulated day)."""

from __future__ import annotations

import re
from datetime import date
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from attrs import Attribute, field, frozen, validators

WINDOW_MIN = 48 * 60
"""Length of the schedule window in minutes (the 48-hour push of FST §2)."""

MAX_FLIGHTS = 9000
"""`RECS` goes to 9999 (D-12); the rest is room for flights added during the day."""


def _known_zone(_: SimulationPlan, __: Attribute[str], value: str) -> None:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError(f"timezone: no such time zone: {value!r}") from error


@frozen(kw_only=True)
class SimulationPlan:
    """One simulated stretch of an airport's life; equal plans give equal bytes.

    The stretch begins at `day` 00:00 in `timezone` and lasts `hours`; the schedule holds `flights` records
    (code shares included) whose `SODT` lies in the 48 hours from there. A second schedule follows at
    `second_window_h`. `fault_rate` is the share of faulty messages (late, duplicate, unsupported, broken);
    above zero, with 40 flights or more and 12 hours or more, every kind of fault occurs at least once, and
    at zero there is none. `first_seqn` lets a second stretch follow in one mailbox; `first_flid` defaults
    to a number made from the day, so that two days do not share flights.
    """

    seed: int
    day: date
    airport: str = field(default="KMG", validator=validators.matches_re(r"[A-Z]{3}", func=re.fullmatch))
    flights: int = field(default=200, validator=[validators.ge(1), validators.le(MAX_FLIGHTS)])
    timezone: str = field(default="Asia/Shanghai", validator=_known_zone)
    hours: float = field(default=24.0, validator=[validators.gt(0), validators.le(48)])
    second_window_h: float = field(default=14.0, validator=validators.gt(0))
    fault_rate: float = field(default=0.01, validator=[validators.ge(0), validators.le(1)])
    sender: str = "AODB"
    first_seqn: int = field(default=1, validator=validators.ge(1))
    first_flid: int = field(validator=[validators.ge(1), validators.lt(10**11)])

    @first_flid.default
    def _flid_of_the_day(self) -> int:
        return (self.day.year % 100 * 1000 + self.day.timetuple().tm_yday) * 10_000 + 1

    @property
    def end_s(self) -> float:
        """Length of the stretch in seconds."""
        return self.hours * 3600


@frozen
class SimulatedMessage:
    """One message: seconds after the start of the stretch, a name like `0007-schd-dnld`, and its bytes.

    `fault` is empty for a message of normal traffic, else the kind of fault (`faults.FAULTS`).
    """

    offset_s: float
    name: str
    raw: bytes
    fault: str = ""
