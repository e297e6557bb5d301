"""Answers to requests: whole days are covered, absence deletes there and nowhere else (D-11, D-32)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

import pytest

from embedded import SimulatedCrash, System, closing_system
from msgx_core.errors import Conflict
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.ports.operations import Audit
from wire import error_answer, fltr, reference, schedule

DAY = date(2027, 3, 14)
WINDOW = [
    fltr(1, "14MAR270805"),
    fltr(2, "14MAR271000"),
    fltr(3, "14MAR272300"),
    fltr(4, "15MAR270100"),
    fltr(5, "15MAR270900"),
]


@pytest.fixture
def system() -> Iterator[System]:
    with closing_system(None) as made:
        made.send([schedule("DNLD", WINDOW)])
        made.drain()
        yield made


def ask(system: System, first: date, last: date, slot: RequestSlot = RequestSlot.RQFD) -> Request:
    """An open request, as sending would have left it."""
    request = Request(
        0, slot, RequestState.PENDING, system.clock.now(), seqn="1", first_day=first, last_day=last
    )
    if slot is RequestSlot.RQRD:
        request = Request(0, slot, RequestState.PENDING, system.clock.now(), seqn="2", rtype="GLST")
    return system.store.create_request(request, Audit("test", "asked"), system.clock.now())


def states(system: System) -> dict[int, str]:
    return {f.flid: f.status.value for f in system.store.flights(limit=1000)}


def generation(system: System, day: date) -> int:
    return next((r.version for r in system.store.rosters(day)), 0)


def request_state(system: System, request: Request) -> tuple[str, str | None]:
    found = next(r for r in system.store.requests() if r.request_id == request.request_id)
    return found.state.value, found.reason


def test_a_window_only_upserts(system: System) -> None:
    """A 48-hour push without a flight deletes none (R-182, D-11); rosters exist, generation 0."""
    system.send([schedule("DNLD", WINDOW[1:])])
    system.drain()
    assert set(states(system).values()) == {"ACTIVE"}
    assert [r.flids for r in system.store.rosters()] == [frozenset({1, 2, 3}), frozenset({4, 5})]
    assert generation(system, DAY) == 0


def test_an_answer_for_one_day_deletes_exactly_what_it_lacks(system: System) -> None:
    """R-166, R-167, R-185, R-294, R-341, R-378: O − N of that day, nothing of the next one; generation + 1;
    the request is DONE (R-181, INV-7)."""
    request = ask(system, DAY, DAY)
    (msg_id,) = system.send([schedule("RESP", [WINDOW[1]])])
    system.drain()
    assert states(system) == {1: "DELETED", 2: "ACTIVE", 3: "DELETED", 4: "ACTIVE", 5: "ACTIVE"}
    assert system.store.rosters(DAY)[0].flids == {2}
    assert generation(system, DAY) == 1
    assert request_state(system, request) == ("DONE", None)
    reasons = {f: system.store.flight_events(f)[-1]["PAYLOAD"].get("REASON") for f in (1, 3)}
    assert set(reasons.values()) == {"SNAPSHOT_ABSENT"}
    log = system.store.snapshots()[0]
    assert (log["MSG_ID"], log["OPERATION_DAY"]) == (msg_id, DAY)
    assert (log["DELETED_COUNT"], log["NEW_VERSION"]) == (2, 1)


def test_a_second_answer_is_unmatched(system: System) -> None:
    """The slot is closed: nothing is updated (G-RESP-GUARD, D-22)."""
    ask(system, DAY, DAY)
    system.send([schedule("RESP", WINDOW[:3]), schedule("RESP", [])])
    system.drain()
    assert list(system.fates().values())[-1] == ("SKIPPED", None, "unmatched-response")
    assert set(states(system).values()) == {"ACTIVE"}


def test_an_empty_answer_deletes_the_days_roster(system: System) -> None:
    """R-442: RECS=0 over a covered day is legal: flag EMPTY, alert, its roster goes (R-328, D-12)."""
    ask(system, DAY, DAY)
    system.send([schedule("RESP", [])])
    system.drain()
    assert states(system) == {1: "DELETED", 2: "DELETED", 3: "DELETED", 4: "ACTIVE", 5: "ACTIVE"}
    assert [a["CODE"] for a in system.store.alerts()] == ["EMPTY"]
    assert system.store.snapshots()[0]["FLAGS"] == ["EMPTY"]


def test_a_covered_day_without_a_record_keeps_its_roster(system: System) -> None:
    """Three days asked, one has none: it keeps roster and generation, with an alert (D-11)."""
    ask(system, DAY, DAY + timedelta(days=2))
    system.send([schedule("RESP", WINDOW[:2])])
    system.drain()
    assert states(system) == {1: "ACTIVE", 2: "ACTIVE", 3: "DELETED", 4: "ACTIVE", 5: "ACTIVE"}
    assert [generation(system, DAY + timedelta(days=n)) for n in range(3)] == [1, 0, 0]
    assert [a["CODE"] for a in system.store.alerts()] == ["EMPTY"]


def test_a_record_outside_the_days_asked_fails_the_package(system: System) -> None:
    """out-of-scope: nothing of it is written, the request stays open (D-11, INV-4)."""
    request = ask(system, DAY, DAY)
    system.send([schedule("RESP", [WINDOW[0], WINDOW[4]])])
    system.drain()
    assert list(system.fates().values())[-1] == ("DEAD", "PROTOCOL", "out-of-scope:5")
    assert set(states(system).values()) == {"ACTIVE"}
    assert request_state(system, request)[0] == "PENDING"
    assert system.store.snapshots()[0]["RESULT"] == "ROLLED_BACK"


def test_a_new_request_is_refused_while_the_old_one_is_bound(system: System) -> None:
    """D-32: a bound request does not expire and keeps its slot."""

    def crash(name: str) -> None:
        if name == "applied":
            raise SimulatedCrash(name)

    ask(system, DAY, DAY)
    system.send([schedule("RESP", WINDOW[:3])])
    system.on_step = crash
    with pytest.raises(SimulatedCrash):
        system.drain()
    with pytest.raises(Conflict):
        ask(system, DAY, DAY)


def test_a_reference_answer_closes_the_request_for_its_category(system: System) -> None:
    """R-339, R-341: Matched by type alone; unasked ones still update (R-412, D-32)."""
    request = ask(system, DAY, DAY, RequestSlot.RQRD)
    gates = ["<GCOD>B07</GCOD>"]
    system.send([reference("BLST", "RESP", ["<BCOD>1</BCOD>"]), reference("GLST", "RESP", gates)])
    system.drain()
    assert request_state(system, request)[0] == "DONE"
    assert [r.rkey for r in system.store.references("BLST")] == ["1"]


def test_eror_fails_the_only_open_request(system: System) -> None:
    """EROR → FAILED(eror) and an alert (R-338, R-436)."""
    request = ask(system, DAY, DAY)
    system.send([error_answer(ERCD="E1", ERTX="坏请求")])
    system.drain()
    assert request_state(system, request) == ("FAILED", "eror")
    assert [(a["CODE"], a["DETAIL"]) for a in system.store.alerts()] == [("EROR", "E1 坏请求")]


def test_eror_without_an_open_request_or_with_two_closes_none(system: System) -> None:
    """D-32: `no-open-request`, `ambiguous-error`."""
    system.send([error_answer()])
    system.drain()
    ask(system, DAY, DAY)
    ask(system, DAY, DAY, RequestSlot.RQRD)
    system.send([error_answer()])
    system.drain()
    reasons = [fate[2] for fate in system.fates().values()]
    assert reasons[-2:] == ["no-open-request", "ambiguous-error"]
    assert all(r.is_open for r in system.store.requests())
