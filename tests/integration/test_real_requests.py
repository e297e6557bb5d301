"""Requests on PostgreSQL, MySQL, Redis and Kafka, from outside; the outbound table is read by its owner."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from msgx_cli import put
from real_set import TIMEOUTS, RealSet, real_set
from services.base import wait_until
from services.postgres import Tables
from wire import fltr, schedule

WHY = ("--reason", "the push was late")
WINDOW = [fltr(1, "14MAR270805"), fltr(2, "14MAR271000"), fltr(3, "14MAR272300"), fltr(4, "15MAR270100")]


@pytest.fixture
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSet]:
    with real_set(tmp_path_factory.mktemp("real"), **TIMEOUTS) as found:
        yield found


def coutmsgs(made: RealSet) -> list[tuple[str, str, str, str | None]]:
    """Text, routing, insertion and sending time of each row, as MySQL has them."""
    rows = made.mailbox.run(
        "SELECT COUTMSGS_CLOB_MSG, ROUTINGID, COUTMSGS_DATE_INSERTED, COUTMSGS_DATE_SENT FROM COUTMSGS"
        " ORDER BY COUTMSGS_ID"
    )
    return [(text.decode(), routing.decode(), at.decode(), sent) for text, routing, at, sent in rows]


def requests(made: RealSet) -> list[dict[str, object]]:
    return made.sql("SELECT STATE, REASON, SEQN FROM REQ_TRACK ORDER BY REQUEST_ID")


def codes(made: RealSet) -> list[str]:
    return [row["CODE"] for row in made.msgx().ok("alerts", "--json").json]


def test_a_day_from_asking_to_deletion(made: RealSet) -> None:
    """D-11, D-32, wire.md: the row in COUTMSGS, and the answer that deletes the two flights it lacks.

    Then sending that was broken off, and a frozen mailbox: no row is ever there twice (D-04).
    """
    msgx = made.msgx()
    put(msgx, schedule("DNLD", WINDOW))
    msgx.ok("drain")
    msgx.ok("request", "schedule", "2027-03-14", *WHY)
    assert msgx.ok("drain", "--json").json["REQUESTS_SENT"] == 1
    ((text, routing, inserted, sent),) = coutmsgs(made)
    head = r"<META><SNDR>RMS</SNDR><SEQN>1</SEQN><DTTM>\d{14}</DTTM><TYPE>RQFD</TYPE><STYP>NONE</STYP></META>"
    assert re.search(head, text)
    assert "<RQFD><STDB>14MAR270000</STDB><STDE>14MAR272359</STDE></RQFD></MSG>" in text
    assert (routing, sent) == ("RQFD", None)
    here = datetime.now(ZoneInfo("Asia/Shanghai")).replace(tzinfo=None)
    assert abs(datetime.fromisoformat(inserted) - here) < timedelta(minutes=5)
    put(msgx, schedule("RESP", [WINDOW[1]]), schedule("RESP", []))
    msgx.ok("drain")
    states = made.sql("SELECT FLID FROM FLIGHT_SCHD WHERE STATE = 'DELETED' ORDER BY FLID")
    assert [row["FLID"] for row in states] == [1, 3]
    assert requests(made) == [{"STATE": "DONE", "REASON": None, "SEQN": "1"}]
    assert [row["REASON"] for row in msgx.ok("messages", "--state", "SKIPPED", "--json").json] == [
        "unmatched-response"
    ]
    _broken_off(made)
    _frozen(made)


def _broken_off(made: RealSet) -> None:
    """What a crash left: the row is there for the one, not for the other."""
    msgx = made.msgx()
    msgx.ok("request", "ref", "GLST", *WHY)
    msgx.ok("request", "schedule", "2027-03-15", *WHY)
    msgx.ok("drain")
    tables = Tables(f"{made.postgres.url}?schema=msgx")
    tables.run("UPDATE REQ_TRACK SET STATE = 'PENDING', SENT_AT = NULL WHERE STATE = 'SENT'")
    tables.close()
    made.mailbox.run("DELETE FROM COUTMSGS WHERE ROUTINGID = 'RQRD'")
    msgx.ok("drain")
    gates, day = requests(made)[1:]
    assert (gates["STATE"], gates["REASON"], day["STATE"]) == ("FAILED", "send-lost", "SENT")
    assert codes(made) == ["SEND_LOST"]
    assert [routing for _, routing, _, _ in coutmsgs(made)] == ["RQFD", "RQFD"]


def _frozen(made: RealSet) -> None:
    """A daemon whose mailbox freezes loses nothing and sends once."""
    msgx = made.msgx()
    before = len(coutmsgs(made))
    with made.daemon() as process:
        wait_until(lambda: msgx.ok("status", "--json").json["LEASE"]["HELD"], "no lease", 30.0)
        made.mysql.server.freeze()
        msgx.ok("request", "ref", "BLST", *WHY)
        wait_until(lambda: "OUTAGE" in codes(made), "the outage is not noticed", 30.0)
        made.mysql.server.thaw()
        wait_until(lambda: requests(made)[-1]["STATE"] != "PENDING", "it stays PENDING", 60.0)
        process.terminate()
        process.wait(20)
    assert requests(made)[-1]["STATE"] == "SENT"
    assert len(coutmsgs(made)) == before + 1
