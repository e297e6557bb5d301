"""Store suite: flights leave for the history store, and what stays behind of them (D-33, D-37)."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from msgx_core.errors import Conflict, Fenced, Rejected
from msgx_core.model.change import FlightPut, FlightQuery, RosterReplace
from msgx_core.model.events import EventSettled, EventStatus, Target
from msgx_core.model.flight import Child, FieldValue
from msgx_core.ports import Archived, Store
from msgx_core.testing.builders import DAY, NOW, apply, change, enqueue, flids, flight, later, put
from msgx_core.testing.store_contract import (
    Another,
    Oracle,
    StoreContract,
    count,
    everything,
    msg_event_ids,
    one,
)

TOMBSTONE = '{"KIND":"DELETE","FLID":7}'
GATES: dict[str, FieldValue] = {
    "GTDT": ({"GTNO": "1", "GATE": "A1"},),
    "ROUT": ({"APCD": "KMG"},),
    "FDIV": {"DDES": "SHA"},
}


def _gone(flid: int, version: int = 1, tombstone: str | None = TOMBSTONE) -> Archived:
    return Archived(flid, version, 1, tombstone)


def _step(main: int, *children: Child) -> FlightPut:
    """The main flight's next version, with these children, still of message 1."""
    state = evolve(flight(main, version=2, msg_id=1), mafl=children, updated_at=later(9))
    return evolve(put(state), changed=("MAFL",))


class SweepingContract(StoreContract):
    """`ports.Sweeping`."""

    @pytest.fixture
    def filled(self, held: Store) -> Store:
        """7 and 8 are live children of 10; 9 is deleted; 7 has details, raw sections and a roster row."""
        apply(
            held,
            1,
            put(flight(7, fields={**GATES, "MAID": 10}), raw_sections={"SRVT": "<SRVT/>"}),
            put(flight(8, MAID=10)),
            put(flight(9)),
            put(flight(10)),
            rosters=(RosterReplace(DAY, 0, frozenset({7, 8, 10})),),
        )
        held.finish(1, NOW)
        apply(held, 2, put(flight(9, version=2, msg_id=2, deleted=True)))
        held.finish(2, NOW)
        return held

    def test_flights_come_in_pages_in_any_state(self, filled: Store) -> None:
        """R-389: selection sees live and deleted ones, whole, by FLID."""
        first = filled.flights_after(0, 2)
        rest = filled.flights_after(8, 100)
        assert (flids(first), flids(rest)) == ([7, 8], [9, 10])
        assert first[0].fields["GTDT"] == GATES["GTDT"]
        assert rest[1].mafl == (Child(7, None), Child(8, None))
        assert list(filled.flights_after(10, 100)) == []

    def test_unfinished_messages_are_those_between_their_steps(self, filled: Store) -> None:
        """D-33, R-393: applied and not finished; neither waiting nor final ones."""
        enqueue(filled, 3, 4, 5)
        filled.apply(change(4, put(flight(8, version=2, msg_id=4, MAID=10))))
        assert list(filled.unfinished_message_ids()) == [4]
        filled.fail(4, "INFRA", "cache-rejected", None, later(1), NOW)
        assert list(filled.unfinished_message_ids()) == [4]
        filled.finish(4, NOW)
        assert list(filled.unfinished_message_ids()) == []

    def test_a_flight_leaves_with_all_that_is_its_own(self, filled: Store, oracle: Oracle) -> None:
        """R-389, D-33: main row, details, raw sections, roster row and `schd` row; generations stay."""
        filled.archive_flights([_gone(7)], [], later(9))
        assert filled.flight(7) is None
        assert flids(filled.flights_after(0, 9)) == [8, 9, 10]
        assert filled.raw_sections(7) == {}
        (roster,) = filled.rosters()
        assert (roster.version, sorted(roster.flids)) == (1, [8, 10])
        assert count(oracle, "MSG_EVENT", "TARGET = 'KAFKA:schd' AND FLID = 7") == 0
        apply(filled, 3, put(flight(7, version=3), read_version=None))
        back = filled.flight(7)
        assert back is not None
        assert (dict(back.fields), dict(filled.raw_sections(7))) == ({}, {})

    def test_its_last_version_and_one_stays_as_floor(self, filled: Store, oracle: Oracle) -> None:
        """D-37: who comes back starts above; a floor never sinks."""
        filled.archive_flights([_gone(7), _gone(9, 2, None)], [], later(9))
        snapshot = filled.read(FlightQuery(flids=frozenset({7, 9})))
        assert snapshot.floors == {7: 2, 9: 3}
        enqueue(filled, 3)
        with pytest.raises(Rejected):
            filled.apply(change(3, put(flight(7, version=2), read_version=None)))
        filled.apply(change(3, put(flight(7, version=3), read_version=None)))
        filled.archive_flights([_gone(7, 3)], [], later(9))
        assert filled.read(FlightQuery(flids=frozenset({7}))).floors == {7: 4}
        assert count(oracle, "FLIGHT_VERSION_FLOOR") == 2

    def test_a_live_flight_leaves_a_tombstone(self, filled: Store, oracle: Oracle) -> None:
        """D-28, D-33: one `msg` event with the next id and the version after; none for a deleted flight."""
        last = msg_event_ids(oracle)[-1]
        filled.archive_flights([_gone(7), _gone(9, 2, None)], [], later(9))
        row = one(oracle, f"SELECT * FROM MSG_EVENT WHERE EVENT_ID > {last} AND TARGET = 'KAFKA:msg'")
        assert (row["EVENT_ID"], row["FLID"], row["STATE_VERSION"], row["MSG_ID"]) == (last + 1, 7, 2, 1)
        assert (row["STATUS"], row["ATTEMPTS"]) == ("PENDING", 0)
        assert _events_of(filled, 7)[-1] == json.loads(TOMBSTONE)

    def test_a_main_flight_steps_and_keeps_its_message(self, filled: Store, oracle: Oracle) -> None:
        """D-21, D-33: version, both events with ids in a row; `LAST_MSG_ID` stays."""
        last = msg_event_ids(oracle)[-1]
        filled.archive_flights([_gone(7)], [_step(10, Child(8, None))], later(9))
        main = filled.flight(10)
        assert main is not None
        assert (main.version, main.last_msg_id, main.mafl) == (2, 1, (Child(8, None),))
        assert msg_event_ids(oracle)[-2:] == [last + 1, last + 2]
        assert _events_of(filled, 10)[-1] == {"FLID": 10, "STATE_VERSION": 2}
        row = one(oracle, "SELECT * FROM MSG_EVENT WHERE FLID = 10 AND TARGET = 'KAFKA:schd'")
        assert (row["STATE_VERSION"], row["STATUS"], row["MSG_ID"]) == (2, "PENDING", 1)
        assert row["EVENT_ID"] == one(oracle, "SELECT * FROM COUNTERS WHERE NAME = 'event_schd'")["VALUE"]

    def test_event_ids_go_on_after_it(self, filled: Store, oracle: Oracle) -> None:
        """D-27: counter rows, consecutive in commit order."""
        filled.archive_flights([_gone(7), _gone(8)], [_step(10)], later(9))
        apply(filled, 3, put(flight(11)))
        ids = msg_event_ids(oracle)
        assert ids == list(range(1, len(ids) + 1))

    @pytest.mark.parametrize("broken", ["gone", "unknown", "notified"])
    def test_all_or_nothing(self, filled: Store, oracle: Oracle, broken: str) -> None:
        """R-392, D-02: one that is not at its version, and nothing is written."""
        before = everything(oracle)
        gone = [_gone(7), _gone(8, 2) if broken == "gone" else _gone(99) if broken == "unknown" else _gone(8)]
        step = evolve(_step(10), read_version=5) if broken == "notified" else _step(10)
        with pytest.raises(Conflict):
            filled.archive_flights(gone, [step], later(9))
        assert everything(oracle) == before

    def test_the_stale_holder_archives_nothing(self, filled: Store, another: Another, oracle: Oracle) -> None:
        """D-34: fenced, as is the settling of keys."""
        filled.release_lease()
        other = another(filled)
        assert other.acquire_lease("other", 60.0).granted
        other.archive_flights([_gone(8)], [], later(9))
        before = everything(oracle)
        with pytest.raises(Fenced):
            filled.archive_flights([_gone(7)], [], later(9))
        with pytest.raises(Fenced):
            filled.cache_settled([8])
        assert everything(oracle) == before

    def test_keys_stay_pending_until_they_are_settled(self, filled: Store, another: Another) -> None:
        """D-33: noted in the same transaction, for any holder; the newest version counts."""
        filled.archive_flights([_gone(7), _gone(9, 2, None)], [_step(10)], later(9))
        assert filled.cache_pending(10) == {7: 2, 9: 3, 10: 2}
        assert list(filled.cache_pending(2)) == [7, 9]
        filled.cache_settled([7, 99])
        assert another(filled).cache_pending(10) == {9: 3, 10: 2}
        filled.archive_flights([_gone(10, 2)], [], later(9))
        assert filled.cache_pending(10) == {9: 3, 10: 3}
        filled.cache_settled([9, 10])
        assert filled.cache_pending(10) == {}

    def test_a_delivery_on_its_way_does_not_come_back(self, filled: Store, oracle: Oracle) -> None:
        """R-359: the full state of a flight that left meanwhile settles nothing."""
        event = next(e for e in filled.due_events(Target.SCHD, NOW, 10) if e.flid == 7)
        filled.archive_flights([_gone(7)], [], later(9))
        before = everything(oracle)
        sent = EventSettled(event.event_id, event.target, 7, event.version, EventStatus.SENT)
        filled.settle_events([sent], [], NOW)
        assert everything(oracle) == before


def _events_of(store: Store, flid: int) -> list[object]:
    return [dict(row["PAYLOAD"]) for row in store.flight_events(flid)]
