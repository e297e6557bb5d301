"""Reads of the flight board: a page of an operation day by time, and how much there is on it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from msgx_adapters.store_sql.board import board_day, folded
from msgx_adapters.store_sqlite.reading import whole
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import day_text, stamp
from msgx_core.model.flight import FlightState
from msgx_core.ports.board import BEGINNING, WITHOUT_TIME, BoardDay, BoardFilter


class BoardRole(Role):
    """`ports.board.BoardViews`."""

    def board(self, where: BoardFilter) -> Sequence[FlightState]:
        """Whole flights by place."""
        at, flid = BEGINNING if where.after is None else where.after
        values = {
            "day": day_text(where.day),
            "mvin": where.mvin,
            "text": folded(where.text),
            "at": stamp(at),
            "flid": flid,
            "never": stamp(WITHOUT_TIME),
            "limit": where.limit,
        }
        with self.reader.read():
            return whole(self.reader, self.reader.rows(SQL["board"], values))

    def board_day(self, day: date | None) -> BoardDay:
        """Sizes of a day."""
        with self.reader.read():
            (found,) = self.reader.rows(SQL["board_day"], {"day": day_text(day)})
        return board_day(found)
