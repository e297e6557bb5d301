"""Reads of the flight board: a page of an operation day by time, and how much there is on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from msgx_adapters.store_postgres.flights import whole
from msgx_adapters.store_postgres.session import Role
from msgx_adapters.store_sql.board import board_day, folded
from msgx_core.model.flight import FlightState
from msgx_core.ports.board import BEGINNING, WITHOUT_TIME, BoardDay, BoardFilter


class BoardRole(Role):
    """`ports.board.BoardViews`."""

    def board(self, where: BoardFilter) -> Sequence[FlightState]:
        """Whole flights by place."""
        at, flid = BEGINNING if where.after is None else where.after
        found = self.read_rows(
            "board",
            day=where.day,
            mvin=where.mvin,
            text=folded(where.text),
            at=at,
            flid=flid,
            never=WITHOUT_TIME,
            limit=where.limit,
        )
        return whole(found)

    def board_day(self, day: date | None) -> BoardDay:
        """Sizes of a day."""
        (found,) = self.read_rows("board_day", day=day)
        return board_day(found)
