"""What is complete for a day, and what its absence means: coverage decides, not the sub-type (D-11)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from attrs import evolve

from embedded import System, closing_system
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.model.schedule import DnldCoverage
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.ports.operations import Audit
from msgx_core.rules.policy import Policy
from wire import fltr, schedule

DAY, NEXT_DAY = date(2027, 9, 9), date(2027, 9, 10)
STAYS, LEAVES, TOMORROW = 121112311, 121112312, 121119845
PLAN = [fltr(STAYS, "09SEP270805"), fltr(LEAVES, "09SEP271200"), fltr(TOMORROW, "10SEP270805")]


def system_with(coverage: DnldCoverage) -> Any:
    return closing_system(None, config=PipelineConfig(policy=Policy(dnld_coverage=coverage)))


def ask(system: System, day: date) -> None:
    request = Request(
        0, RequestSlot.RQFD, RequestState.PENDING, system.clock.now(), seqn="1", first_day=day, last_day=day
    )
    system.store.create_request(request, Audit("test", "asked"), system.clock.now())


def outcome(system: System) -> dict[str, Any]:
    """Flights and rosters, but for the times and the message."""
    found = {}
    for state in system.store.flights(limit=100):
        document = system.document(state.flid)
        found[state.flid] = {k: v for k, v in document.items() if k not in ("UPDATED_AT", "LAST_MSG_ID")}
    return {"flights": found, "rosters": [(r.day, r.version, set(r.flids)) for r in system.store.rosters()]}


def as_answer(system: System) -> bytes:
    """The day was asked for."""
    ask(system, DAY)
    return schedule("RESP", [PLAN[0]])


def as_download(system: System) -> bytes:
    """The operator vouches that a download of one day is complete."""
    return schedule("DNLD", [PLAN[0]])


def run(coverage: DnldCoverage, second: Callable[[System], bytes]) -> dict[str, Any]:
    with system_with(coverage) as system:
        system.send([schedule("DNLD", PLAN)])
        system.drain()
        system.send([second(system)])
        system.drain()
        return outcome(system)


def test_a_day_without_a_flight_deletes_it_and_the_next_day_is_not_touched() -> None:
    """R-329, R-185: the example of the design: 9/9 without one of its flights, 9/10 as it was."""
    ended = run(DnldCoverage.WINDOW, as_answer)
    assert {flid: f["STATE"] for flid, f in ended["flights"].items()} == {
        STAYS: "ACTIVE",
        LEAVES: "DELETED",
        TOMORROW: "ACTIVE",
    }
    assert ended["rosters"] == [(DAY, 1, {STAYS}), (NEXT_DAY, 0, {TOMORROW})]


def test_download_and_answer_do_the_same_when_they_cover_the_same() -> None:
    """R-159, R-180, R-183: one way for both; only where the coverage comes from differs."""
    assert run(DnldCoverage.SINGLE_DAY, as_download) == run(DnldCoverage.WINDOW, as_answer)


@pytest.mark.parametrize("coverage", list(DnldCoverage))
def test_completeness_chooses_what_absence_means_and_rejects_nothing(coverage: DnldCoverage) -> None:
    """R-178, R-182, R-184: the same download is taken in any case, and its records are whole in any case."""
    with system_with(coverage) as system:
        system.send([schedule("DNLD", [fltr(STAYS, "09SEP270805", REMC="late")]), schedule("DNLD", PLAN)])
        system.send([schedule("DNLD", [PLAN[0], PLAN[2]])])
        system.drain()
        assert {state for state, _, _ in system.fates().values()} == {"SUCCEEDED"}
        assert "REMC" not in system.document(STAYS)
        states = {state.flid: state.is_live for state in system.store.flights(limit=100)}
    # Between 08:05 of the one day and 08:05 of the next lies the flight that is missing.
    assert states == {STAYS: True, LEAVES: coverage is not DnldCoverage.OBSERVED, TOMORROW: True}


def test_a_policy_is_a_value() -> None:
    """R-183: the choice is made where messages enter and goes with the decision."""
    assert evolve(Policy(), dnld_coverage=DnldCoverage.OBSERVED) != Policy()
    assert Policy().dnld_coverage is DnldCoverage.WINDOW
