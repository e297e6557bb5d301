"""Mailbox rows that change under us, as the tables are other people's (INV-1, R-144, R-453)."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from real_set import TIMEOUTS, RealSet, real_set
from services.base import wait_until
from services.mysql import connect
from under_load import beside
from wire import flop, gate

INSERT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (%s, NOW())"
LATE = "INSERT INTO CMINMSGS (CMINMSGS_ID, CMINMSGS_CLOB_MSG) VALUES (%s, %s)"
MARKED = "UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = '2001-02-03 04:05:06' WHERE CMINMSGS_ID = %s"
UNMARKED = "UPDATE CMINMSGS SET CMINMSGS_DATE_PROCESSED = {} WHERE CMINMSGS_ID = %s"
OTHER_TEXT = "UPDATE CMINMSGS SET CMINMSGS_CLOB_MSG = %s WHERE CMINMSGS_ID = %s"
OTHER_TIME = "UPDATE CMINMSGS SET CMINMSGS_DATE_RECEIVED = {} WHERE CMINMSGS_ID = %s"
DELETED = "DELETE FROM CMINMSGS WHERE CMINMSGS_ID = %s"
LOAD_S = 5.0


@pytest.fixture
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSet]:
    with real_set(tmp_path_factory.mktemp("rows"), **TIMEOUTS) as made:
        yield made


class Owners:
    """Upstream and everybody else who writes to the table, on one connection of their own."""

    def __init__(self, real: RealSet) -> None:
        self.connection = connect(real.mailbox.url)
        self.chance = random.Random(5)
        self.sent: list[int] = []
        self.gone: set[int] = set()
        self.rewritten: set[int] = set()
        self.late: set[int] = set()

    def run(self, sql: str, *values: Any) -> int:
        """One statement; the id that an insert was given."""
        with closing(self.connection.cursor()) as cursor:
            cursor.execute(sql, values)
            return cursor.lastrowid or 0

    def act(self) -> None:
        """Three messages, ids with a hole that is filled later, and mischief with a row of lately."""
        for _ in range(3):
            flid = self.chance.randrange(100, 108)
            self.sent.append(self.run(INSERT, flop(flid, "GTDT", gate(f"G{len(self.sent)}")).decode()))
        self._mischief(self.chance.choice(self.sent[-30:]))
        if self.chance.random() < 0.3:
            self._late_commit()

    def _mischief(self, row: int) -> None:
        what = self.chance.randrange(7)
        if what == 0:
            self.run(DELETED, row)
            self.gone.add(row)
        elif what == 1:
            self.run(MARKED, row)
        elif what in (2, 3):
            self.run(UNMARKED.format("NULL" if what == 2 else "'0000-00-00 00:00:00'"), row)
        elif what == 4:
            self.run(OTHER_TEXT, flop(109, "GTDT", gate("OTHER")).decode(), row)
            self.rewritten.add(row)
        else:
            self.run(OTHER_TIME.format("NULL" if what == 5 else "'2099-01-01 00:00:00'"), row)

    def _late_commit(self) -> None:
        """A row with an id below those that are there: the deleted ones leave holes."""
        holes = self.gone - self.late
        if holes:
            row = self.chance.choice(sorted(holes))
            self.run(LATE, row, flop(110, "GTDT", gate(f"L{row}")).decode())
            self.late.add(row)


def test_rows_change_under_us(real: RealSet) -> None:
    """INV-1, R-031, R-144, R-453, D-35: whatever others do to a row, each has one fate and one effect.

    Rows vanish, come back with another text, are marked and unmarked by others, lose their times: messages
    that were taken in end once, and what was marked by somebody is never written over by us.
    """
    owners = Owners(real)
    with real.daemon() as daemon:
        with beside(owners.act, 0.02):
            time.sleep(LOAD_S)
        wait_until(lambda: _at_rest(real), "the pipeline is not done", 60)
        assert daemon.poll() is None
    fates = {row["MSG_ID"]: row for row in real.sql("SELECT * FROM PROC_STATE")}
    there = set(real.marks())
    assert there - fates.keys() <= _marked_by_others(real, fates), "a row without a mark was overlooked"
    assert {row["STATE"] for row in fates.values()} <= {"SUCCEEDED", "SKIPPED", "DEAD"}
    dead = {i for i, row in fates.items() if row["STATE"] == "DEAD"}
    assert {fates[i]["REASON"] for i in dead} <= {"raw-missing"}
    assert dead <= owners.gone
    skipped = {i for i, row in fates.items() if row["STATE"] == "SKIPPED"}
    assert all(fates[i]["REASON"].startswith("duplicate-of:") for i in skipped)
    given_up = {i for i, row in fates.items() if row["BACKFILL_ABANDONED_REASON"] == "MISSING_ROW"}
    assert given_up <= owners.gone
    _one_effect_each(real)
    owners.connection.close()


OPEN = """
SELECT COUNT(*) AS N FROM PROC_STATE
WHERE STATE IN ('PENDING', 'FAILED') OR (BACKFILL_AT IS NULL AND BACKFILL_ABANDONED_AT IS NULL)
"""


def _at_rest(real: RealSet) -> bool:
    """In this order, or one could come in behind our back."""
    unmarked = {i for i, mark in real.marks().items() if mark in (None, "0000-00-00 00:00:00")}
    known = {row["MSG_ID"] for row in real.sql("SELECT MSG_ID FROM PROC_STATE")}
    (waiting,) = real.sql(OPEN)
    (events,) = real.sql("SELECT COUNT(*) AS N FROM MSG_EVENT WHERE STATUS = 'PENDING'")
    return unmarked <= known and waiting["N"] == events["N"] == 0


def _marked_by_others(real: RealSet, fates: dict[int, dict[str, object]]) -> set[int]:
    return {i for i, mark in real.marks().items() if mark == "2001-02-03 04:05:06" and i not in fates}


def _one_effect_each(real: RealSet) -> None:
    """As many versions of a flight as messages were applied to it, and a notice for each (D-02, D-15)."""
    applied = real.sql("SELECT MSG_ID FROM PROC_STATE WHERE APPLIED_AT IS NOT NULL")
    events = real.sql("SELECT FLID, STATE_VERSION, MSG_ID FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg'")
    assert sorted(row["MSG_ID"] for row in events) == sorted(row["MSG_ID"] for row in applied)
    for flight in real.sql("SELECT FLID, STATE_VERSION FROM FLIGHT_SCHD"):
        versions = sorted(row["STATE_VERSION"] for row in events if row["FLID"] == flight["FLID"])
        assert versions == list(range(1, flight["STATE_VERSION"] + 1))
