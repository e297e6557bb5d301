"""The board and the page of a flight: what they show, and flights that are odd, gone or were never there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve

from console_room import Visitor, text_of, visitor
from http_room import Room, http_room, settings_of
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.model.change import FlightPut
from msgx_core.model.flight import DeleteReason, FlightState
from msgx_core.ports import Archived
from msgx_core.rules.render import notice_document
from msgx_core.testing.builders import NOW, apply, flight, later, put
from wire import fdel, flop, fltr, gate, schedule

DAY = "/console/flights?day=2027-03-14"
SCRIPT = "<script>alert(1)</script>"
REMARK = "备降返场保障，优先下客"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """A day with everything: 101 departs late, 102 arrives, 103 shares 101, 104 is cancelled, 105 deleted."""
    with http_room(settings_of(tmp_path_factory.mktemp("board"), kafka_max_message_bytes="1000000")) as made:
        made.finish(
            schedule(
                "DNLD",
                [
                    fltr(101, "14MAR270805", MVIN="D", ESTT="14MAR270830", REMC=REMARK),
                    fltr(102, "14MAR270700", MVIN="A", ACTT="14MAR270648", STND="231"),
                    fltr(103, "14MAR270805", MVIN="D", MAID="101"),
                    fltr(104, "14MAR270900", MVIN="D", CNCL="14MAR270700"),
                    fltr(105, "14MAR271000", MVIN="A"),
                    fltr(106, "14MAR271100", MVIN="A", REMC=f"{SCRIPT}\u202e'\"", RENO=SCRIPT),
                    fltr(107, "15MAR270100", MVIN="D"),
                ],
            ),
            flop(101, "GTDT", gate("B12") + gate("B14", 2)),
            flop(102, "CLDT", '<CLDT CLNO="1"><BELT>07</BELT><FBAG>14MAR270710</FBAG></CLDT>'),
            fdel(105),
        )
        yield made


@pytest.fixture
def who(room: Room) -> Visitor:
    return visitor(room)


def line(page: str, flid: int) -> str:
    """The words of one line of the board."""
    found = re.search(rf'<tr[^>]*id="flight-{flid}".*?</tr>', page, re.DOTALL)
    assert found is not None, flid
    return text_of(found[0]).strip()


def lines(page: str) -> list[int]:
    """FLIDs in order."""
    return [int(flid) for flid in re.findall(r'<tr[^>]*id="flight-(\d+)"', page)]


def test_a_day_at_one_look(who: Visitor) -> None:
    """Times, delay, code shares, gates, stand, belt, what is going on; cancelled and deleted as such."""
    page = who.page(DAY)
    assert lines(page) == [102, 101, 104, 105, 106]
    late = line(page, 101)
    assert late.startswith("08:05 08:30 +25 min")
    assert all(each in late for each in ("Departure", "QX101", "QX103", "B12 B14", REMARK))
    landed = line(page, 102)
    assert all(each in landed for each in ("06:48", "actual time", "Arrival", "231", "07", "Bags on belt"))
    assert "Cancelled" in line(page, 104)
    assert "Deleted" in line(page, 105)
    assert re.search(r'id="flight-105"[^>]*class="[^"]*\bgone\b', page)
    assert "4 flights 2 arrivals 2 departures 1 Cancelled 1 Deleted" in text_of(page)
    assert 'href="/console/flights/103"' in page


def test_a_day_in_chinese(room: Room, who: Visitor) -> None:
    answer = who.get(DAY, **{"Accept-Language": "zh-CN"}).text
    assert all(
        each in text_of(answer) for each in ("星期日", "4 航班", "行李上转盘", "已删除", "登机口", REMARK)
    )
    assert "Deleted" not in text_of(answer)
    page = who.get("/console/flights/101", **{"Accept-Language": "zh-CN"}).text
    assert all(each in text_of(page) for each in ("标识与计划", "计划时间", REMARK, "没有等待发往总线的事件"))


def test_nobody_asked_for_a_day_and_today_has_none(who: Visitor) -> None:
    """The nearest day with flights, and that is said."""
    text = who.text("/console/flights")
    assert "has no flights. This is the nearest day that has." in text
    assert "2027-03-14 Sunday" in text


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("move=A", [102, 105, 106]),
        ("move=d", [101, 104]),
        ("text=qx10", [102, 101, 103, 104, 105, 106]),
        ("text=b14", [101]),
        ("text=103", [103]),
        ("from=08:30", [104, 105, 106]),
        ("from=08:30&move=D", [104]),
        ("text=%25", []),
        ("after=1804982700.101", [104, 105, 106]),
        ("after=-.1", []),
    ],
)
def test_filters(who: Visitor, more: str, expected: list[int]) -> None:
    page = who.page(f"{DAY}&{more}")
    assert lines(page) == expected
    assert ("No flight is like that" in text_of(page)) is (not expected)


def test_a_code_share_that_is_sought_names_its_main_flight(who: Visitor) -> None:
    page = who.page(f"{DAY}&text=qx103")
    assert "with 101" in line(page, 103)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("day=tomorrow", "'tomorrow' is not a day: write 2027-03-14 or today"),
        ("day=1999-12-31", "day: from 2000-01-01 to 2099-12-31"),
        ("move=X", "move: one of A, D"),
        ("from=25:00", "from: '25:00' is not a time"),
        ("from=9", "from: '9' is not a time"),
        ("after=1", "after: '1' is no place on a board"),
        (f"text={'x' * 41}", "text: at most 40 characters"),
    ],
)
def test_what_is_wrong_in_an_address_is_named(who: Visitor, query: str, said: str) -> None:
    answer = who.get(f"/console/flights?{query}")
    assert answer.status_code == 422
    assert said in text_of(answer.text)


def test_days_are_turned_like_pages(who: Visitor) -> None:
    """A day before and one after, also where there are no flights; from there to where there are."""
    page = who.page("/console/flights?day=2027-03-20")
    assert "No flights on this day." in text_of(page)
    assert 'id="earlier" href="/console/flights?day=2027-03-15"' in page
    assert 'id="later"' not in page
    assert 'rel="prev" title="2027-03-19"' in page
    assert 'rel="next" title="2027-03-21"' in page
    assert 'rel="prev"' not in who.page("/console/flights?day=2000-01-01")
    assert 'rel="next"' not in who.page("/console/flights?day=2099-12-31")


def test_times_of_another_date_say_so(who: Visitor) -> None:
    page = who.page("/console/flights?day=2027-03-15")
    assert lines(page) == [107]
    assert line(page, 107).startswith("01:00 –") or line(page, 107).startswith("01:00")


def test_a_flight_at_one_look(who: Visitor) -> None:
    """Groups of tags with names, version, day, family, what waits, last changes with their messages."""
    page = who.page("/console/flights/101")
    text = text_of(page)
    assert "QX101" in text
    assert "FLID 101 · version 2 · 2027-03-14" in text
    assert "Identity and plan" in text
    assert re.search(r"Planned\s+SODT\s+08:05\s+00:05Z", text)
    assert re.search(r"Gates GTDT .*B12.*B14", text)
    assert "Shared by: QX103" in text
    assert "Its last message is done: the cache has this version" in text
    assert 'href="/console/messages/2"' in page
    share = who.page("/console/flights/103")
    assert re.search(r'Main flight: <a id="to-main" href="/console/flights/101">QX101</a>', share)


def test_the_time_line_is_what_the_api_answers(room: Room, who: Visitor) -> None:
    """Each version with its message, and each value before and after."""
    page = who.page("/console/flights/101?view=history")
    told = room.json("/api/v1/flights/101/history")
    assert [int(n) for n in re.findall(r'<li id="version-(\d+)"', page)] == [
        row["STATE_VERSION"] for row in reversed(told)
    ]
    for row in told:
        assert f'href="/console/messages/{row["MSG_ID"]}"' in page
        assert all(f"<code>{each['TAG']}</code>" in page for each in row["VALUES"])
    assert re.search(r"version 2 .* Message 2 FLOP GTDT .* – GTNO 1 GATE B12 GTNO 2 GATE B14", text_of(page))


def test_a_deleted_flight_is_shown_as_such(who: Visitor) -> None:
    text = who.text("/console/flights/105")
    assert "DELETED" in text
    assert "This flight is deleted." in text
    assert "Deleted by the AODB" in text
    assert "Deleted by the AODB" in who.text("/console/flights/105?view=history")


def test_script_in_a_flight_is_shown_and_not_run(who: Visitor) -> None:
    for path in (DAY, "/console/flights/106", "/console/flights/106?view=history", f"{DAY}&text={SCRIPT}"):
        page = who.page(path)
        assert SCRIPT not in page, path
        assert "script&gt;" in page, path


@pytest.mark.parametrize("flid", [999, 999_999_999_999])
def test_a_flight_that_was_never_there(who: Visitor, flid: int) -> None:
    for view in ("state", "history"):
        answer = who.get(f"/console/flights/{flid}?view={view}")
        assert answer.status_code == 404
        assert f"here is no flight {flid}" in text_of(answer.text)


@pytest.mark.parametrize(
    "path", ["/console/flights/0", "/console/flights/1000000000000", "/console/flights/x"]
)
def test_what_cannot_be_a_flight(who: Visitor, path: str) -> None:
    assert who.get(path).status_code in (400, 404, 422)
    assert who.get("/console/flights/101?view=odd").status_code == 422


@pytest.fixture
def still() -> Iterator[Room]:
    """A store whose events nobody sends, and messages whose texts are nowhere."""
    with http_room(settings_of(), active=False) as made:
        assert made.store.acquire_lease("test", 600.0).granted
        yield made


def told(state: FlightState, **more: Any) -> FlightPut:
    """A put with the notice that the pipeline would write."""
    notice = notice_document(state, changed=("FLNO",), generation=None, reason=None)
    return put(state, notice=json.dumps(notice), **more)


def test_what_waits_is_shown(still: Room) -> None:
    """The cache until the message is finished, both topics until the bus has the event."""
    apply(still.store, 1, told(flight(7, sodt_at=NOW, FLNO="QX7")))
    text = visitor(still).text("/console/flights/7")
    assert "The cache may still have the version before" in text
    assert re.search(r"PENDING KAFKA:msg · version 1 .* PENDING KAFKA:schd · version 1", text)
    still.store.finish(1, NOW)
    text = visitor(still).text("/console/flights/7")
    assert "Its last message is done" in text
    assert "Nothing waits for the bus" not in text


def test_evidence_that_is_missing_is_told(still: Room) -> None:
    """No text of the message any more; versions whose events are gone."""
    apply(still.store, 1, told(flight(7, FLNO="QX7")))
    apply(still.store, 2, told(flight(7, version=2, msg_id=2, FLNO="QX7")))
    who, store = visitor(still), still.store
    history = "/console/flights/7?view=history"
    assert who.text(history).count("The values are not known any more") == 2
    assert isinstance(store, SqliteStore)
    store.db.run("DELETE FROM MSG_EVENT WHERE EVENT_ID = 1 AND TARGET = 'KAFKA:msg'")
    assert "Versions before 2 are not remembered any more" in who.text(history)
    store.db.run("DELETE FROM MSG_EVENT")
    assert "Its versions are not remembered any more" in who.text(history)
    assert "Its versions are not remembered any more" in who.text("/console/flights/7")


def test_a_flight_that_has_left(still: Room) -> None:
    """Its last version and when, and its messages; its time line as long as it is known."""
    state = flight(7, FLNO="QX7")
    apply(still.store, 1, told(state))
    still.store.finish(1, NOW)
    gone = notice_document(
        evolve(state, version=2), changed=(), generation=None, reason=DeleteReason.ARCHIVED
    )
    still.store.archive_flights([Archived(7, 1, 1, json.dumps(gone))], [], later(60))
    text = visitor(still).text("/console/flights/7")
    assert "This flight has left the store" in text
    assert "Moved to the history store" in text
    assert "Message 1" in text


def test_flights_without_a_day(still: Room) -> None:
    apply(still.store, 1, put(flight(7, day=None, FLNO="QX7")), put(flight(8, sodt_at=NOW)))
    who = visitor(still)
    page = who.page("/console/flights?day=none")
    assert lines(page) == [7]
    assert "without an operation day" in text_of(page)
    assert 'href="/console/flights?day=none"' in who.page("/console/flights")


def test_a_long_day_begins_where_flights_move(still: Room) -> None:
    """A little before the last actual time; the whole day is one click away; a text is sought in it all."""
    states = [flight(n, sodt_at=later(n * 300), MVIN="D", FLNO=f"QX{n}") for n in range(1, 301)]
    states[199] = flight(200, sodt_at=later(200 * 300), MVIN="D", FLNO="QX200", ACTT="14MAR271430")
    apply(still.store, 1, *map(put, states))
    who = visitor(still)
    page = who.page("/console/flights")
    first = lines(page)[0]
    assert 190 <= first <= 194
    assert 'id="whole-day" href="/console/flights?day=2027-03-14"' in page
    assert lines(who.page("/console/flights?text=qx1"))[0] == 1
    assert lines(who.page(DAY))[0] == 1
