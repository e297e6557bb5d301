"""A flight as one line of an airport board."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from attrs import frozen

from msgx_core.model.flight import FlightState
from msgx_core.rules.status import is_boarding, is_last_call
from msgx_core.rules.values import parse_time


@frozen
class BoardLine:
    """Texts of one line. `at` is when it is expected, airport local time; `tone` colours the status."""

    at: datetime
    planned: str
    expected: str
    flight: str
    route: str
    place: str
    stand: str
    status: str
    tone: str


def board_line(flight: FlightState) -> BoardLine | None:
    """The line of a main flight; None for a code share, a deleted flight or one without a time."""
    planned = _time(flight, "SODT")
    if planned is None or not flight.is_live or flight.main_flid is not None:
        return None
    expected = _time(flight, "ACTT") or _time(flight, "ESTT")
    status, tone = _status(flight)
    shares = f" +{len(flight.mafl)}" if flight.mafl else ""
    return BoardLine(
        at=expected or planned,
        planned=f"{planned:%H:%M}",
        expected="" if expected in (None, planned) else f"{expected:%H:%M}",
        flight=f"{_text(flight, 'FLNO')}{shares}",
        route=_route(flight),
        place=_elements(flight, "CLDT", "BELT") if arrives(flight) else _elements(flight, "GTDT", "GATE"),
        stand=_elements(flight, "PSDT", "PSST") or _text(flight, "STND"),
        status=status,
        tone=tone,
    )


def arrives(flight: FlightState) -> bool:
    """Whether it is an arrival."""
    return flight.fields.get("MVIN") == "A"


def _status(flight: FlightState) -> tuple[str, str]:
    """What is going on and the colour that goes with it: the first that is true."""
    rules = _ARRIVAL if arrives(flight) else _DEPARTURE
    for holds, text, tone in (*_ANY, *rules, *_PLANNED):
        if holds(flight):
            remark = _text(flight, "REMC") if tone == "plain" else ""
            return (remark or text.format(delay=_delay(flight)), tone)
    return "", "plain"


def _has(tag: str) -> Callable[[FlightState], bool]:
    return lambda flight: tag in flight.fields


def _any(tag: str, key: str) -> Callable[[FlightState], bool]:
    return lambda flight: any(element.get(key) for element in _list(flight, tag))


_Rule = tuple[Callable[[FlightState], bool], str, str]
_ANY: tuple[_Rule, ...] = (
    (_has("CNCL"), "CANCELLED", "bad"),
    (_has("FDIV"), "DIVERTED", "bad"),
    (_has("FRET"), "RETURNED", "bad"),
)
_ARRIVAL: tuple[_Rule, ...] = (
    (_any("CLDT", "LBAG"), "bags delivered", "done"),
    (_any("CLDT", "FBAG"), "bags on belt", "good"),
    (_has("ACTT"), "landed", "good"),
    (_has("FINT"), "final approach", "active"),
    (_has("APPT"), "approaching", "active"),
)
_DEPARTURE: tuple[_Rule, ...] = (
    (_has("ACTT"), "departed", "done"),
    (_any("GTDT", "GCTM"), "gate closed", "active"),
    (lambda flight: is_last_call(flight.fields), "last call", "active"),
    (lambda flight: is_boarding(flight.fields), "boarding", "good"),
    (_any("GTDT", "GOTM"), "gate open", "good"),
    (_any("CKDT", "CCTM"), "check-in closed", "plain"),
)
_PLANNED: tuple[_Rule, ...] = (
    (_has("DELY"), "delayed {delay}", "late"),
    (_any("CKDT", "COTM"), "check-in open", "good"),
    (lambda flight: True, "", "plain"),
)


def _delay(flight: FlightState) -> str:
    minutes = sum(
        int(text[:2]) * 60 + int(text[2:])
        for text in (element.get("DURA", "") for element in _list(flight, "DELY"))
        if len(text) == 4 and text.isdigit()
    )
    return f"{minutes // 60}h{minutes % 60:02d}" if minutes >= 60 else f"{minutes} min"


def _route(flight: FlightState) -> str:
    points = [element.get("APCD", "") for element in _list(flight, "ROUT")]
    if len(points) < 2:
        return ""
    far = points[0] if arrives(flight) else points[-1]
    return f"{'←' if arrives(flight) else '→'} {far}"


def _elements(flight: FlightState, tag: str, key: str) -> str:
    codes = [element.get(key, "") for element in _list(flight, tag)]
    return codes[0] if len(codes) == 1 else f"{codes[0]}+{len(codes) - 1}" if codes else ""


def _list(flight: FlightState, tag: str) -> tuple[dict[str, str], ...]:
    value = flight.fields.get(tag)
    return tuple(dict(element) for element in value) if isinstance(value, tuple) else ()


def _text(flight: FlightState, tag: str) -> str:
    value = flight.fields.get(tag)
    return value if isinstance(value, str) else ""


def _time(flight: FlightState, tag: str) -> datetime | None:
    return parse_time(_text(flight, tag))
