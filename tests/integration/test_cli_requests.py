"""`msgx request` and `msgx requests` from outside, on the embedded set."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from msgx_cli import Msgx, put
from processes import msgx as start
from services.base import wait_until
from wire import error_answer, fltr, reference, schedule

WHY = ("--reason", "the night shift asked")
WINDOW = [fltr(1, "14MAR270805"), fltr(2, "14MAR271000"), fltr(3, "14MAR272300"), fltr(4, "15MAR270100")]


def coutmsgs(msgx: Msgx) -> list[tuple[Any, ...]]:
    """Text, routing and insertion time of what was written for upstream."""
    sql = "SELECT CAST(COUTMSGS_CLOB_MSG AS TEXT), ROUTINGID, COUTMSGS_DATE_INSERTED FROM COUTMSGS"
    with closing(sqlite3.connect(msgx.folder / "data" / "mailbox.db")) as raw:
        return raw.execute(sql + " ORDER BY COUTMSGS_ID").fetchall()


def deleted(msgx: Msgx) -> list[int]:
    return [row["FLID"] for row in msgx.ok("flights", "--state", "DELETED", "--json").json]


def test_a_day_is_asked_for_answered_and_closed(msgx: Msgx) -> None:
    """D-11, D-32: PENDING, SENT by a drain, DONE by the answer, which deletes exactly what it lacks."""
    put(msgx, schedule("DNLD", WINDOW))
    msgx.ok("drain")
    asked = msgx.ok("request", "schedule", "2027-03-14", *WHY, "--actor", "alice", "--json").json
    assert (asked["SLOT"], asked["STATE"]) == ("RQFD", "PENDING")
    assert (asked["FIRST_DAY"], asked["LAST_DAY"]) == ("2027-03-14", "2027-03-14")
    assert msgx.ok("drain", "--json").json["REQUESTS_SENT"] == 1
    ((text, routing, inserted),) = coutmsgs(msgx)
    assert "<TYPE>RQFD</TYPE><STYP>NONE</STYP>" in text
    assert "<STDB>14MAR270000</STDB><STDE>14MAR272359</STDE>" in text
    assert routing == "RQFD"
    here = datetime.now(ZoneInfo("Asia/Shanghai")).replace(tzinfo=None)
    assert abs(datetime.fromisoformat(inserted) - here) < timedelta(minutes=5)
    (row,) = msgx.ok("requests", "--json").json
    assert (row["STATE"], row["SEQN"]) == ("SENT", "1")
    status = msgx.ok("status", "--json").json["REQUESTS"]
    assert (status["OPEN"], [slot["REQUEST_ID"] for slot in status["SLOTS"]]) == (1, [asked["REQUEST_ID"]])
    (answer,) = put(msgx, schedule("RESP", [WINDOW[1]]))
    assert "REQUESTS_SENT" not in msgx.ok("drain", "--json").json
    (row,) = msgx.ok("requests", "--json").json
    assert (row["STATE"], row["RESP_MSG_ID"]) == ("DONE", answer)
    assert deleted(msgx) == [1, 3]
    assert msgx.ok("status", "--json").json["REQUESTS"] == {"OPEN": 0, "SLOTS": []}
    assert len(coutmsgs(msgx)) == 1


def test_ranges_and_categories(msgx: Msgx) -> None:
    """wire.md: whole days with both ends; a category; one open request for each slot, the new one counts."""
    msgx.ok("request", "schedule", "2027-03-14..2027-03-16", *WHY)
    msgx.ok("request", "ref", "glst", *WHY)
    answer = msgx.ok("request", "schedule", "today", *WHY)
    assert "PENDING" in answer.out
    assert "msgx drain" in answer.err
    newest, gates, first = msgx.ok("requests", "--json").json
    assert (first["STATE"], first["REASON"], first["LAST_DAY"]) == ("EXPIRED", "replaced", "2027-03-16")
    assert (gates["RTYPE"], newest["FIRST_DAY"]) == ("GLST", newest["LAST_DAY"])
    assert msgx.ok("drain", "--json").json["REQUESTS_SENT"] == 2
    assert [routing for _, routing, _ in coutmsgs(msgx)] == ["RQRD", "RQFD"]
    listed = msgx.ok("requests").out
    assert "2027-03-14..2027-03-16" in listed
    assert "GLST" in listed
    assert msgx.ok("request", "--json").json == msgx.ok("requests", "--json").json
    assert "RQRD GLST SENT" in msgx.ok("status").out


def test_settings_of_the_message(msgx: Msgx) -> None:
    """parameters.md: sender, routing, zone and cut-over are those of the airport."""
    settings = {
        "MSGX_OUTBOUND_SENDER": "OPS",
        "MSGX_OUTBOUND_ROUTING_ID_SCHEDULE": "SKED",
        "MSGX_AIRPORT_DAY_CUTOVER": "04:30",
    }
    msgx.ok("request", "schedule", "2027-03-14", *WHY, **settings)
    msgx.ok("drain", **settings)
    ((text, routing, _),) = coutmsgs(msgx)
    assert "<SNDR>OPS</SNDR>" in text
    assert "<STDB>14MAR270430</STDB><STDE>15MAR270429</STDE>" in text
    assert routing == "SKED"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("schedule 2027-03-16..2027-03-14", "is before"),
        ("schedule 2026-01-01..2030-01-01", "1462 days"),
        ("schedule 2027-03-01..2027-04-01", "--yes"),
        ("schedule tomorrow-ish", "is not a day"),
        ("schedule 1999-12-31", "2000 to 2099"),
        ("schedule 2027-03-14..", "is not a day"),
        ("ref GATES", "one of"),
        ("ref RQFD", "one of"),
    ],
)
def test_what_cannot_be_asked(msgx: Msgx, words: str, says: str) -> None:
    """product (exit codes): a usage error, and nothing is made."""
    answer = msgx("request", *words.split(), *WHY)
    assert answer.code == 2
    assert says in answer.err.replace("\n", " ")
    assert msgx.ok("requests", "--json").json == []


def test_many_days_need_a_word(msgx: Msgx) -> None:
    """D-11: a month as it is; more with --yes, because an empty answer deletes them all."""
    msgx.ok("request", "schedule", "2027-03-01..2027-03-31", *WHY)
    answer = msgx.ok("request", "schedule", "2026-01-01..2030-01-01", "--yes", *WHY)
    assert "2026-01-01..2030-01-01" in answer.out


def test_a_reason_is_needed(msgx: Msgx) -> None:
    """D-34: every operator action has one, and is an audit row."""
    assert msgx("request", "ref", "GLST").code == 2
    assert msgx("request", "schedule", "today", "--reason", " ").code == 2


def test_refused_while_an_answer_is_being_applied(msgx: Msgx) -> None:
    """D-32: a bound request keeps its slot; exit 1."""
    asked = msgx.ok("request", "schedule", "2027-03-14", *WHY, "--json").json["REQUEST_ID"]
    with closing(sqlite3.connect(msgx.folder / "data" / "store.db")) as raw:
        raw.execute("UPDATE REQ_TRACK SET STATE = 'SENT', RESP_MSG_ID = 7")
        raw.commit()
    answer = msgx("request", "schedule", "2027-03-15", *WHY)
    assert answer.code == 1
    assert f"request {asked} is being answered by message 7" in answer.err


def test_a_shadow_asks_for_nothing(msgx: Msgx) -> None:
    """D-42: nothing is written into this mailbox."""
    shadow = ("--set", "msgx.mailbox.write-enabled=false")
    answer = msgx("request", "ref", "GLST", *WHY, *shadow)
    assert answer.code == 1
    assert "write-enabled" in answer.err
    msgx.ok("request", "ref", "GLST", *WHY)
    msgx.ok("drain", *shadow)
    assert coutmsgs(msgx) == []


def test_a_mailbox_without_a_way_out_is_found_before_the_start(msgx: Msgx) -> None:
    """parameters.md: nothing starts half-configured; the remedy is named, and it helps."""
    with closing(sqlite3.connect(msgx.folder / "data" / "mailbox.db")) as raw:
        raw.execute("DROP TABLE COUTMSGS")
        raw.commit()
    for words in ("config check", "drain"):
        answer = msgx(*words.split())
        assert answer.code == 3
        assert "COUTMSGS" in answer.out + answer.err
    msgx.ok("migrate")
    msgx.ok("drain")


def test_eror_and_a_reference_answer(msgx: Msgx) -> None:
    """R-338, R-412: FAILED(eror) for the slot that is named, DONE for the other."""
    msgx.ok("request", "schedule", "2027-03-14", *WHY)
    msgx.ok("request", "ref", "GLST", *WHY)
    msgx.ok("drain")
    put(msgx, error_answer(ETYP="RQFD"), reference("GLST", "RESP", ["<GCOD>B07</GCOD>"]))
    msgx.ok("drain")
    gates, day = msgx.ok("requests", "--json").json
    assert (day["STATE"], day["REASON"], gates["STATE"]) == ("FAILED", "eror", "DONE")
    assert [row["CODE"] for row in msgx.ok("alerts", "--json").json] == ["EROR"]


def test_the_daemon_sends_expires_and_asks_daily(msgx: Msgx) -> None:
    """FST §7.1, D-32: the loop of the daemon, over a restart; once a day."""
    settings = ("msgx.requests.daily-at=00:00", "msgx.requests.timeout=1s")
    options = [word for each in settings for word in ("--set", each)]
    for _ in range(2):
        process = start(msgx.folder / "msgx.toml", "run", *options)
        try:
            wait_until(lambda: _states(msgx) == ["EXPIRED"], "not asked for, or it does not expire", 30.0)
        finally:
            process.terminate()
            process.communicate(timeout=20)
    assert len(coutmsgs(msgx)) == 1
    (row,) = msgx.ok("requests", "--json").json
    today = datetime.now(ZoneInfo("Asia/Shanghai")).date()
    assert row["FIRST_DAY"] == (today + timedelta(days=1)).isoformat()


def _states(msgx: Msgx) -> list[str]:
    return [row["STATE"] for row in msgx.ok("requests", "--json").json]
