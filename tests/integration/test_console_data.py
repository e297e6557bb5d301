"""Reference data, resources, requests and the schedule log: what they show and what can be asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest

from console_room import Visitor, text_of, visitor
from http_room import Room, http_room, settings_of
from msgx_app.answers.advice import load_advice
from msgx_core.model.schedule import SnapshotFlag, SnapshotLogRow, SnapshotResult
from wire import adft, fltr, reference, schedule

ADVICE = load_advice()
SCRIPT = "<script>alert(1)</script>"
ESCAPED = "&lt;script&gt;"
DAY = date(2027, 3, 14)


def said(kind: str, name: str, language: str = "en") -> str:
    found = ADVICE.of(kind, name, language)
    assert found is not None
    return f"{found.title} Cause {found.cause} What to do {found.remedy}"


def status(rtyp: str, rsid: str, stat: str, begin: str = "", end: str = "") -> str:
    window = f"<STRT>{begin}</STRT><ENDT>{end}</ENDT>"
    return f"<RTYP>{rtyp}</RTYP><RSID>{rsid}</RSID><STAT>{stat}</STAT>{window}"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Lists, closures, and two days of the schedule; requests are sent."""
    settings = settings_of(tmp_path_factory.mktemp("data"), schd_dnld_coverage="single-day")
    with http_room(settings) as made:
        hostile = f"<ITCD>X&lt;1&gt;/&amp;?</ITCD><ANAM>{SCRIPT.replace('<', '&lt;')}</ANAM>"
        made.finish(
            schedule("DNLD", [fltr(1, "14MAR270805")]),
            schedule("DNLD", [fltr(2, "15MAR270805")]),
            reference(
                "GLST", "DNLD", [f"<GCOD>G{n:03}</GCOD><GNAM>Gate {n} 登机口</GNAM>" for n in range(120)]
            ),
            reference("ARPT", "ADD", [hostile]),
            reference(
                "RSTA",
                "RESP",
                [
                    status("GATE", "A1", "D"),
                    status("GATE", "A2", "E"),
                    status("STND", "S/1", "D", "14MAR270600", "14MAR270800"),
                    status("BELT", "B1", "D", "14MAR270600"),
                ],
            ),
        )
        yield made


@pytest.fixture
def who(room: Room) -> Visitor:
    return visitor(room)


def hrefs(page: str, start: str) -> list[str]:
    return [each.replace("&amp;", "&") for each in re.findall(rf'href="({re.escape(start)}[^"]*)"', page)]


def test_categories_with_sizes_and_ages(who: Visitor) -> None:
    """Those without a record, too; by name in both languages."""
    text = who.text("/console/reference")
    assert re.search(r"GLST Gates 120 .*? Message 3", text)
    assert re.search(r"REGN Registrations 0 – – –", text)
    assert re.search(r"RSTA Resource status 4 ", text)
    chinese = text_of(who.get("/console/reference", **{"Accept-Language": "zh"}).text)
    assert "GLST 登机口 120" in chinese


def test_records_page_by_page_and_searched(who: Visitor) -> None:
    """Every record once; the search stays while one goes on; nothing in it is a wildcard."""
    seen: list[str] = []
    path: str | None = "/console/reference/GLST?find=gate"
    while path is not None:
        page = who.page(path)
        assert 'value="gate"' in page
        seen += hrefs(page, "/console/reference/GLST?key=")
        found = re.search(r'rel="next" href="([^"]+)"', page)
        path = None if found is None else found[1].replace("&amp;", "&")
    assert [each.partition("=")[2] for each in seen] == [f"G{n:03}" for n in range(120)]
    only = hrefs(who.page("/console/reference/GLST?find=Gate%2017%20"), "/console/reference/GLST?key=")
    assert only == ["/console/reference/GLST?key=G017"]
    assert "No record has this text" in who.text("/console/reference/GLST?find=%25")
    assert "This list has no record" in who.text("/console/reference/REGN")
    assert "No record behind this one" in who.text("/console/reference/GLST?after=Z")


def test_a_record_by_its_tags_whatever_its_key(who: Visitor) -> None:
    """Keys with characters of addresses, texts with script: shown as they are, never run."""
    (link,) = hrefs(who.page("/console/reference/ARPT"), "/console/reference/ARPT?key=")
    page = who.page(link)
    text = text_of(page)
    assert "ITCD X<1>/&?" in text
    assert SCRIPT not in page
    assert ESCAPED in page
    assert "As it was sent (XML) <ARPT><ITCD>X&lt;1&gt;/&amp;?</ITCD>" in text
    assert "Message 4" in text
    gate = who.text("/console/reference/RSTA?key=STND/S/1")
    assert re.search(r"RTYP STND RSID S/1 STAT D STRT 14MAR270600", gate)


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/console/reference/NOPE", 404),
        ("/console/reference/GLST?key=nope", 404),
        ("/console/reference/GLST?find=" + "x" * 101, 422),
        ("/console/reference/GLST?find=%00", 422),
        ("/console/resources?at=tomorrow", 422),
        ("/console/resources?type=DOOR", 422),
        ("/console/requests?ref=NOPE", 422),
        ("/console/snapshots?day=14MAR27", 422),
        ("/console/snapshots?flag=ODD", 422),
        ("/console/snapshots?after=x", 422),
    ],
)
def test_what_is_not_legal_or_not_there(who: Visitor, path: str, code: int) -> None:
    """An error page in the layout."""
    answer = who.get(path)
    assert answer.status_code == code
    assert 'aria-label="Pages"' in answer.text


def test_resources_now_and_at_a_time(who: Visitor) -> None:
    """R-428 to R-430, D-40: closed from its beginning, not at the end; without one until further notice."""
    before, during, after = (
        who.text(f"/console/resources?at=2027-03-14T{hour}") for hour in ("05:59", "06:00", "08:00")
    )
    assert "1 closed, of 4 with a status" in before
    assert "3 closed, of 4 with a status" in during
    assert "2 closed, of 4 with a status" in after
    assert re.search(r"Stand S/1 available will be closed", before)
    assert re.search(r"Stand S/1 closed closed until the end", during)
    assert re.search(r"Stand S/1 available was closed; that is over", after)
    assert "Belt B1 closed closed until further notice" in after
    assert "Gate A2 available in use" in after
    closed = who.text("/console/resources?use=closed&at=2027-03-14T07:00&type=GATE")
    assert "Gate A1" in closed
    assert "Gate A2" not in closed
    assert "S/1" not in closed
    assert "No resource is like that" in who.text("/console/resources?type=CNTR")


def test_many_resources_are_shown_page_by_page(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every one once, with the filter kept."""
    with http_room(settings_of(tmp_path_factory.mktemp("many"))) as room:
        room.finish(reference("RSTA", "RESP", [status("GATE", f"{n:03}", "D") for n in range(130)]))
        who, seen = visitor(room), []
        path: str | None = "/console/resources?use=closed"
        while path is not None:
            page = who.page(path)
            seen += re.findall(r"key=GATE/(\d+)", page)
            found = re.search(r'rel="next" href="([^"]+)"', page)
            path = None if found is None else found[1].replace("&amp;", "&")
        assert seen == [f"{n:03}" for n in range(130)]


def test_the_schedule_log_by_day(room: Room, who: Visitor) -> None:
    """What became of each package, the roster of the day, and the ways on from there."""
    page = who.page("/console/snapshots?day=2027-03-14")
    text = text_of(page)
    assert re.search(r"2027-03-14 \d+ flights, generation \d+", text)
    assert "COMMITTED applied" in text
    assert "2027-03-15" not in text
    assert "/console/requests?day=2027-03-14#ask-schedule" in page
    assert "/console/messages/1" in page
    both = who.text("/console/snapshots")
    assert both.index("2027-03-15 1 flights") < both.index("2027-03-14 1 flights")
    assert "No schedule is like that" in who.text("/console/snapshots?day=2031-01-01")


def test_a_window_is_found_under_each_of_its_days(tmp_path_factory: pytest.TempPathFactory) -> None:
    """D-11: a push covers the time between its first flight and its last, no whole day."""
    with http_room(settings_of(tmp_path_factory.mktemp("windows"))) as room:
        room.finish(schedule("DNLD", [fltr(1, "14MAR270805"), fltr(2, "15MAR270805")]))
        who = visitor(room)
        for day in ("2027-03-14", "2027-03-15"):
            text = who.text(f"/console/snapshots?day={day}")
            assert re.search(rf"{day} (1 flights, generation \d+|No schedule of this day)", text)
            assert "No package was for this day as a whole" in text
            assert re.search(r"2027-03-14 – 2027-03-15 2027-03-14 08:05:00 .*? – 2027-03-15 08:05:00", text)
        assert "No schedule is like that" in who.text("/console/snapshots?day=2027-03-16")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_flag_is_explained(tmp_path_factory: pytest.TempPathFactory, language: str) -> None:
    """Cause and remedy, in both languages, also when the message is no more; results by name."""
    with http_room(settings_of(tmp_path_factory.mktemp("flags"))) as room:
        now = room.daemon.container.clock.now()
        for number, flag in enumerate(SnapshotFlag, start=1):
            result = (
                SnapshotResult.ROLLED_BACK if flag is SnapshotFlag.DAY_MISMATCH else SnapshotResult.COMMITTED
            )
            row = SnapshotLogRow(900 + number, now, result, operation_day=DAY, flags=(flag,))
            room.store.log_snapshots([row])
        text = text_of(visitor(room).get("/console/snapshots", **{"Accept-Language": language}).text)
        for flag in SnapshotFlag:
            kind = "flag" if flag is SnapshotFlag.DAY_MISMATCH else "alert"
            found = ADVICE.of(kind, flag.value, language)
            assert found is not None
            assert all(each in text for each in (found.title, found.cause, found.remedy)), flag
        one = text_of(
            visitor(room).get("/console/snapshots?flag=EMPTY", **{"Accept-Language": language}).text
        )
        rest = ADVICE.of("alert", "RECS_DROP", language)
        assert rest is not None
        assert rest.cause not in one


def test_a_day_conflict_names_flight_and_days(room: Room, who: Visitor) -> None:
    """D-10, D-11: what was refused, for which flight, that nothing was applied; an extra flight, too."""
    package, extra = room.finish(
        schedule("DNLD", [fltr(1, "15MAR270805", FLNO="QX<1>")]), adft(fltr(2, "14MAR271000"))
    )
    page = who.page("/console/snapshots?flag=DAY_MISMATCH")
    text = text_of(page)
    assert said("reason", "SAME_FLID_ACROSS_OPERATION_DAYS") in re.sub(r" \d+ DAY_MISMATCH", "", text)
    assert "ROLLED_BACK refused whole SAME_FLID_ACROSS_OPERATION_DAYS" in text
    for msg_id in (package, extra):
        assert f"/console/messages/{msg_id}" in page
        detail = (room.store.message(msg_id) or {})["DETAIL"]
        assert detail in text
    assert "2027-03-15" in text
    overview = who.page("/console")
    assert "/console/snapshots?flag=DAY_MISMATCH" in overview
    assert "DAY_MISMATCH" in who.text(f"/console/messages/{package}")


def test_without_the_store_the_pages_say_so(
    room: Room, who: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the cause and the remedy, not a fault of ours."""
    from msgx_core.errors import Transient

    def down(*args: object, **more: object) -> Any:
        raise Transient("store", "the disk is gone")

    store = room.front._office.store()
    for name in ("reference_sizes", "reference_page", "references", "requests", "snapshots"):
        monkeypatch.setattr(store, name, down)
    for path in ("reference", "reference/GLST", "resources", "requests", "snapshots"):
        answer = who.get(f"/console/{path}")
        assert answer.status_code == 503, path
        assert "the disk is gone" in answer.text
        assert "Look at the database server" in answer.text
