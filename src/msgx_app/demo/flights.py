"""A flight as one line of an airport board."""

from __future__ import annotations

from datetime import datetime

from attrs import frozen

from msgx_app.answers.board import arrives, codes_of, delay_of, doing_of, far_end, text_of
from msgx_core.model.flight import FlightState
from msgx_core.rules.values import parse_time

_LOUD = frozenset({"cancelled", "diverted", "returned"})


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
    doing, tone = doing_of(flight)
    shares = f" +{len(flight.mafl)}" if flight.mafl else ""
    places = codes_of(flight, "CLDT", "BELT") if arrives(flight) else codes_of(flight, "GTDT", "GATE")
    return BoardLine(
        at=expected or planned,
        planned=f"{planned:%H:%M}",
        expected="" if expected in (None, planned) else f"{expected:%H:%M}",
        flight=f"{text_of(flight, 'FLNO')}{shares}",
        route=_route(flight),
        place=_short(places),
        stand=_short(codes_of(flight, "PSDT", "PSST")) or text_of(flight, "STND"),
        status=_status(flight, doing, tone),
        tone=tone,
    )


def _status(flight: FlightState, doing: str, tone: str) -> str:
    if doing == "delayed":
        return f"delayed {_delay(delay_of(flight))}"
    if doing in _LOUD:
        return doing.upper()
    if tone == "plain":
        return text_of(flight, "REMC") or _words(doing)
    return _words(doing)


def _words(doing: str) -> str:
    head, hyphen, rest = doing.rpartition("check-in-")
    return f"check-in {rest}" if hyphen and not head else doing.replace("-", " ")


def _delay(minutes: int) -> str:
    return f"{minutes // 60}h{minutes % 60:02d}" if minutes >= 60 else f"{minutes} min"


def _route(flight: FlightState) -> str:
    far = far_end(flight)
    return f"{'←' if arrives(flight) else '→'} {far}" if far else ""


def _short(codes: tuple[str, ...]) -> str:
    return codes[0] if len(codes) == 1 else f"{codes[0]}+{len(codes) - 1}" if codes else ""


def _time(flight: FlightState, tag: str) -> datetime | None:
    return parse_time(text_of(flight, tag))
