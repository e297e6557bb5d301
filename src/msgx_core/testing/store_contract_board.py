"""Store suite: the flight board."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from msgx_core.model.events import Target
from msgx_core.model.flight import FieldValue, FlightState
from msgx_core.ports import Store
from msgx_core.ports.board import BoardDay, BoardFilter, place_of
from msgx_core.testing.builders import DAY, NEXT_DAY, NOW, apply, flids, flight, later, put
from msgx_core.testing.store_contract import StoreContract

NOTHING_ON = date(2027, 3, 20)


class BoardContract(StoreContract):
    """`ports.board.BoardViews`, and what one flight's page asks for."""

    @pytest.fixture
    def day(self, held: Store) -> Store:
        """By time: 5, 3 and 4 (the same), 9 (shared by 3), 8 (deleted), 2 (its main flight is not there),
        6 (without a time); 20 is of the next day, 30 has none.
        """
        gates: dict[str, FieldValue] = {"GTDT": ({"GATE": "A12"}, {"GATE": "B7"})}
        apply(
            held,
            1,
            put(flight(5, sodt_at=later(-60), MVIN="A", FLNO="QX500", ACTT="14MAR271430")),
            put(flight(4, sodt_at=NOW, MVIN="D", FLNO="qx400", CNCL="14MAR271400")),
            put(flight(3, sodt_at=NOW, MVIN="D", FLNO="QX300", fields=gates)),
            put(flight(9, sodt_at=later(60), MVIN="D", FLNO="ZZ900", MAID=3)),
            put(flight(8, sodt_at=later(120), MVIN="A", FLNO="QX800")),
            put(flight(2, sodt_at=later(180), MVIN="D", FLNO="WW200", MAID=77)),
            put(flight(6, FLNO="国航6")),
            put(flight(20, sodt_at=NOW + timedelta(days=1), day=NEXT_DAY, MVIN="A", FLNO="QX200")),
            put(flight(30, day=None, FLNO="QX301")),
        )
        gone = flight(8, version=2, msg_id=2, sodt_at=later(120), MVIN="A", FLNO="QX800", deleted=True)
        apply(held, 2, put(gone))
        return held

    def test_a_board_is_by_time_and_flights_without_one_come_last(self, day: Store) -> None:
        """product: flight board by operation day; D-06: deleted ones stay; D-21: `MAFL`."""
        found = day.board(BoardFilter(DAY))
        assert flids(found) == [5, 3, 4, 8, 2, 6]
        assert [child.flid for child in found[1].mafl] == [9]
        assert [each.is_live for each in found] == [True, True, True, False, True, True]
        assert flids(day.board(BoardFilter(NEXT_DAY))) == [20]
        assert flids(day.board(BoardFilter(None))) == [30]
        assert day.board(BoardFilter(NOTHING_ON)) == []

    @pytest.mark.parametrize("limit", [1, 2, 3])
    def test_a_board_goes_on_behind_a_place(self, day: Store, limit: int) -> None:
        """Every flight once, also those of the same time and those without one."""
        whole = list(day.board(BoardFilter(DAY)))
        seen: list[FlightState] = []
        place = None
        while page := day.board(BoardFilter(DAY, after=place, limit=limit)):
            assert len(page) <= limit
            seen.extend(page)
            place = place_of(page[-1])
        assert seen == whole
        assert flids(day.board(BoardFilter(DAY, after=(NOW, 0)))) == [3, 4, 8, 2, 6]

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (BoardFilter(DAY, mvin="A"), [5, 8]),
            (BoardFilter(DAY, mvin="D"), [3, 4, 2]),
            (BoardFilter(DAY, mvin="X"), []),
            (BoardFilter(DAY, text="qX"), [5, 3, 4, 8]),
            (BoardFilter(DAY, text="x4"), [4]),
            (BoardFilter(DAY, text="b7"), [3]),
            (BoardFilter(DAY, text="B"), []),
            (BoardFilter(DAY, text="9"), [9]),
            (BoardFilter(DAY, text="zz9"), [9]),
            (BoardFilter(DAY, text="国航"), [6]),
            (BoardFilter(DAY, text="%"), []),
            (BoardFilter(DAY, text="QX", mvin="A", after=(NOW, 0)), [8]),
            (BoardFilter(None, text="3"), [30]),
        ],
    )
    def test_a_board_is_filtered(self, day: Store, where: BoardFilter, expected: list[int]) -> None:
        """Part of `FLNO`, the beginning of FLID, a whole gate; a code share when it is sought."""
        assert flids(day.board(where)) == expected

    def test_a_day_knows_its_size_and_its_neighbours(self, day: Store) -> None:
        """Live flights are counted once, whatever they are shared by."""
        assert day.board_day(DAY) == BoardDay(5, 1, 3, 1, 1, later(-60), None, NEXT_DAY, 1)
        assert day.board_day(NEXT_DAY) == BoardDay(1, 1, 0, 0, 0, None, DAY, None, 1)
        assert day.board_day(NOTHING_ON) == BoardDay(earlier=NEXT_DAY, without_day=1)
        assert day.board_day(None) == BoardDay(1, earlier=NEXT_DAY, without_day=1)

    def test_an_empty_store_has_no_day(self, store: Store) -> None:
        """Nothing yet."""
        assert store.board_day(DAY) == store.board_day(None) == BoardDay()
        assert store.board(BoardFilter(DAY)) == []

    def test_the_full_state_that_waits_for_the_bus(self, day: Store) -> None:
        """D-29: one row of the other topic for a flight, while it is live."""
        assert [row["STATE_VERSION"] for row in day.flight_events(5, Target.SCHD.value)] == [1]
        assert [row["STATE_VERSION"] for row in day.flight_events(8, Target.MSG.value)] == [1, 2]
        assert list(day.flight_events(8, Target.SCHD.value)) == []
