"""The sample day on PostgreSQL, MySQL, Redis and Kafka, from outside; the checking clients are not ours."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import first_day
from first_day import Shift
from real_set import RealSet, real_set

FILES = sorted(first_day.FOLDER.glob("*.xml"))


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RealSet, dict[str, int]]]:
    """A real set after the day, drained message by message in two processes each, and the ids by name."""
    with real_set(tmp_path_factory.mktemp("real")) as made:
        msgx = made.msgx()
        sent = {Path(row["FILE"]).stem: row["MSG_ID"] for row in msgx.ok("send", "--json", *FILES).json}
        assert msgx.ok("drain", "--json").json["TAKEN_IN"] == len(FILES)
        yield made, sent


def test_fates_and_marks(day: tuple[RealSet, dict[str, int]]) -> None:
    """R-021, R-131: Every state, code and reason; every mailbox row is marked in whole seconds (R-143,
    D-25, D-43)."""
    made, ids = day
    rows = {row["MSG_ID"]: row for row in made.msgx().ok("messages", "--json").json}
    for name, (state, code, reason) in first_day.FATES.items():
        row = rows[ids[name]]
        wanted = None if reason is None else reason.replace("<08>", str(ids["08-flop-gtdt"]))
        assert (row["STATE"], row.get("ERROR_CODE"), row.get("REASON")) == (state, code, wanted), name
    assert set(made.marks()) == set(ids.values())
    whole_seconds = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
    assert all(mark and whole_seconds.fullmatch(mark) for mark in made.marks().values())


def test_flights_and_tables(day: tuple[RealSet, dict[str, int]]) -> None:
    """Full states on the command line, and the same in the typed tables (R-008, R-277)."""
    made, _ = day
    for flid, expected in first_day.FLIGHTS.items():
        shown = made.msgx().ok("flights", "show", flid, "--json").json
        assert first_day.matches(shown, expected, Shift()) == [], flid
    gates = made.sql("SELECT GATE FROM FLIGHT_GATE WHERE FLID = 700101 ORDER BY ORDINAL")
    assert [row["GATE"] for row in gates] == ["B09", "B10"]
    row = made.sql("SELECT STATE, REMC FROM FLIGHT_SCHD WHERE FLID = 700104")[0]
    assert (row["STATE"], row["REMC"]) == ("ACTIVE", "首航 welcome")


def test_reference_alerts_and_log(day: tuple[RealSet, dict[str, int]]) -> None:
    """Reference data by the view, the alerts, the schedule log and the rosters (R-007, D-16, D-41)."""
    made, ids = day
    names = {msg_id: name for name, msg_id in ids.items()}
    for rtype, keys in first_day.REFERENCE.items():
        found = made.sql(f"SELECT RKEY FROM REF_MASTER WHERE RTYPE = '{rtype}' ORDER BY RKEY")
        assert [row["RKEY"] for row in found] == keys
    alerts = made.msgx().ok("alerts", "--json").json
    assert [(row["CODE"], names[row["MSG_ID"]]) for row in alerts] == first_day.ALERTS
    log = reversed(made.msgx().ok("snapshots", "--json").json)
    found_log = [(names[r["MSG_ID"]], r["RESULT"], tuple(r.get("FLAGS", ()))) for r in log]
    assert found_log == first_day.SNAPSHOTS
    rosters: dict[Any, set[int]] = defaultdict(set)
    for row in made.sql("SELECT OPERATION_DAY, FLID FROM SCHD_GEN_FLID"):
        rosters[row["OPERATION_DAY"]].add(row["FLID"])
    assert rosters == first_day.ROSTERS


def test_what_is_on_the_topics(day: tuple[RealSet, dict[str, int]]) -> None:
    """R-362: Bytes on both topics: keyed notices in order per flight, full states without nulls (D-28 to
    D-30)."""
    made, _ = day
    notices = made.topic("KAFKA_MSG")
    assert Counter(int(key or 0) for key, _ in notices) == first_day.EVENTS
    per_flight: dict[str | None, list[dict[str, Any]]] = defaultdict(list)
    for key, value in notices:
        assert key == str(value["FLID"])
        per_flight[key].append(value)
    for values in per_flight.values():
        ids = [value["EVENT_ID"] for value in values]
        assert ids == sorted(ids)
        assert [v["STATE_VERSION"] for v in values] == list(range(1, len(values) + 1))
    for flid, last in first_day.LAST_EVENTS.items():
        value = per_flight[str(flid)][-1]
        assert {key: value.get(key) for key in last} == last
    states = [flight for _, value in made.topic("KAFKA_SCHD") for flight in value["SCHD"]["FLTR"]]
    live = {f: e for f, e in first_day.FLIGHTS.items() if e["STATE"] == "ACTIVE"}
    assert {flight["FLID"] for flight in states} == set(live)
    for flight in states:
        assert first_day.matches(flight, live[flight["FLID"]], Shift()) == []
        assert None not in flight.values()


def test_what_is_in_redis(day: tuple[RealSet, dict[str, int]]) -> None:
    """Keys exactly as D-31 says, values the full states, the day's live flights."""
    made, _ = day
    client = made.redis.client()
    for flid, expected in first_day.FLIGHTS.items():
        text = client.get(f"msgx:flight:{flid}")
        if expected["STATE"] == "DELETED":
            assert text is None
            assert client.get(f"msgx:gone:{flid}") is not None
            assert 0 < client.ttl(f"msgx:gone:{flid}") <= 86_400
        else:
            assert isinstance(text, str)
            assert first_day.matches(json.loads(text), expected, Shift()) == []
    day_set = {int(flid) for flid in client.smembers("msgx:day:2027-03-14")}
    assert day_set == {700101, 700102, 700104}
    store = made.sql("SELECT VALUE FROM STORE_INFO WHERE NAME = 'id'")[0]["VALUE"]
    assert client.get("msgx:store") == store
