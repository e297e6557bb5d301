"""The checks of a soak find what they are for: a soak that cannot fail shows nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from attrs import evolve

from soak import checks
from soak.faults import FAULTS
from soak.traffic import Outcome, messages, undisturbed

LIVE: dict[str, Any] = {"FLID": 7, "STATE": "ACTIVE", "STATE_VERSION": 2}
GONE: dict[str, Any] = {"FLID": 8, "STATE": "DELETED", "STATE_VERSION": 3}
OUTCOME = Outcome(
    fates={1: ("SUCCEEDED", None, None), 2: ("SKIPPED", None, "unsupported")},
    effects=[1],
    documents={7: LIVE, 8: GONE},
    rosters={"2027-03-14": (1, [7])},
    references={"GLST": []},
    alerts=[("EMPTY", 1)],
)


def notice(flid: int, event_id: int, version: int) -> tuple[str, bytes]:
    body = {"FLID": flid, "EVENT_ID": event_id, "STATE_VERSION": version}
    return str(flid), json.dumps(body).encode()


def states(*flights: dict[str, Any]) -> tuple[None, bytes]:
    return None, json.dumps({"SCHD": {"FLTR": list(flights)}}).encode()


@pytest.mark.parametrize(
    "change",
    [
        {"fates": {1: ("SUCCEEDED", None, None), 2: ("DEAD", "INFRA", "x")}},
        {"fates": {1: ("SUCCEEDED", None, None)}},
        {"documents": {7: LIVE | {"STATE_VERSION": 3}, 8: GONE}},
        {"documents": {7: LIVE, 8: GONE, 9: LIVE}},
        {"rosters": {}},
        {"references": {"GLST": [("1", None)]}},
        {"alerts": [("EMPTY", 1), ("EMPTY", 2)]},
    ],
)
def test_any_difference_is_found(change: dict[str, Any]) -> None:
    assert checks.as_undisturbed(OUTCOME, OUTCOME) == []
    assert len(checks.as_undisturbed(evolve(OUTCOME, **change), OUTCOME)) == 1


def test_what_waits_and_what_is_out_of_order() -> None:
    assert checks.all_terminal(OUTCOME) == checks.first_in_first_out(OUTCOME) == []
    assert checks.all_terminal(evolve(OUTCOME, fates={3: ("PENDING", None, None)}))
    for effects in ([1, 3, 2], [1, 1]):
        assert checks.first_in_first_out(evolve(OUTCOME, effects=effects))


def test_gaps_and_repetitions_of_event_ids() -> None:
    assert checks.consecutive([2, 1, 3]) == []
    for ids in ([1, 3], [1, 2, 2], [2, 3], [0, 1]):
        assert checks.consecutive(ids), ids


def test_rows_without_a_mark_and_events_that_are_not_sent() -> None:
    assert checks.all_marked({1: "2027-03-14 08:00:00"}) == []
    assert checks.all_marked({1: None})
    event = {"TARGET": "KAFKA:msg", "EVENT_ID": 1, "STATUS": "SENT"}
    assert checks.all_sent([event]) == []
    assert checks.all_sent([event, event | {"STATUS": "DEAD"}])


def test_what_is_wrong_in_the_cache() -> None:
    right = {"msgx:flight:7": json.dumps(LIVE | {"UPDATED_AT": "now"})}
    assert checks.cache_equals_store(right, OUTCOME.documents) == []
    old = {"msgx:flight:7": json.dumps(LIVE | {"STATE_VERSION": 1})}
    for wrong in ({}, old, right | {"msgx:flight:8": json.dumps(GONE)}):
        assert len(checks.cache_equals_store(wrong, OUTCOME.documents)) == 1


def test_what_is_wrong_on_the_bus() -> None:
    """Duplicates are allowed, anything else is not."""
    written = {1: 1, 2: 1, 3: 2}
    first, other, second = notice(7, 1, 1), notice(8, 2, 1), notice(7, 3, 2)
    assert checks.bus_order([first, other, second], written) == []
    assert checks.bus_order([first, first, second, first, other, second], written) == []
    for wrong in (
        [second, first, other],
        [first, second],
        [first, other, second, notice(9, 4, 1)],
        [first, other, notice(7, 3, 1)],
    ):
        assert checks.bus_order(wrong, written)


def test_a_consumer_that_compares_versions_ends_with_the_store() -> None:
    old = LIVE | {"STATE_VERSION": 1}
    assert checks.consumers_agree([states(old), states(LIVE), states(old)], OUTCOME.documents) == []
    for wrong in ([], [states(old)], [states(LIVE | {"STND": "9"})]):
        assert checks.consumers_agree(wrong, OUTCOME.documents)


def test_an_outage_without_an_end() -> None:
    alert = {"CODE": "OUTAGE", "DETAIL": "cache does not answer", "ENDED_AT": None}
    assert checks.outages_ended([{"CODE": "EMPTY", "DETAIL": None}]) == []
    assert checks.outages_ended([alert])


def test_the_measure_is_the_same_each_time() -> None:
    """Equal seeds: equal messages, and the undisturbed run agrees with itself."""
    raws = messages(3, 60)
    assert raws == messages(3, 60) != messages(4, 60)
    found = undisturbed(raws)
    assert checks.as_undisturbed(found, undisturbed(raws)) == []
    assert checks.all_terminal(found) == checks.first_in_first_out(found) == []
    assert found.documents
    assert len(FAULTS) >= 20
