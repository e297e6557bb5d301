"""Very much of everything: pages stay small, quick and whole."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from console_room import visitor
from http_room import Room, http_room, settings_of
from msgx_core.model.alert import Alert, AlertCode
from wire import flop, fltr, gate, schedule

FLIGHTS = 2000
MAX_PAGE_BYTES = 600_000
WITHIN_S = 10.0


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """A big schedule, long values, a thousand alerts."""
    with http_room(settings_of(tmp_path_factory.mktemp("huge"))) as made:
        made.finish(
            schedule("DNLD", [fltr(flid) for flid in range(1, FLIGHTS + 1)]),
            flop(1, "GTDT", gate("G" * 200), seqn=1),
            b"<MSG>" + b"x" * 1_000_000,
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
    assert "and 1800 more" in who.text("/console/messages/1")
    assert 'rel="next"' in who.page("/console/alerts")
