"""The sample day from outside: init, send, drain, and what every command then says of it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import first_day
from first_day import Shift
from msgx_cli import Msgx, MsgxInside, ready

FILES = sorted(first_day.FOLDER.glob("*.xml"))


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> tuple[Msgx, dict[str, int]]:
    """An installation after the sample day, and the ids of its messages by name."""
    msgx = Msgx(ready(tmp_path_factory.mktemp("day")).folder)
    sent = msgx.ok("send", "--json", *FILES).json
    assert [row["FILE"] for row in sent] == [str(path) for path in FILES]
    drained = msgx.ok("drain", "--json").json
    assert drained["TAKEN_IN"] == len(FILES)
    # From here on only looking: most of it in this process, which is quicker.
    return MsgxInside(msgx.folder), {Path(row["FILE"]).stem: row["MSG_ID"] for row in sent}


def test_messages(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, ids = day
    rows = {row["MSG_ID"]: row for row in Msgx(msgx.folder).ok("messages", "--json").json}
    assert list(rows) == sorted(ids.values())
    for name, (state, code, reason) in first_day.FATES.items():
        row = rows[ids[name]]
        wanted = None if reason is None else reason.replace("<08>", str(ids["08-flop-gtdt"]))
        assert (row["STATE"], row.get("ERROR_CODE"), row.get("REASON")) == (state, code, wanted), name
        assert "BACKFILL_AT" in row
    assert "line" in rows[ids["22-not-xml"]]["DETAIL"]


def test_message_filters(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, ids = day

    def listed(*filters: str | int) -> list[int]:
        return [row["MSG_ID"] for row in msgx.ok("messages", "--json", *filters).json]

    dead = [ids[name] for name, fate in first_day.FATES.items() if fate[0] == "DEAD"]
    assert listed("--state", "dead") == dead
    assert listed("--reason", "unsupported") == [ids["11-flop-estt"], ids["15-schs-season"]]
    assert listed("--reason", "duplicate-of") == [ids["09-flop-gtdt-seqn-again"]]
    assert listed("--type", "RSTA") == [ids["06-rsta-gate-down"]]
    assert listed("--type", "FLOP", "--styp", "FDEL") == [ids["19-fdel-child"], ids["20-fdel-again"]]
    assert ids["12-flop-unknown-flight"] in listed("--flid", 700900)
    assert listed("--since", "1h") == sorted(ids.values())
    assert listed("--since", "2099-01-01") == []
    assert listed("--after", ids["26-resp-unmatched"]) == [ids["27-dely-two"], ids["28-dely-none"]]
    cut = msgx.ok("messages", "--json", "--limit", 3)
    assert len(cut.json) == 3
    assert f"--after {cut.json[-1]['MSG_ID']}" in cut.err


def test_flights(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, _ = day
    listed = {row["FLID"]: row for row in Msgx(msgx.folder).ok("flights", "--json").json}
    assert list(listed) == sorted(first_day.FLIGHTS)
    for flid, expected in first_day.FLIGHTS.items():
        shown = msgx.ok("flights", "show", flid, "--json").json
        assert first_day.matches(shown, expected, Shift()) == [], flid
        assert shown["CREATED_AT"].endswith("Z")
        assert listed[flid] == shown
        assert None not in shown.values()
    on_day = msgx.ok("flights", "--day", "2027-03-14", "--state", "active", "--json").json
    assert [row["FLID"] for row in on_day] == [700101, 700102, 700104]


def test_history(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, ids = day
    for flid, n in first_day.EVENTS.items():
        versions = msgx.ok("flights", "show", flid, "--history", "--json").json
        assert [row["STATE_VERSION"] for row in versions] == list(range(1, n + 1))
        for row in versions:
            assert {"EVENT_ID", "KIND", "MSG_ID", "UPDATED_AT", "TYPE", "STYP"} <= row.keys()
        last = first_day.LAST_EVENTS.get(flid, {})
        assert {key: versions[-1].get(key) for key in last} == last
    versions = msgx.ok("flights", "show", 700101, "--history", "--json").json
    assert [row["MSG_ID"] for row in versions][-1] == ids["19-fdel-child"]


def test_reference_data(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, ids = day
    for rtype, keys in first_day.REFERENCE.items():
        assert [row["RKEY"] for row in msgx.ok("ref", rtype, "--json").json] == keys
    [hkg] = msgx.ok("ref", "arpt", "HKG", "--json").json
    assert hkg["RECORD"] == {"ITCD": "HKG", "ICCD": "VHHH", "ANAM": ""}
    assert hkg["MSG_ID"] == ids["03-arpt-upd"]
    assert hkg["XML"] == "<ARPT><ITCD>HKG</ITCD><ICCD>VHHH</ICCD><ANAM/></ARPT>"
    assert msgx.ok("ref", "CLST").err == "no records of CLST\n"
    assert msgx("ref", "ARPT", "PEK").code == 1


@pytest.mark.parametrize(
    ("at", "available"),
    [("2027-03-14T04:59", True), ("14MAR270500", False), ("2027-03-13T22:59Z", False), ("14MAR270700", True)],
)
def test_resources(day: tuple[Msgx, dict[str, int]], at: str, available: bool) -> None:
    msgx, ids = day
    assert msgx.ok("resources", "--at", at, "--json").json == [
        {
            "RTYP": "GATE",
            "RSID": "B07",
            "STAT": "D",
            "AVAILABLE": available,
            "STARTS_AT": "2027-03-13T21:00:00.000000Z",
            "ENDS_AT": "2027-03-13T23:00:00.000000Z",
            "MSG_ID": ids["06-rsta-gate-down"],
        }
    ]


def test_logs_and_rosters(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, ids = day
    names = {msg_id: name for name, msg_id in ids.items()}
    log = [
        (names[row["MSG_ID"]], row["RESULT"], tuple(row["FLAGS"]))
        for row in reversed(msgx.ok("snapshots", "--json").json)
    ]
    assert log == first_day.SNAPSHOTS
    rosters = {
        row["OPERATION_DAY"]: set(row["FLIDS"]) for row in msgx.ok("snapshots", "--rosters", "--json").json
    }
    assert rosters == {f"{day}": flids for day, flids in first_day.ROSTERS.items()}
    alerts = [(row["CODE"], names[row["MSG_ID"]]) for row in msgx.ok("alerts", "--json").json]
    assert alerts == first_day.ALERTS


def test_outbox(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, _ = day
    rows = msgx.ok("outbox", "--target", "msg", "--json").json
    assert Counter(row["FLID"] for row in rows) == first_day.EVENTS
    assert {row["STATUS"] for row in rows} == {"SENT"}
    assert msgx.ok("outbox", "--dead", "--json").json == []
    assert msgx.ok("outbox", "--pending").err == "no pending events\n"
    assert msgx.ok("writeback").err == "no write-backs are owed\n"
    assert msgx.ok("writeback", "--abandoned", "--json").json == []


def test_status(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, _ = day
    found = msgx.ok("status", "--json").json
    assert found["MESSAGES"] == dict(Counter(state for state, _, _ in first_day.FATES.values()))
    assert found["ERROR_CODES"] == {"MALFORMED": 3, "PROTOCOL": 4}
    assert found["FLIGHTS"] == {"ACTIVE": 5, "DELETED": 1}
    assert found["WRITEBACK"] == {"PENDING": 0, "ABANDONED": 0}
    assert found["ALERTS"] == {"OPEN": 1}
    assert found["MAILBOX"] == {"NOT_TAKEN_IN": 0, "AT_LEAST": False}
    assert "HEAD" not in found
    assert found["LEASE"]["HELD"] is False
    assert [(row["SERVICE"], row["OK"]) for row in found["SERVICES"]] == [
        ("store", True),
        ("mailbox", True),
        ("cache", True),
        ("bus", True),
        ("archive", True),
    ]


def test_one_message_with_its_story(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, ids = day
    story = msgx.ok("messages", "show", ids["19-fdel-child"], "--json").json
    assert sorted((e["FLID"], e["PAYLOAD"]["KIND"]) for e in story["EVENTS"]) == [
        (700101, "UPSERT"),
        (700103, "DELETE"),
    ]
    conflict = msgx.ok("messages", "show", ids["17-schd-other-day"], "--json").json
    assert [row["CODE"] for row in conflict["ALERTS"]] == ["SAME_FLID_ACROSS_OPERATION_DAYS"]
    assert [row["RESULT"] for row in conflict["SNAPSHOTS"]] == ["ROLLED_BACK"]
    raw = Msgx(msgx.folder).ok("messages", "show", ids["27-dely-two"], "--raw").out
    assert raw.encode() == (first_day.FOLDER / "27-dely-two.xml").read_bytes()
    for path in FILES:
        raw = msgx.ok("messages", "show", ids[path.stem], "--raw", "--json").json["RAW"]
        assert raw.encode() == path.read_bytes()


def test_people_see_chinese_and_no_tables(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, _ = day
    shown = msgx.ok("flights", "show", 700104).out
    assert "REMC\t首航 welcome\n" in shown
    assert msgx.ok("flights").out.splitlines()[0].startswith("FLID\tFLNO")


def test_a_console_of_another_encoding_gets_escapes(day: tuple[Msgx, dict[str, int]]) -> None:
    msgx, _ = day
    msgx = Msgx(msgx.folder)
    ascii_only = {"PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    assert "\\u9996" in msgx.ok("flights", "show", 700104, **ascii_only).out
    assert msgx.ok("flights", "show", 700104, "--json", **ascii_only).json["REMC"] == "首航 welcome"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_decode_agrees_where_no_state_is_needed(
    day: tuple[Msgx, dict[str, int]], path: Path, tmp_path: Path
) -> None:
    state, code, reason = first_day.FATES[path.stem]
    answer = MsgxInside(tmp_path)("decode", path, "--json")
    found = answer.json
    assert answer.code == (1 if found["STATE"] == "DEAD" else 0)
    stateful = ("duplicate-of", "SAME_FLID", "flight-deleted", "unmatched-response")
    if not (reason or "").startswith(stateful):
        assert (found["STATE"], found.get("ERROR_CODE")) == (state, code)
    if found["STATE"] == "DEAD":
        assert found["REASON"] == reason
        assert found["PROBLEMS"][0]["LINE"] > 0
