"""A flight as a line of a board: its times, its places, and what is going on with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final

from attrs import frozen

from msgx_core.model.flight import Child, FlightState
from msgx_core.rules.operation_day import instant_of
from msgx_core.rules.policy import Policy
from msgx_core.rules.status import is_boarding, is_last_call
from msgx_core.rules.values import parse_time

DELETED: Final = "deleted"


@frozen
class Line:
    """Times are the airport's, aware. `delay_min` is `expected` less `planned`, or else what `DELY` says.

    `expected` is the actual time (`is_actual`), or else the estimated one. `doing` is what is going on
    (empty: as planned), `tone` how it matters: `good`, `active`, `late`, `bad`, `done` or `plain`.
    """

    state: FlightState
    planned: datetime | None
    expected: datetime | None
    is_actual: bool
    delay_min: int | None
    number: str
    route: str
    gates: tuple[str, ...]
    stands: tuple[str, ...]
    belts: tuple[str, ...]
    doing: str
    tone: str
    remark: str

    @property
    def shares(self) -> tuple[Child, ...]:
        """Flights that share it."""
        return self.state.mafl

    @property
    def move(self) -> str:
        """`A`, `D`, or what else was sent."""
        return text_of(self.state, "MVIN")


def line_of(flight: FlightState, policy: Policy) -> Line:
    """The line of any flight, deleted ones too."""
    planned, actual = (_time(flight, tag, policy) for tag in ("SODT", "ACTT"))
    expected = actual or _time(flight, "ESTT", policy)
    doing, tone = doing_of(flight) if flight.is_live else (DELETED, "done")
    stands = codes_of(flight, "PSDT", "PSST") or tuple(filter(None, (text_of(flight, "STND"),)))
    return Line(
        state=flight,
        planned=planned,
        expected=expected,
        is_actual=actual is not None,
        delay_min=_late_by(flight, planned, expected),
        number=text_of(flight, "FLNO"),
        route=far_end(flight),
        gates=codes_of(flight, "GTDT", "GATE"),
        stands=stands,
        belts=codes_of(flight, "CLDT", "BELT"),
        doing=doing,
        tone=tone,
        remark=text_of(flight, "REMC"),
    )


def doing_of(flight: FlightState) -> tuple[str, str]:
    """What is going on and how it matters: the first that is true."""
    rules = _ARRIVAL if arrives(flight) else _DEPARTURE
    for holds, doing, tone in (*_ANY, *rules, *_PLANNED):
        if holds(flight):
            return doing, tone
    return "", "plain"


def arrives(flight: FlightState) -> bool:
    """Whether it is an arrival."""
    return flight.fields.get("MVIN") == "A"


def delay_of(flight: FlightState) -> int:
    """The sum of its delays in minutes, as `DELY` says."""
    durations = (element.get("DURA", "") for element in _elements(flight, "DELY"))
    return sum(int(each[:2]) * 60 + int(each[2:]) for each in durations if _is_duration(each))


def far_end(flight: FlightState) -> str:
    """Where it comes from or goes to."""
    points = [element.get("APCD", "") for element in _elements(flight, "ROUT")]
    if len(points) < 2:
        return ""
    return points[0] if arrives(flight) else points[-1]


def codes_of(flight: FlightState, tag: str, key: str) -> tuple[str, ...]:
    """One value of each element of a collection, in order."""
    return tuple(filter(None, (element.get(key, "") for element in _elements(flight, tag))))


def text_of(flight: FlightState, tag: str) -> str:
    """A text; empty for none."""
    value = flight.fields.get(tag)
    return value if isinstance(value, str) else ""


def _has(tag: str) -> Callable[[FlightState], bool]:
    return lambda flight: tag in flight.fields


def _any(tag: str, key: str) -> Callable[[FlightState], bool]:
    return lambda flight: any(element.get(key) for element in _elements(flight, tag))


_Rule = tuple[Callable[[FlightState], bool], str, str]
_ANY: tuple[_Rule, ...] = (
    (_has("CNCL"), "cancelled", "bad"),
    (_has("FDIV"), "diverted", "bad"),
    (_has("FRET"), "returned", "bad"),
)
_ARRIVAL: tuple[_Rule, ...] = (
    (_any("CLDT", "LBAG"), "bags-delivered", "done"),
    (_any("CLDT", "FBAG"), "bags-on-belt", "good"),
    (_has("ACTT"), "landed", "good"),
    (_has("FINT"), "final-approach", "active"),
    (_has("APPT"), "approaching", "active"),
)
_DEPARTURE: tuple[_Rule, ...] = (
    (_has("ACTT"), "departed", "done"),
    (_any("GTDT", "GCTM"), "gate-closed", "active"),
    (lambda flight: is_last_call(flight.fields), "last-call", "active"),
    (lambda flight: is_boarding(flight.fields), "boarding", "good"),
    (_any("GTDT", "GOTM"), "gate-open", "good"),
    (_any("CKDT", "CCTM"), "check-in-closed", "plain"),
)
_PLANNED: tuple[_Rule, ...] = (
    (_has("DELY"), "delayed", "late"),
    (_any("CKDT", "COTM"), "check-in-open", "good"),
)
DOINGS: Final = (*(doing for _, doing, _ in (*_ANY, *_ARRIVAL, *_DEPARTURE, *_PLANNED)), DELETED)
"""Everything that may be going on."""


def _late_by(flight: FlightState, planned: datetime | None, expected: datetime | None) -> int | None:
    if planned is not None and expected is not None:
        return round((expected.timestamp() - planned.timestamp()) / 60)  # of one zone `-` forgets DST
    return delay_of(flight) or None


def _is_duration(text: str) -> bool:
    return len(text) == 4 and text.isascii() and text.isdigit()


def _elements(flight: FlightState, tag: str) -> tuple[Mapping[str, str], ...]:
    value = flight.fields.get(tag)
    return value if isinstance(value, tuple) else ()


def _time(flight: FlightState, tag: str, policy: Policy) -> datetime | None:
    local = parse_time(text_of(flight, tag))
    return None if local is None else instant_of(local, policy).astimezone(policy.airport_zone)
