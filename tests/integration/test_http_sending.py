"""The way in over HTTP leads into the mailbox and no further."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from http_room import http_room, settings_of
from processes import wait_for
from wire import flop, fltr, gate, schedule


def test_a_message_takes_the_way_of_those_that_others_put_there(tmp_path: Path) -> None:
    """R-032: a row of the mailbox, received now and not marked, and nothing else; polling does the rest."""
    raw, airport = flop(1, "GTDT", gate("C1")), ZoneInfo("Asia/Shanghai")
    before = datetime.now(airport).replace(microsecond=0)
    with (
        http_room(settings_of(tmp_path), active=False) as room,
        closing(sqlite3.connect(tmp_path / "mailbox.db", isolation_level=None)) as others,
    ):
        others.execute("INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES (?)", (schedule("DNLD", [fltr(1)]),))
        assert room.send(raw).json() == {"MSG_ID": 2}
        columns = "CMINMSGS_DATE_RECEIVED, CMINMSGS_DATE_PROCESSED, CMINMSGS_CLOB_MSG"
        (row,) = others.execute(f"SELECT {columns} FROM CMINMSGS WHERE CMINMSGS_ID = 2")
        received_at = datetime.fromisoformat(row[0]).replace(tzinfo=airport)
        assert before <= received_at <= datetime.now(airport)
        assert row[1:] == (None, raw)
        assert room.store.counts().messages == {}, "taken in by polling alone"
        room.daemon.start()
        room.settle([1, 2])
        marks = "SELECT COUNT(CMINMSGS_DATE_PROCESSED) FROM CMINMSGS"
        wait_for("both marks", lambda: others.execute(marks).fetchone() == (2,))
        ends = [(row["STATE"], row["STYP"]) for row in room.json("/api/v1/messages")]
        assert ends == [("SUCCEEDED", "DNLD"), ("SUCCEEDED", "GTDT")]
