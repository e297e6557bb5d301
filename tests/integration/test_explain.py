"""Explain: the rules of a message in order with their sources, and its effect field by field."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from msgx_cli import Msgx, put, ready
from wire import adft, error_answer, fdel, flop, fltr, gate, message, reference, schedule


@pytest.fixture
def msgx(tmp_path: Path) -> Msgx:
    return ready(tmp_path)


def done(msgx: Msgx, *raws: bytes, **settings: str) -> list[int]:
    """Send and drain one after the other."""
    ids = []
    for raw in raws:
        ids += put(msgx, raw)
        msgx.ok("drain", **settings)
    return ids


def explained(msgx: Msgx, msg_id: int) -> dict[str, Any]:
    found: dict[str, Any] = msgx.ok("explain", msg_id, "--json").json
    return found


def sources(found: dict[str, Any]) -> str:
    return " | ".join(rule["SOURCE"] for rule in found["RULES"])


def tag(found: dict[str, Any], flid: int, name: str) -> tuple[Any, Any]:
    """Before and after of a tag."""
    (flight,) = [each for each in found["FLIGHTS"] if each["FLID"] == flid]
    (change,) = [each for each in flight["CHANGES"] if each["TAG"] == name]
    return change.get("BEFORE"), change.get("AFTER")


def test_each_version_is_explained_on_the_state_before_it(msgx: Msgx) -> None:
    """D-36: not today's: what came later is not in it."""
    ids = done(
        msgx,
        schedule("DNLD", [fltr(1, STND="5"), fltr(2)]),
        flop(1, "GTDT", gate("A1")),
        flop(1, "GTDT", gate("A2")),
        schedule("DNLD", [fltr(1, STND="6"), fltr(2)]),
    )
    first, second, third, last = (explained(msgx, msg_id) for msg_id in ids)
    assert tag(first, 1, "STND") == (None, "5")
    assert tag(second, 1, "GTDT") == (None, [{"GTNO": "1", "GATE": "A1"}])
    assert tag(third, 1, "GTDT") == ([{"GTNO": "1", "GATE": "A1"}], [{"GTNO": "1", "GATE": "A2"}])
    assert tag(last, 1, "GTDT") == ([{"GTNO": "1", "GATE": "A2"}], None)
    assert all("computed again" in each["BASIS"] and "NOTE" not in each for each in (first, second, last))
    assert [(f["FLID"], f["FROM_VERSION"], f["STATE_VERSION"]) for f in third["FLIGHTS"]] == [(1, 2, 3)]
    for wanted in ("IMP §2", "D-23", "D-18", "IMP §12.2", "D-15", "D-27"):
        assert wanted in sources(second)
    for wanted in ("D-12", "D-11", "D-09", "D-14"):
        assert wanted in sources(last)


def test_relatives_are_explained_too(msgx: Msgx) -> None:
    """D-21: the main flight that gets a child, and the child that goes with its main flight."""
    ids = done(msgx, schedule("DNLD", [fltr(1)]), adft(fltr(2, MAID="1")), fdel(1))
    joined, gone = explained(msgx, ids[1]), explained(msgx, ids[2])
    assert tag(joined, 1, "MAFL") == (None, [{"FLID": 2, "FLNO": "QX2"}])
    assert "D-17" in sources(joined)
    assert [(f["FLID"], f["REASON"]) for f in gone["FLIGHTS"]] == [(1, "FDEL"), (2, "CASCADE")]
    assert tag(gone, 2, "STATE") == ("ACTIVE", "DELETED")
    assert {"D-06", "D-21"} <= {part for part in sources(gone).replace(",", " ").split() if part[0] == "D"}


def test_coverage_that_deletes(msgx: Msgx) -> None:
    """D-11: what was absent, on which day, by which setting."""
    done(msgx, schedule("DNLD", [fltr(1), fltr(2)]))
    (msg_id,) = done(msgx, schedule("DNLD", [fltr(1)]), MSGX_SCHD_DNLD_COVERAGE="single-day")
    found = explained(msgx, msg_id)
    told = {rule["RULE"]: rule["RESULT"] for rule in found["RULES"]}
    assert "2027-03-14" in told["coverage decides deletion by absence"]
    assert "single-day" in told["coverage decides deletion by absence"]
    assert told["absence deletes inside the coverage alone"] == "flights 2"
    assert tag(found, 2, "STATE") == ("ACTIVE", "DELETED")


def test_what_decided_a_skipped_or_dead_one(msgx: Msgx) -> None:
    """D-25: the rule behind its reason, its source, and where."""
    gate_a = flop(1, "GTDT", gate("A1"), seqn=800_001)
    cases = {
        schedule("DNLD", [fltr(1)], recs=3): ("D-12", "recs-mismatch:3!=1"),
        gate_a.replace(b"A1", b"A0"): ("D-07", ""),
        b"<MSG>": ("D-44", "not-well-formed"),
        message("NOPE", "NONE", ""): ("D-22", "unsupported"),
        flop(1, "ESTT", "<ESTT>14MAR270805</ESTT>"): ("D-18", "unsupported"),
        schedule("RESP", [fltr(1)]): ("G-RESP-GUARD", "unmatched-response"),
        flop(1, "FDEL", ""): ("D-18", "payload-missing"),
    }
    ids = done(msgx, *cases)
    for msg_id, (source, reason) in zip(ids, cases.values(), strict=True):
        found = explained(msgx, msg_id)
        assert source in sources(found), found
        assert reason in found.get("REASON", ""), found
        assert "NOTE" not in found, found
    (twice,) = done(msgx, gate_a)
    assert "D-24" in sources(explained(msgx, twice))


def test_a_late_update_of_a_deleted_flight(msgx: Msgx) -> None:
    """D-07: skipped, on the state of then, also when the flight has come back since."""
    ids = done(
        msgx, schedule("DNLD", [fltr(1)]), fdel(1), flop(1, "GTDT", gate("A1")), schedule("DNLD", [fltr(1)])
    )
    found = explained(msgx, ids[2])
    assert (found["STATE"], found["REASON"]) == ("SKIPPED", "flight-deleted")
    assert "D-07" in sources(found)
    assert "NOTE" not in found


def test_reference_data(msgx: Msgx) -> None:
    """IMP §13.3, D-40: what was replaced, put or removed."""
    ids = done(
        msgx,
        reference("GLST", "DNLD", ["<GCOD>A1</GCOD>", "<GCOD>A2</GCOD>"]),
        reference("GLST", "DEL", ["<GCOD>A2</GCOD>"]),
    )
    assert explained(msgx, ids[0])["REFERENCE"][0]["ACTION"] == "REPLACE"
    gone = {"RKEY": "A2", "TAG": "GCOD", "BEFORE": "A2"}
    assert explained(msgx, ids[1])["REFERENCE"] == [
        {"RTYPE": "GLST", "ACTION": "REMOVE", "RKEYS": ["A2"], "CHANGES": [gone]}
    ]


def test_reference_data_field_by_field(msgx: Msgx) -> None:
    """IMP §13.3, D-36: before and after of each tag of each record, as a table for people."""
    first = '<GCOD>A1</GCOD><TERM k="x">1</TERM><N>a</N><N>b</N>'
    ids = done(
        msgx,
        reference("GLST", "DNLD", [first, "<GCOD>A2</GCOD>"]),
        reference("GLST", "UPD", [first.replace("b", "c").replace('"x"', '"y"')]),
        reference("GLST", "ADD", ["<GCOD>A3</GCOD>"]),
        reference("GLST", "DNLD", ["<GCOD>A3</GCOD>", "<GCOD>A4</GCOD>"]),
        reference("GLST", "DNLD", ["<GCOD>A3</GCOD>", "<GCOD>A4</GCOD>"]),
    )
    told = [explained(msgx, msg_id)["REFERENCE"][0]["CHANGES"] for msg_id in ids]
    assert told[1] == [
        {"RKEY": "A1", "TAG": "TERM@k", "BEFORE": "x", "AFTER": "y"},
        {"RKEY": "A1", "TAG": "N[2]", "BEFORE": "b", "AFTER": "c"},
    ]
    assert told[2] == [{"RKEY": "A3", "TAG": "GCOD", "AFTER": "A3"}]
    assert {(each["RKEY"], "BEFORE" in each) for each in told[3]} == {
        ("A1", True),
        ("A2", True),
        ("A4", False),
    }
    assert told[4] == []
    lines = msgx.ok("explain", ids[1]).out.splitlines()
    assert "GLST\tPUT\tA1\tN[2]\tb\tc" in lines
    assert "GLST\tREPLACE\tA3\t(nothing differs)\t-\t-" in msgx.ok("explain", ids[4]).out.splitlines()
    store = sqlite3.connect(msgx.folder / "data" / "store.db")
    with store:
        store.execute("DELETE FROM PROC_STATE WHERE MSG_ID = ?", (ids[0],))
    store.close()
    lost = explained(msgx, ids[1])
    assert "cannot be computed any more" in lost["BASIS"]
    assert "CHANGES" not in lost["REFERENCE"][0]
    assert "GLST\tPUT\tA1\t(not known)\t-\t-" in msgx.ok("explain", ids[1]).out.splitlines()


def test_what_tells_nothing_is_no_row(msgx: Msgx) -> None:
    """product: an empty tag where there was none shows nothing; in JSON it is there."""
    (first, second) = done(
        msgx,
        reference("GLST", "DNLD", ["<GCOD>A1</GCOD><BUSG/>", "<GCOD>A2</GCOD>"]),
        reference("GLST", "UPD", ["<GCOD>A2</GCOD><BUSG/>"]),
    )
    assert "BUSG" not in msgx.ok("explain", first).out
    assert "(nothing differs)" in msgx.ok("explain", second).out
    (effect,) = explained(msgx, second)["REFERENCE"]
    assert effect["CHANGES"] == [{"RKEY": "A2", "TAG": "BUSG", "AFTER": ""}] or effect["CHANGES"] == [
        {"RKEY": "A2", "TAG": "BUSG", "BEFORE": None, "AFTER": ""}
    ]


def test_a_refusal_names_its_request(msgx: Msgx) -> None:
    """D-32: `EROR` carries no number; the request is the one that it closed."""
    why = ("--reason", "a test")
    msgx.ok("request", "ref", "GLST", *why)
    msgx.ok("drain")
    done(msgx, error_answer(ERCD="E1"))
    asked = msgx.ok("request", "schedule", "2027-03-14", *why, "--json").json["REQUEST_ID"]
    msgx.ok("drain")
    (refused,) = done(msgx, error_answer(ERCD="E1"))
    states = [(each["REQUEST_ID"], each["STATE"]) for each in msgx.ok("requests", "--json").json]
    assert states == [(asked, "FAILED"), (asked - 1, "FAILED")]
    assert f"request {asked}" in msgx.ok("explain", refused).out


def test_where_the_past_is_lost(msgx: Msgx) -> None:
    """D-36: from the archive when the events are gone, from today's state when nothing is left, said so."""
    ids = done(msgx, schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("A1")), flop(1, "GTDT", gate("A2")))
    store = sqlite3.connect(msgx.folder / "data" / "store.db")
    with store:
        store.execute("DELETE FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg'")
    found = explained(msgx, ids[1])
    assert tag(found, 1, "GTDT") == (None, [{"GTNO": "1", "GATE": "A1"}])
    assert "computed again" in found["BASIS"]
    with store:
        store.execute("DELETE FROM PROC_STATE WHERE MSG_ID = ?", (ids[0],))
    store.close()
    found = explained(msgx, ids[1])
    assert "today's state" in found["BASIS"]
    assert msgx("explain", 99).code == 1


def test_people_read_it_too(msgx: Msgx) -> None:
    """The same on paper: rules, then effects."""
    (msg_id,) = done(msgx, schedule("DNLD", [fltr(1)]))
    answer = msgx.ok("explain", msg_id)
    assert "IMP §11.2, D-09, D-10" in answer.out
    assert "- → 1" in answer.out
    assert "computed again" in answer.err


def test_one_with_effects_that_found_no_end(msgx: Msgx) -> None:
    """D-02, D-05: it did what it decided; only the end is another, until somebody replays it."""
    ids = done(msgx, schedule("DNLD", [fltr(1)]), flop(1, "GTDT", gate("A1")))
    store = sqlite3.connect(msgx.folder / "data" / "store.db")
    with store:
        ended = "STATE = 'DEAD', ERROR_CODE = 'EXHAUSTED', REASON = 'cache-rejected'"
        store.execute(f"UPDATE PROC_STATE SET {ended} WHERE MSG_ID = ?", (ids[1],))
    store.close()
    found = explained(msgx, ids[1])
    assert (found["STATE"], found["RULES"][-1]["RESULT"]) == ("DEAD", "DEAD EXHAUSTED cache-rejected")
    assert tag(found, 1, "GTDT") == (None, [{"GTNO": "1", "GATE": "A1"}])
    assert "NOTE" not in found
    msgx.ok("replay", ids[1], "--reason", "the cache is back")
    msgx.ok("drain")
    found = explained(msgx, ids[1])
    assert (found["STATE"], "NOTE" in found) == ("SUCCEEDED", False)
    assert msgx("verify").code == 0
