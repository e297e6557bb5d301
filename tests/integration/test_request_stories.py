"""From a window to answers: what they come to (D-11, D-12, D-32). Crashes on the way: `tests/crash`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from embedded import System
from requesting import (
    DAY,
    NEXT,
    TIMEOUT,
    WINDOW,
    alerts,
    ask,
    deleted,
    flights,
    state,
    window,
)
from wire import error_answer, fltr, reference, schedule

Scenario = Callable[[System], None]
LATE = [fltr(9, "14MAR271200"), WINDOW[1]]


def sent(system: System, first: date = DAY, last: date | None = None, rtype: str | None = None) -> int:
    """Ask and drain: the request is out."""
    asked = ask(system, first, last, rtype)
    system.drain()
    assert state(system, asked) == ("SENT", None)
    return asked


def answer(system: System, *raws: bytes) -> None:
    """Messages come in and are worked off."""
    system.send(raws)
    system.drain()


def one_day(system: System) -> None:
    """A whole day that lacks two of its flights; a second answer."""
    sent(system)
    answer(system, schedule("RESP", [WINDOW[1]], seqn=1_000_000_001))
    answer(system, schedule("RESP", [], seqn=1_000_000_002))


def empty(system: System) -> None:
    """An answer without records."""
    sent(system)
    answer(system, schedule("RESP", [], seqn=1_000_000_001))


def three_days(system: System) -> None:
    """Three days of which the last has no records."""
    sent(system, DAY, DAY + timedelta(days=2))
    answer(system, schedule("RESP", [WINDOW[0], WINDOW[1], WINDOW[4]], seqn=1_000_000_001))


def late(system: System) -> None:
    """An answer after its request has expired; then one for the same range, asked for again."""
    sent(system)
    system.clock.advance(TIMEOUT)
    system.drain()
    answer(system, schedule("RESP", LATE, seqn=1_000_000_001))
    sent(system)
    answer(system, schedule("RESP", [WINDOW[1]], seqn=1_000_000_002))


def ambiguous(system: System) -> None:
    """An answer while one of another range, which has expired, may still be answered: it only upserts."""
    sent(system, DAY)
    system.clock.advance(TIMEOUT)
    system.drain()
    sent(system, NEXT)
    answer(system, schedule("RESP", LATE, seqn=1_000_000_001))


def after_the_late_window(system: System) -> None:
    """A day later nobody answers the old one any more."""
    sent(system, DAY)
    system.clock.advance(TIMEOUT)
    system.drain()
    system.clock.advance(timedelta(hours=24))
    sent(system, NEXT)
    answer(system, schedule("RESP", [WINDOW[4]], seqn=1_000_000_001))


def refused(system: System) -> None:
    """Upstream refuses the one, then answers the other slot."""
    sent(system)
    answer(system, error_answer(ETYP="RQFD", ERCD="E1"))
    sent(system, rtype="GLST")
    answer(system, reference("GLST", "RESP", ["<GCOD>B07</GCOD>"]))


def pushes(system: System) -> None:
    """Pushes while a request is open complete nothing and delete nothing."""
    sent(system)
    answer(system, schedule("DNLD", WINDOW[:1], seqn=1_000_000_001), schedule("DNLD", [], seqn=1_000_000_002))


EXPECTED: dict[Scenario, dict[str, Any]] = {
    one_day: {
        "deleted": {1, 3},
        "requests": [("DONE", None)],
        "fates": [("SUCCEEDED", None), ("SKIPPED", "unmatched-response")],
        "generations": {DAY: 1, NEXT: 0},
    },
    empty: {
        "deleted": {1, 2, 3},
        "requests": [("DONE", None)],
        "fates": [("SUCCEEDED", None)],
        "alerts": ["EMPTY"],
        "generations": {DAY: 1, NEXT: 0},
    },
    three_days: {
        "deleted": {3, 4},
        "requests": [("DONE", None)],
        "fates": [("SUCCEEDED", None)],
        "alerts": ["EMPTY"],
        "generations": {DAY: 1, NEXT: 1},
    },
    late: {
        "deleted": {1, 3},
        "requests": [("EXPIRED", "timeout"), ("DONE", None)],
        "fates": [("SKIPPED", "unmatched-response"), ("SUCCEEDED", None)],
        "generations": {DAY: 1, NEXT: 0},
    },
    ambiguous: {
        "requests": [("EXPIRED", "timeout"), ("SENT", None)],
        "fates": [("SUCCEEDED", None)],
        "alerts": ["AMBIGUOUS_ANSWER"],
        "flights": {1, 2, 3, 4, 5, 9},
    },
    after_the_late_window: {
        "deleted": {4},
        "requests": [("EXPIRED", "timeout"), ("DONE", None)],
        "fates": [("SUCCEEDED", None)],
        "generations": {DAY: 0, NEXT: 1},
    },
    refused: {
        "requests": [("FAILED", "eror"), ("DONE", None)],
        "fates": [("SUCCEEDED", None), ("SUCCEEDED", None)],
        "alerts": ["EROR"],
    },
    pushes: {
        "requests": [("SENT", None)],
        "fates": [("SUCCEEDED", None), ("SUCCEEDED", None)],
        "alerts": ["EMPTY"],
    },
}
SCENARIOS = [pytest.param(scenario, id=scenario.__name__) for scenario in EXPECTED]


def outcome(system: System) -> dict[str, Any]:
    """What has come of it."""
    requests = [state(system, r.request_id) for r in reversed(system.store.requests())]
    fates = [(fate, reason) for fate, _, reason in system.fates().values()]
    generations = {r.day: r.version for r in system.store.rosters()}
    return {
        "deleted": deleted(system),
        "flights": set(flights(system)),
        "requests": requests,
        "fates": fates[1:],
        "alerts": sorted(alerts(system)),
        "generations": {day: version for day, version in generations.items() if day in (DAY, NEXT)},
    }


def expected(scenario: Scenario) -> dict[str, Any]:
    nothing = {"deleted": set(), "flights": {1, 2, 3, 4, 5}, "alerts": [], "generations": {DAY: 0, NEXT: 0}}
    return {**nothing, **EXPECTED[scenario]}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_what_it_comes_to(scenario: Scenario) -> None:
    """D-11, D-12, D-22, D-32: exactly what the decisions say, and no more."""
    with window() as system:
        scenario(system)
        assert outcome(system) == expected(scenario)
