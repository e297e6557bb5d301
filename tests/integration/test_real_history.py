"""Ended flights leave PostgreSQL, Redis and Kafka for a history store; the checking clients are not ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from msgx_cli import put
from real_set import RealSet, real_set
from services.elastic import Elastic, elastic
from wire import adft, flop, fltr, gate, schedule

OLD, FUTURE = "01JAN210805", "01JAN990805"
RECORDS = [
    fltr(1, OLD, GTDT="", REMC="取消"),
    fltr(2, OLD, MAID="9"),
    fltr(3, OLD),
    fltr(4, FUTURE, MAID="9"),
    fltr(9, FUTURE),
]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RealSet, Elastic]]:
    """Two of three ended flights have left, the history store has rejected the third."""
    with elastic() as history, real_set(tmp_path_factory.mktemp("r"), MSGX_HISTORY_URL=history.url) as made:
        msgx = made.msgx()
        put(msgx, schedule("DNLD", RECORDS), flop(1, "GTDT", gate("A1")))
        msgx.ok("drain")
        history.items = {3: 400}
        answer = msgx.ok("sweep", "--json").json
        assert (answer["ENDED"], answer["ARCHIVED"], answer["UNCONFIRMED"]) == (3, 2, 1)
        msgx.ok("drain")
        yield made, history


def notices(made: RealSet, flid: int) -> list[dict[str, Any]]:
    return [value for key, value in made.topic("KAFKA_MSG") if key == str(flid)]


def test_what_history_has(swept: tuple[RealSet, Elastic]) -> None:
    """R-389: whole states under FLID and version."""
    _, history = swept
    assert history.documents.keys() == {"1-2", "2-1"}
    flight = history.documents["1-2"]["FLIGHT"]
    assert (flight["REMC"], flight["GTDT"][0]["GATE"], flight["STATE_VERSION"]) == ("取消", "A1", 2)


def test_what_the_store_has(swept: tuple[RealSet, Elastic]) -> None:
    """D-33, D-37: rows, details, rosters and `schd` rows are gone, floors are there, no key is pending."""
    made, _ = swept
    assert [r["FLID"] for r in made.sql("SELECT FLID FROM FLIGHT_SCHD ORDER BY FLID")] == [3, 4, 9]
    assert made.sql("SELECT FLID FROM FLIGHT_GATE") == []
    assert [r["FLID"] for r in made.sql("SELECT FLID FROM SCHD_GEN_FLID ORDER BY FLID")] == [3, 4, 9]
    floors = made.sql("SELECT FLID, STATE_VERSION FROM FLIGHT_VERSION_FLOOR ORDER BY FLID")
    assert [(r["FLID"], r["STATE_VERSION"]) for r in floors] == [(1, 3), (2, 2)]
    assert made.sql("SELECT FLID FROM CACHE_PENDING") == []
    assert made.sql("SELECT FLID FROM MSG_EVENT WHERE TARGET = 'KAFKA:schd' AND FLID IN (1, 2)") == []


def test_what_consumers_see(swept: tuple[RealSet, Elastic]) -> None:
    """D-28, D-31, D-21: tombstones, Redis keys, the main flight's shorter list."""
    made, _ = swept
    last = notices(made, 1)[-1]
    assert (last["KIND"], last["REASON"], last["STATE_VERSION"]) == ("DELETE", "ARCHIVED", 3)
    assert notices(made, 9)[-1]["CHANGED"] == ["MAFL"]
    client = made.redis.client()
    assert client.get("msgx:flight:1") is None
    assert client.get("msgx:gone:1") == "3"
    assert '"MAFL":[{"FLID":4,"FLNO":"QX4"}]' in str(client.get("msgx:flight:9"))
    states = [flight for _, value in made.topic("KAFKA_SCHD") for flight in value["SCHD"]["FLTR"]]
    newest = max((s for s in states if s["FLID"] == 9), key=lambda s: int(s["STATE_VERSION"]))
    assert newest["MAFL"] == [{"FLID": 4, "FLNO": "QX4"}]


def test_it_comes_back_above_and_the_third_leaves_too(swept: tuple[RealSet, Elastic], tmp_path: Path) -> None:
    """D-37, R-389: what the store refused first is taken by the next sweep; retention finds its rows."""
    made, history = swept
    history.items = {}
    msgx = made.msgx()
    put(msgx, flop(2, "GTDT", gate("B1")), adft(fltr(1, FUTURE)))
    msgx.ok("drain")
    assert [m.get("REASON") for m in msgx.ok("messages", "--json").json][-2:] == ["flight-archived", None]
    assert notices(made, 1)[-1]["STATE_VERSION"] == 4
    assert '"STATE_VERSION":4' in str(made.redis.client().get("msgx:flight:1"))
    assert msgx.ok("sweep", "--json").json["ARCHIVED"] == 1
    msgx.ok("drain")
    short: dict[str, Any] = {f"MSGX_PIPELINE_{n}_RETENTION": "1ms" for n in ("EVENT", "PROC", "SNAP_LOG")}
    found = msgx.ok("retention", "--dry-run", "--json", MSGX_PIPELINE_LEDGER_RETENTION="7d", **short).json
    assert found["SCHD_GEN"]["go"] == 0
    assert found["PROC_STATE"] == {"go": 4}
    removed = msgx.ok("retention", "--json", **short).json
    assert (removed["PROC_STATE"], removed["MSG_EVENT"]) == (4, found["MSG_EVENT"]["go"])
    assert made.sql("SELECT MSG_ID FROM PROC_STATE") == []
