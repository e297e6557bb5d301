"""What leaves with ended flights: tombstones, notices to main flights, no cascade (D-33, D-21)."""

import json

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from msgx_core.model.change import FlightSnapshot
from msgx_core.model.flight import Child, FlightState
from msgx_core.rules.policy import Policy
from msgx_core.rules.sweep import plan_departure
from msgx_core.testing.builders import DAY, NOW, flight, later

POLICY = Policy()


def seen(*states: FlightState) -> FlightSnapshot:
    """A snapshot in which each main flight lists its live children."""
    flights = {}
    for state in states:
        children = tuple(
            s.as_child
            for s in sorted(states, key=lambda s: s.flid)
            if s.is_live and s.main_flid == state.flid
        )
        flights[state.flid] = evolve(state, mafl=children if state.carries_mafl else ())
    return FlightSnapshot(flights, generations={DAY: 4})


def test_a_live_flight_leaves_a_tombstone() -> None:
    """D-28, D-33: `ARCHIVED`, version + 1, of the message that touched it last."""
    plan = plan_departure([1], seen(flight(1, version=3, msg_id=8)), now=later(5), policy=POLICY)
    assert json.loads(plan.tombstones[1] or "") == {
        "FLID": 1,
        "KIND": "DELETE",
        "STATE_VERSION": 4,
        "UPDATED_AT": "2027-03-14T06:30:05.123456Z",
        "MSG_ID": 8,
        "OPERATION_DAY": "2027-03-14",
        "DAY_VERSION": 4,
        "DELETED": True,
        "REASON": "ARCHIVED",
    }
    assert plan.notified == ()


def test_a_deleted_flight_leaves_none() -> None:
    """D-28, D-33: consumers have its tombstone already; its main flight does not list it."""
    states = seen(flight(1, deleted=True, MAID=2), flight(2))
    plan = plan_departure([1], states, now=NOW, policy=POLICY)
    assert (plan.tombstones, plan.notified) == ({1: None}, ())


def test_the_main_flight_that_stays_steps_once() -> None:
    """D-21, D-33: two children leave, one step; `LAST_MSG_ID` stays."""
    states = seen(
        flight(1, MAID=9),
        flight(2, MAID=9, FLNO="QX2"),
        flight(3, MAID=9),
        flight(9, version=5, msg_id=7, STND="215"),
    )
    (put,) = plan_departure([1, 3], states, now=later(5), policy=POLICY).notified
    assert (put.state.flid, put.state.version, put.read_version) == (9, 6, 5)
    assert (put.state.last_msg_id, put.state.updated_at) == (7, later(5))
    assert (put.state.mafl, put.changed) == ((Child(2, "QX2"),), ("MAFL",))
    assert json.loads(put.document or "")["MAFL"] == [{"FLID": 2, "FLNO": "QX2"}]
    notice = json.loads(put.notice or "")
    assert (notice["KIND"], notice["MSG_ID"], notice["CHANGED"]) == ("UPSERT", 7, ["MAFL"])


def test_archiving_never_cascades() -> None:
    """H-62, D-21: children of a main flight that leaves stay as they are."""
    states = seen(flight(1, MAID=9), flight(2, MAID=9), flight(9))
    plan = plan_departure([9], states, now=NOW, policy=POLICY)
    assert (list(plan.tombstones), plan.notified) == ([9], ())


def test_who_carries_no_list_gets_no_notice() -> None:
    """D-21: a deleted main flight, one that is a child itself, one that is not there."""
    states = seen(
        flight(1, MAID=7), flight(2, MAID=8), flight(3, MAID=99), flight(7, deleted=True), flight(8, MAID=1)
    )
    assert plan_departure([1, 2, 3], states, now=NOW, policy=POLICY).notified == ()


MAIDS = st.lists(st.integers(0, 9), min_size=9, max_size=9)


@given(maids=MAIDS, live=st.lists(st.booleans(), min_size=9, max_size=9), leaving=st.sets(st.integers(1, 9)))
def test_who_stays_lists_exactly_who_stays(maids: list[int], live: list[bool], leaving: set[int]) -> None:
    """D-21, D-33: after a departure each list is what it would be if the leaving ones had never been."""
    states = [
        flight(n, deleted=not live[n - 1], fields={"MAID": maids[n - 1]} if maids[n - 1] else {})
        for n in range(1, 10)
    ]
    before = seen(*states)
    plan = plan_departure(leaving, before, now=NOW, policy=POLICY)
    after = seen(*[state for state in states if state.flid not in leaving])
    notified = {put.state.flid: put.state.mafl for put in plan.notified}
    assert notified.keys().isdisjoint(leaving)
    for flid, state in after.flights.items():
        assert notified.get(flid, before.flights[flid].mafl) == state.mafl
        assert (flid in notified) == (before.flights[flid].mafl != state.mafl)
    assert {flid for flid, text in plan.tombstones.items() if text} == {n for n in leaving if live[n - 1]}
