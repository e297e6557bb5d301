"""`flights show --history`: from the outbox while events last, else computed from the archive."""

from __future__ import annotations

import sqlite3
from typing import Any

from msgx_cli import Msgx, put
from wire import adft, fdel, flop, fltr, gate, schedule


def done(msgx: Msgx, *raws: bytes) -> list[int]:
    """Send and drain one after the other."""
    ids = []
    for raw in raws:
        ids += put(msgx, raw)
        msgx.ok("drain")
    return ids


def test_the_versions_of_a_flight_with_values(msgx: Msgx) -> None:
    """`flights show --history`: message, tags, and before and after while outbox and archive last."""
    ids = done(
        msgx,
        schedule("DNLD", [fltr(1, STND="5")]),
        flop(1, "GTDT", gate("A1")),
        adft(fltr(2, MAID="1")),
        fdel(1),
    )
    rows = msgx.ok("flights", "show", 1, "--history", "--json").json
    assert [(row["STATE_VERSION"], row["MSG_ID"]) for row in rows] == list(enumerate(ids, start=1))
    assert {"TAG": "STND", "AFTER": "5"} in rows[0]["VALUES"]
    assert rows[1]["VALUES"] == [{"TAG": "GTDT", "AFTER": [{"GTNO": "1", "GATE": "A1"}]}]
    assert rows[2]["VALUES"] == [{"TAG": "MAFL", "AFTER": [{"FLID": 2, "FLNO": "QX2"}]}]
    assert {"TAG": "STATE", "BEFORE": "ACTIVE", "AFTER": "DELETED"} in rows[3]["VALUES"]
    assert "GTDT: - →" in msgx.ok("flights", "show", 1, "--history").out
    store = sqlite3.connect(msgx.folder / "data" / "store.db")
    with store:
        store.execute("DELETE FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' AND STATE_VERSION = 1")
    store.close()
    again = msgx.ok("flights", "show", 1, "--history", "--json").json
    assert [row.pop("SOURCE") for row in rows] == ["outbox"] * 4
    assert [row.pop("SOURCE") for row in again] == ["archive", "outbox", "outbox", "outbox"]
    del rows[0]["EVENT_ID"]
    assert again == rows


def test_a_history_without_events(msgx: Msgx) -> None:
    """D-28, D-36: computed from the archive, of flights that are here, deleted, or have left."""
    config = msgx.folder / "msgx.toml"
    config.write_text(config.read_text() + '\n[msgx.history]\nurl = "file:data/history"\n')
    old = "01JAN210805"
    ids = done(
        msgx,
        schedule("DNLD", [fltr(1, old, STND="5"), fltr(2), fltr(3, old, MAID="2"), fltr(4)]),
        flop(1, "GTDT", gate("A1")),
        fdel(4),
    )
    msgx.ok("sweep")
    ids += done(msgx, adft(fltr(1, "01JAN990805")))
    msgx.ok("recover", "--versions-by", 100, "--reason", "a test")
    ids += done(msgx, flop(1, "GTDT", gate("A2")))

    def histories() -> dict[int, list[dict[str, Any]]]:
        return {n: msgx.ok("flights", "show", n, "--history", "--json").json for n in (1, 2, 3, 4)}

    before = histories()
    assert [row["STATE_VERSION"] for row in before[1]] == [1, 2, 3, 4, 105]
    assert [row.get("REASON") for row in before[3]] == [None, "ARCHIVED"]
    assert [row["MSG_ID"] for row in before[4]] == [ids[0], ids[2]]
    assert len(before[2]) == 2, "its child has left"
    store = sqlite3.connect(msgx.folder / "data" / "store.db")
    with store:
        store.execute("DELETE FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg'")
    after = histories()
    assert {row["SOURCE"] for rows in after.values() for row in rows} == {"archive"}
    for rows in before.values():
        for row in rows:
            row["SOURCE"] = "archive"
            del row["EVENT_ID"]
    assert after == before
    assert msgx("flights", "show", 3).err.startswith(
        "msgx: flight 3 left for the history store as version 102"
    )
    assert "there is no flight 9" in msgx("flights", "show", 9, "--history").err
    with store:
        store.execute("DELETE FROM PROC_STATE WHERE MSG_ID = ?", (ids[0],))
    store.close()
    answer = msgx.ok("flights", "show", 1, "--history")
    assert "cannot be computed again" in answer.err
