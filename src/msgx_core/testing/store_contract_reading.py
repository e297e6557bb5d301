"""Store suite: what decisions read, in bulk and consistent, with the code-share family (R-464, D-21)."""

from __future__ import annotations

import threading

import pytest

from msgx_core.model.change import FlightQuery, FlightSnapshot, RosterReplace
from msgx_core.model.flight import Child
from msgx_core.model.request import BindRequest, RequestSlot, RequestState
from msgx_core.model.schedule import Roster, SenderMark
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
    flids,
    flight,
    later,
    put,
    request,
)
from msgx_core.testing.store_contract import Oracle, StoreContract

PAGE = 3_000


class ReadingContract(StoreContract):
    """`read`, `live_flights`, `open_requests` and the derivation of `MAFL`."""

    @pytest.fixture
    def family(self, held: Store) -> Store:
        """Main 10 with live children 11, 12 and deleted 13; 20 stands alone; 15 names a missing main 14."""
        apply_states(
            held,
            1,
            [
                flight(12, FLNO="MU12", MAID=10, sodt_at=later(20)),
                flight(10, FLNO="CA10", sodt_at=later(0)),
                flight(11, MAID=10, day=NEXT_DAY, sodt_at=later(90_000)),
                flight(13, FLNO="CZ13", MAID=10, deleted=True, sodt_at=later(20)),
                flight(20, FLNO="HU20", MAID=20, sodt_at=later(40)),
                flight(15, FLNO="3U15", MAID=14, day=None),
            ],
            roster_add={12: DAY, 10: DAY, 11: NEXT_DAY, 20: DAY},
        )
        return held

    def test_an_empty_query(self, family: Store) -> None:
        """Nothing asked, nothing found."""
        assert family.read(FlightQuery()) == FlightSnapshot()

    def test_unknown_flights_are_absent(self, family: Store) -> None:
        """D-08: a missing flight is no error."""
        query = FlightQuery(flids=frozenset({98, 99}), maids=frozenset({97}), sndr="NOBODY")
        assert family.read(query) == FlightSnapshot()

    def test_a_main_flight_comes_with_its_live_children(self, family: Store) -> None:
        """D-21: every live child of what was asked for; deleted ones are not."""
        found = family.read(FlightQuery(flids=frozenset({10})))
        assert sorted(found.flights) == [10, 11, 12]
        assert found.flights[10].mafl == (Child(11, None), Child(12, "MU12"))
        assert found.flights[12].mafl == ()

    def test_a_child_comes_with_its_main_flight_and_siblings(self, family: Store) -> None:
        """D-21: the main flight must be told; its list needs all children."""
        found = family.read(FlightQuery(flids=frozenset({12})))
        assert sorted(found.flights) == [10, 11, 12]
        assert found.flights[10].mafl == (Child(11, None), Child(12, "MU12"))

    def test_a_named_main_flight_comes_with_its_children(self, family: Store) -> None:
        """D-21: the message may bring a child for it; children of a main that is missing come too."""
        assert sorted(family.read(FlightQuery(maids=frozenset({10}))).flights) == [10, 11, 12]
        assert sorted(family.read(FlightQuery(maids=frozenset({14}))).flights) == [15]

    def test_a_main_flight_that_names_itself(self, family: Store) -> None:
        """D-21: MAID to itself is stored and ignored."""
        (state,) = family.read(FlightQuery(flids=frozenset({20}))).flights.values()
        assert state.fields["MAID"] == 20
        assert state.mafl == ()

    def test_only_a_live_flight_without_main_carries_a_list(self, family: Store) -> None:
        """D-21, R-305: no chains: a child that is named as main itself carries none."""
        apply(family, 2, put(flight(30, MAID=12, FLNO="ZH30")))
        found = family.read(FlightQuery(flids=frozenset({12})))
        assert sorted(found.flights) == [10, 11, 12, 30]
        assert found.flights[12].mafl == ()
        apply(family, 3, put(flight(10, version=2, deleted=True)))
        assert family.read(FlightQuery(flids=frozenset({10}))).flights[10].mafl == ()

    def test_the_list_is_the_same_in_every_read(self, family: Store) -> None:
        """D-21: derived on reading, wherever a flight is read whole."""
        mafl = (Child(11, None), Child(12, "MU12"))
        flight_10 = family.flight(10)
        assert flight_10 is not None
        assert flight_10.mafl == mafl
        for states in (family.flights(), family.touched_by(1), family.live_flights(0, 100)):
            assert {state.flid: state.mafl for state in states if state.mafl} == {10: mafl}

    def test_live_flights_come_page_by_page(self, family: Store) -> None:
        """D-31: for rebuilding the cache."""
        assert flids(family.live_flights(0, 3)) == [10, 11, 12]
        assert flids(family.live_flights(12, 3)) == [15, 20]
        assert list(family.live_flights(20, 3)) == []

    def test_members_of_rosters(self, family: Store) -> None:
        """D-11: a roster brings its members and its generation."""
        apply(family, 2, rosters=(RosterReplace(NEXT_DAY, 0, frozenset({11, 40})),))
        found = family.read(FlightQuery(roster_days=frozenset({NEXT_DAY})))
        assert found.rosters == {NEXT_DAY: Roster(NEXT_DAY, 1, frozenset({11, 40}))}
        assert 11 in found.flights
        assert 40 not in found.flights
        assert found.generations == {NEXT_DAY: 1, DAY: 0}

    def test_an_unknown_day_has_an_empty_roster(self, held: Store) -> None:
        """D-11: generation 0, nobody on it."""
        found = held.read(FlightQuery(roster_days=frozenset({DAY}), days=frozenset({NEXT_DAY})))
        assert found.rosters == {DAY: Roster(DAY, 0, frozenset())}
        assert found.generations == {DAY: 0, NEXT_DAY: 0}

    def test_generations_of_days_and_flights(self, family: Store) -> None:
        """D-28: events carry the generation of their day."""
        apply(family, 2, rosters=(RosterReplace(DAY, 0, frozenset({10, 12, 20})),))
        found = family.read(FlightQuery(flids=frozenset({20}), days=frozenset({NEXT_DAY})))
        assert found.generations == {DAY: 1, NEXT_DAY: 0}

    def test_live_flights_of_an_interval(self, family: Store) -> None:
        """D-11: both ends inclusive, deleted flights are not in it; families come along."""
        found = family.read(FlightQuery(interval=(later(20), later(40))))
        assert found.in_interval == {12, 20}
        assert sorted(found.flights) == [10, 11, 12, 20]
        assert family.read(FlightQuery(interval=(later(21), later(39)))).in_interval == frozenset()

    def test_floors_of_archived_flights(self, family: Store, oracle: Oracle) -> None:
        """D-37: the last version of a flight whose rows are gone; not of one that has come back."""
        for flid in (50, 10, 51):
            oracle.run(
                "INSERT INTO FLIGHT_VERSION_FLOOR (FLID, STATE_VERSION, UPDATED_AT)"
                f" VALUES ({flid}, 4, '2027-03-14T06:00:00.000000+00:00')"
            )
        assert family.read(FlightQuery(flids=frozenset({10, 50, 99}))).floors == {50: 4}

    def test_the_mark_of_the_sender(self, held: Store) -> None:
        """D-16: what the sender sent last, if anything."""
        mark = SenderMark("AODB", 8, "20270314060001", "20270314060000", None, 12)
        apply(held, 1, sender=mark)
        assert held.read(FlightQuery(sndr="AODB")).sender == mark
        assert held.read(FlightQuery()).sender is None

    def test_a_query_of_any_size(self, held: Store) -> None:
        """R-466, R-464: no limit of variables shows."""
        states = [flight(n, MAID=n - 1) if n % 2 else flight(n) for n in range(1, PAGE + 1)]
        apply_states(held, 1, states, roster_add=dict.fromkeys(range(1, PAGE + 1), DAY))
        found = held.read(FlightQuery(flids=frozenset(range(1, 40_000)), roster_days=frozenset({DAY})))
        assert len(found.flights) == len(found.rosters[DAY].flids) == PAGE
        assert found.flights[2].mafl == (Child(3, None),)

    def test_a_read_is_consistent(self, held: Store) -> None:
        """R-466, R-464, R-465: beside a writer, flights of one ① are seen in one version."""
        rounds = 40
        enqueue(held, *range(1, rounds + 1))
        pair = [1, 2]

        def write() -> None:
            for version in range(1, rounds + 1):
                held.apply(change(version, *[put(flight(n, version=version)) for n in pair]))

        writer = threading.Thread(target=write)
        writer.start()
        versions = []
        while writer.is_alive():
            found = held.read(FlightQuery(flids=frozenset(pair)))
            versions.append({state.version for state in found.flights.values()})
        writer.join()
        assert all(len(seen) < 2 for seen in versions)

    def test_what_is_read_is_a_copy(self, family: Store) -> None:
        """A store hands out no live objects."""
        first = family.flight(10)
        second = family.flight(10)
        assert first == second
        assert first is not second

    def test_open_requests_and_those_that_expired(self, held: Store, oracle: Oracle) -> None:
        """D-32: newest first; answered and closed ones are not among them."""
        done = held.create_request(request(), AUDIT, NOW)
        apply(held, 1, request=BindRequest(done.request_id))
        held.finish(1, NOW)
        replaced = held.create_request(request(first_day=DAY, last_day=DAY), AUDIT, NOW)
        held.create_request(request(RequestSlot.RQRD, rtype="GLST"), AUDIT, NOW)
        asked = held.create_request(request(first_day=NEXT_DAY, last_day=NEXT_DAY), AUDIT, later(10))
        assert list(held.open_requests(RequestSlot.RQFD)) == [asked]
        found = held.open_requests(RequestSlot.RQFD, expired_since=later(10))
        assert [each.request_id for each in found] == [asked.request_id, replaced.request_id]
        assert (found[1].state, found[1].reason) == (RequestState.EXPIRED, "replaced")
        assert list(held.open_requests(RequestSlot.RQFD, expired_since=later(11))) == [asked]
