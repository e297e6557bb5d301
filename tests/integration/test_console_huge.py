"""Very much of everything: pages stay small, quick and whole."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from html import unescape

import pytest

from console_room import text_of, visitor
from http_room import Room, http_room, settings_of
from msgx_core.model.alert import Alert, AlertCode
from wire import flop, fltr, gate, reference, schedule

FLIGHTS = 4000
DAY = "/console/flights?day=2027-03-14"
RECORDS = 3000
LONG = "中&lt;&amp;&gt;" * 900
DEEP = "<A>1" * 20 + "</A>" * 20 + "<B>2</B>" * 1500
CLOSED = "<RTYP>GATE</RTYP><RSID>{:05}</RSID><STAT>D</STAT><STRT></STRT><ENDT></ENDT>"
MAX_PAGE_BYTES = 600_000
WITHIN_S = 10.0


def registration(n: int) -> str:
    """The first page of them is long; the others say a little."""
    return f"<RNUM>B-{n:05}</RNUM><RDSC>{LONG if n < 60 else 'x' * 300}</RDSC>"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """A big schedule, long values, a thousand alerts."""
    with http_room(settings_of(tmp_path_factory.mktemp("huge"))) as made:
        made.finish(
            schedule("DNLD", [fltr(flid) for flid in range(1, FLIGHTS + 1)]),
            flop(1, "GTDT", gate("G" * 200), seqn=1),
            b"<MSG>" + b"x" * 1_000_000,
            reference("REGN", "DNLD", map(registration, range(RECORDS))),
            reference("ARPT", "ADD", [f"<ITCD>{'K' * 64}</ITCD><ANAM>{LONG}</ANAM>{DEEP}"]),
            reference("RSTA", "RESP", [CLOSED.format(n) for n in range(RECORDS)]),
            *(schedule("DNLD", [fltr(1, "15MAR270805", FLNO="X" * 3000)]) for _ in range(60)),
        )
        now = made.daemon.container.clock.now()
        for number in range(1100):
            made.store.raise_alert(Alert(AlertCode.BAD_VALUE, 1, 7, "x" * 500 + str(number)), now)
        yield made


@pytest.mark.parametrize(
    "path",
    [
        "/console",
        "/console/alerts",
        "/console/messages",
        "/console/messages/1",
        "/console/messages/1?view=effect",
        "/console/messages/1?view=decoded",
        "/console/messages/1?view=text",
        "/console/messages/3?view=text",
        "/console/messages/3?view=decoded",
        "/console/outbox?status=SENT",
        "/console/writeback?owed=1",
        DAY,
        f"{DAY}&text=QX3",
        "/console/flights/1",
        "/console/flights/1?view=history",
        "/console/reference",
        "/console/reference/REGN",
        "/console/reference/REGN?find=b-02999",
        "/console/reference/REGN?find=nowhere",
        "/console/reference/REGN?key=B-00001",
        "/console/reference/ARPT?key=" + "K" * 64,
        "/console/resources",
        "/console/resources?use=available",
        "/console/snapshots",
        "/console/snapshots?flag=DAY_MISMATCH",
        "/console/requests",
    ],
)
def test_a_page_is_bounded(room: Room, path: str) -> None:
    started_s = time.monotonic()
    page = visitor(room).page(path)
    assert time.monotonic() - started_s < WITHIN_S
    assert len(page.encode()) < MAX_PAGE_BYTES
    assert page.rstrip().endswith("</html>")


def test_what_is_left_out_is_told(room: Room) -> None:
    who = visitor(room)
    assert f"{FLIGHTS} flights; the first 50 are shown" in who.text("/console/messages/1?view=effect")
    assert "bytes more are not shown" in who.text("/console/messages/3?view=text")
    assert f"and {FLIGHTS - 200} more" in who.text("/console/messages/1")
    assert 'rel="next"' in who.page("/console/alerts")
    assert "The first 1000 lines are shown" in who.text("/console/reference/ARPT?key=" + "K" * 64)
    assert "and 45 more below" in who.text("/console/snapshots?flag=DAY_MISMATCH")


def test_a_long_day_is_turned_page_by_page(room: Room) -> None:
    """4,000 flights at one minute: every one once, in order, from the first page to the last."""
    who = visitor(room)
    seen: list[int] = []
    path: str | None = DAY
    while path is not None:
        page = who.page(path)
        seen += [int(flid) for flid in re.findall(r'<tr[^>]*id="flight-(\d+)"', page)]
        following = re.search(r'<a rel="next" href="([^"]*after=[^"]*)"', page)
        path = None if following is None else unescape(following[1])
    assert seen == list(range(1, FLIGHTS + 1))
    assert f"{FLIGHTS // 1000} 000 flights" in text_of(page)
