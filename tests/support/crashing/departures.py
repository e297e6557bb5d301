"""What a crash may change after all, by the boundary at which it came, and why; nothing else may differ."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from attrs import frozen

from crashing.state import State, difference
from msgx_core.pipeline.steps import Step

_SEQN = re.compile(r"<SEQN>\d+</SEQN>")


@frozen
class Departure:
    """Why a run that was cut off there may differ, and both states without that difference.

    `check` is what must hold of the run that was cut off.
    """

    why: str
    without: Callable[[State], State]
    check: Callable[[State], bool]


def _rows(state: State, table: str, keep: Callable[[dict[str, object]], bool]) -> State:
    tables = dict(state["store"])
    tables[table] = [row for row in tables[table] if keep(row)]
    return {**state, "store": tables}


def _without_cache_alerts(state: State) -> State:
    return _rows(state, "OPS_ALERT", lambda row: row["CODE"] != "CACHE_LOST")


def _cache_alerts(state: State) -> int:
    return len([row for row in state["store"]["OPS_ALERT"] if row["CODE"] == "CACHE_LOST"])


def _lost(state: State) -> int:
    return len([row for row in state["store"]["REQ_TRACK"] if row["REASON"] == "send-lost"])


def _without_lost_requests(state: State) -> State:
    """Requests that were lost, and the numbers of those behind them."""
    state = _rows(state, "OPS_ALERT", lambda row: row["CODE"] != "SEND_LOST")
    state = _rows(state, "OPS_AUDIT", lambda row: False)
    state = _rows(state, "COUNTERS", lambda row: row["NAME"] != "outbound_seqn")
    state = _rows(state, "REQ_TRACK", lambda row: row["REASON"] != "send-lost")
    numbers = ("REQUEST_ID", "SEQN")
    requests = [
        {name: value for name, value in row.items() if name not in numbers}
        for row in state["store"]["REQ_TRACK"]
    ]
    outbound = [(_SEQN.sub("", text), routing) for text, routing in state["outbound"]]
    return {**state, "store": {**state["store"], "REQ_TRACK": requests}, "outbound": outbound}


def _is_told(state: State) -> bool:
    alerts = len([row for row in state["store"]["OPS_ALERT"] if row["CODE"] == "SEND_LOST"])
    return _lost(state) == alerts >= 1


_AGAIN = Departure(
    "the cache is still not filled: the alert is raised again",
    _without_cache_alerts,
    lambda state: _cache_alerts(state) >= 1,
)
DEPARTURES: Mapping[Step, Departure] = {
    Step.CACHE_LOST: _AGAIN,
    Step.CACHE_PAGE: _AGAIN,
    Step.SEND_BEGUN: Departure(
        "nobody knows whether the row came into the outbound table: lost with an alert, and asked for again",
        _without_lost_requests,
        _is_told,
    ),
    Step.ARCHIVED: Departure(
        "the sweep's step in the archive is lost; its floors stand for it",
        lambda state: {**state, "departures": []},
        lambda state: len(state["departures"]) <= 1,
    ),
}


def compare(found: State, expected: State, *steps: str) -> list[str]:
    """What is not as after an undisturbed run and may not differ after crashes at those boundaries."""
    wrong = difference(found, expected)
    for departure in [DEPARTURES[Step(step)] for step in steps if Step(step) in DEPARTURES]:
        if wrong and departure.check(found):
            found, expected = departure.without(found), departure.without(expected)
            wrong = difference(found, expected)
    return wrong
