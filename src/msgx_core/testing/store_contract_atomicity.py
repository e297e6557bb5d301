"""Store suite: ① is all or nothing; what was read must still be so; guards of the database (D-02, D-03)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from msgx_core.errors import Conflict, Rejected
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.change import Change, RosterReplace
from msgx_core.model.message import Node
from msgx_core.model.reference import PutRecord, RefRecord
from msgx_core.model.request import BindRequest, FailRequest
from msgx_core.model.schedule import SenderMark
from msgx_core.ports import Store
from msgx_core.testing.builders import (
    AUDIT,
    DAY,
    NEXT_DAY,
    NOW,
    apply,
    apply_states,
    change,
    enqueue,
    flight,
    put,
    request,
    skipped,
)
from msgx_core.testing.store_contract import Oracle, StoreContract, count, everything, msg_event_ids

FULL: dict[str, Any] = {
    "rosters": (RosterReplace(DAY, 0, frozenset({50, 51})),),
    "roster_add": {52: NEXT_DAY},
    "reference": (PutRecord(RefRecord("GLST", "A1", Node("GLST"), 9, NOW)),),
    "sender": SenderMark("AODB", 9, "20270314060000"),
    "alerts": (Alert(AlertCode.BAD_VALUE, 9),),
}


def _full(*puts: Any, **more: Any) -> Change:
    return change(9, put(flight(50)), put(flight(51), raw_sections={"SRVT": "<SRVT/>"}), *puts, **FULL | more)


BROKEN: dict[str, tuple[type[Exception], Callable[[], Change]]] = {
    "version moved": (Conflict, lambda: _full(put(flight(1, version=9)))),
    "row appeared": (Conflict, lambda: _full(put(flight(1), read_version=None))),
    "row vanished": (Conflict, lambda: _full(put(flight(99, version=3)))),
    "unadvanced version moved": (
        Conflict,
        lambda: _full(put(flight(1, version=9), read_version=9, advanced=False)),
    ),
    "generation moved": (Conflict, lambda: _full(rosters=(RosterReplace(NEXT_DAY, 3, frozenset()),))),
    "generation vanished": (Conflict, lambda: _full(rosters=(RosterReplace(DAY, 3, frozenset()),))),
    "generation appeared": (Conflict, lambda: _full(rosters=(RosterReplace(NEXT_DAY, 0, frozenset()),))),
    "request closed": (Conflict, lambda: _full(request=BindRequest(1))),
    "request bound": (Conflict, lambda: _full(request=BindRequest(2))),
    "request unknown": (Conflict, lambda: _full(request=FailRequest(77, "eror"))),
    "request to fail closed": (Conflict, lambda: _full(request=FailRequest(1, "eror"))),
    "day changed": (Rejected, lambda: _full(put(flight(1, version=2, day=NEXT_DAY)))),
    "day lost": (Rejected, lambda: _full(put(flight(1, version=2, day=None)))),
    "version fell": (Rejected, lambda: _full(put(flight(1, version=1), read_version=1))),
    "below the floor": (Rejected, lambda: _full(put(flight(60, version=5), read_version=None))),
    "on another roster": (Rejected, lambda: _full(roster_add={2: DAY})),
    "covered on another roster": (
        Rejected,
        lambda: _full(rosters=(RosterReplace(NEXT_DAY, 1, frozenset({1})),)),
    ),
    "too large a number": (Rejected, lambda: _full(put(flight(10**30)))),
}


class AtomicityContract(StoreContract):
    """A `Change` that fails leaves nothing."""

    @pytest.fixture
    def ready(self, held: Store, oracle: Oracle) -> Store:
        """Flight 1 on DAY's roster, NEXT_DAY covered, a closed and a bound request, a floor, message 9."""
        apply_states(held, 1, [flight(1)], roster_add={1: DAY})
        apply(held, 2, rosters=(RosterReplace(NEXT_DAY, 0, frozenset({2})),))
        held.create_request(request(), AUDIT, NOW)
        asked = held.create_request(request(), AUDIT, NOW)
        apply(held, 3, request=BindRequest(asked.request_id))
        oracle.run(
            "INSERT INTO FLIGHT_VERSION_FLOOR (FLID, STATE_VERSION, UPDATED_AT)"
            " VALUES (60, 5, '2027-03-14T06:00:00.000000+00:00')"
        )
        enqueue(held, 9)
        return held

    def test_the_whole_change_goes_in(self, ready: Store, oracle: Oracle) -> None:
        """The change that the cases below break does apply when nothing is broken."""
        ready.apply(_full(put(flight(1, version=2))))
        assert count(oracle, "FLIGHT_SCHD") == 3
        assert count(oracle, "FLIGHT_RAW_SECTION") == count(oracle, "REF_MASTER") == 1
        assert count(oracle, "SCHD_GEN_FLID", "OPERATION_DAY = '2027-03-14'") == 2

    @pytest.mark.parametrize("case", BROKEN)
    def test_what_fails_leaves_nothing(self, ready: Store, oracle: Oracle, case: str) -> None:
        """R-164, R-323, INV-3, D-02, D-03, D-10, R-101, R-321: conflict or refusal, and every table is as
        before."""
        before = everything(oracle)
        expected, broken = BROKEN[case]
        with pytest.raises(expected) as caught:
            ready.apply(broken())
        if isinstance(caught.value, Rejected):
            assert caught.value.reason.startswith("store-rejected:")
        assert everything(oracle) == before

    def test_a_rolled_back_change_uses_no_numbers(self, ready: Store, oracle: Oracle) -> None:
        """D-27: counters are transactional, so that ids have no gaps."""
        last = msg_event_ids(oracle)[-1]
        expected, broken = BROKEN["version moved"]
        with pytest.raises(expected):
            ready.apply(broken())
        apply_no = ready.apply(_full())
        assert msg_event_ids(oracle)[-2:] == [last + 1, last + 2]
        enqueue(ready, 10)
        assert ready.apply(change(10)) == apply_no + 1

    def test_after_a_conflict_the_next_decision_goes_in(self, ready: Store) -> None:
        """R-127, D-02: read again, decide again."""
        with pytest.raises(Conflict):
            ready.apply(change(9, put(flight(1, version=9))))
        ready.apply(change(9, put(flight(1, version=2, msg_id=9))))
        found = ready.flight(1)
        assert found is not None
        assert (found.version, found.last_msg_id) == (2, 9)

    def test_a_day_is_bound_once(self, held: Store) -> None:
        """R-283, D-08, D-10: an unknown day may become known."""
        apply(held, 1, put(flight(7, day=None)))
        apply(held, 2, put(flight(7, version=2, day=DAY)))
        apply(held, 3, put(flight(7, version=3, day=DAY, deleted=True)))
        found = held.flight(7)
        assert found is not None
        assert found.operation_day == DAY

    def test_the_database_guards_the_day(self, held: Store, oracle: Oracle) -> None:
        """R-284, D-10: by itself, whoever writes."""
        apply(held, 1, put(flight(7)))
        with pytest.raises(Exception, match="OPERATION_DAY"):
            oracle.run("UPDATE FLIGHT_SCHD SET OPERATION_DAY = '2027-03-15' WHERE FLID = 7")
        with pytest.raises(Exception, match="OPERATION_DAY"):
            oracle.run("UPDATE FLIGHT_SCHD SET OPERATION_DAY = NULL WHERE FLID = 7")

    def test_a_flight_comes_back_above_its_floor(self, ready: Store) -> None:
        """D-37: the version goes on after archiving."""
        ready.apply(change(9, put(flight(60, version=6, day=NEXT_DAY), read_version=None)))
        found = ready.flight(60)
        assert found is not None
        assert found.version == 6

    def test_an_alert_is_not_left_alone(self, ready: Store, oracle: Oracle) -> None:
        """D-41: closing and its alerts are one transaction."""
        assert ready.close_unapplied(9, skipped(), [Alert(AlertCode.EXHAUSTED)], NOW)
        assert count(oracle, "OPS_ALERT") == 1
