"""The flight board as it is watched: flights move by themselves, calmly, and nobody is interrupted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser import tab
from http_room import Room, http_room, settings_of
from wire import fdel, flop, fltr, gate, schedule

DAY = "/console/flights?day=2027-03-14"


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """Three flights of a day."""
    with http_room(settings_of(tmp_path)) as made:
        flights = [fltr(n, f"14MAR27080{n}", MVIN="D", REMC="要客 & 随行") for n in (1, 2, 3)]
        made.finish(schedule("DNLD", flights))
        yield made


def test_what_changes_is_marked_and_told_once(chrome: Browser, room: Room) -> None:
    """The row and the cell that differ, for some seconds; the others not; one sentence for a listener."""
    with tab(chrome, str(room.client.base_url)) as look:
        page = look.page
        page.goto(DAY)
        row = page.locator("#flight-2")
        expect(page.locator("#link-state")).to_be_hidden()
        page.wait_for_timeout(2500)
        room.finish(flop(2, "GTDT", gate("C47")))
        expect(row).to_have_class(re.compile(r"\bmoved\b"))
        expect(row.locator(".moved-cell")).to_have_text("C47")
        expect(page.locator(".moved")).to_have_count(1)
        expect(page.locator("#live")).to_have_text("Flights that have changed: 1")
        room.finish(flop(1, "GTDT", gate("C1")), flop(3, "GTDT", gate("C3")))
        expect(page.locator("#flight-3 .at-gate")).to_have_text("C3")
        page.wait_for_timeout(1500)
        expect(page.locator("#live")).to_have_text("Flights that have changed: 1")
        expect(page.locator(".moved")).to_have_count(0, timeout=15_000)
        expect(page.locator("#live")).to_have_text("Flights that have changed: 2", timeout=40_000)


@pytest.mark.parametrize(("wish", "moves"), [("reduce", False), ("no-preference", True)])
def test_a_mark_does_not_move_where_that_is_not_wanted(
    chrome: Browser, room: Room, wish: str, moves: bool
) -> None:
    """`prefers-reduced-motion`: the mark is there, and is there at once."""
    with tab(chrome, str(room.client.base_url), reduced_motion=wish) as look:
        look.page.goto(DAY)
        style = "each => getComputedStyle(each).transitionDuration"
        assert (look.page.locator("#flight-1").evaluate(style) != "0s") is moves
        assert (
            look.page.locator("#flight-1").evaluate("each => getComputedStyle(each).animationName") == "none"
        )


def test_who_is_at_work_on_the_board_is_not_interrupted(chrome: Browser, room: Room) -> None:
    """The keyboard's place and a filter that is being written stay, and the board goes on."""
    with tab(chrome, str(room.client.base_url)) as look:
        page = look.page
        page.goto(DAY)
        page.wait_for_timeout(2500)
        page.locator("#to-3").focus()
        room.finish(flop(1, "GTDT", gate("D1")))
        expect(page.locator("#flight-1 .at-gate")).to_have_text("D1")
        expect(page.locator("#to-3")).to_be_focused()
        page.get_by_label("Flight, FLID or gate").fill("Q")
        room.finish(flop(1, "GTDT", gate("D2")))
        expect(page.locator("#flight-1 .at-gate")).to_have_text("D2")
        expect(page.get_by_label("Flight, FLID or gate")).to_have_value("Q")


def test_by_clicking_from_the_board_to_a_message_and_back(chrome: Browser, room: Room) -> None:
    """Filter, flight, time line, message; turning days; a deletion is seen as it comes."""
    with tab(chrome, str(room.client.base_url)) as look:
        page = look.page
        page.goto("/console")
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Flights").click()
        look.waits_for("This is the nearest day that has.")
        page.get_by_label("Flight, FLID or gate").fill("qx2")
        page.get_by_role("button", name="Show").click()
        expect(page.locator(".line")).to_have_count(1)
        page.get_by_role("link", name="QX2").click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("QX2")
        room.finish(flop(2, "GTDT", gate("E5")))
        look.waits_for("version 2")
        page.get_by_role("link", name="Time line").click()
        expect(page.locator("#version-2")).to_contain_text("GATE E5")
        page.locator("#version-2").get_by_role("link", name=re.compile("^Message")).click()
        expect(page.get_by_role("heading", level=1)).to_contain_text("Message")
        page.goto(DAY)
        page.wait_for_timeout(2500)
        room.finish(fdel(3))
        expect(page.locator("#flight-3")).to_contain_text("Deleted")
        page.get_by_role("link", name="Day after").click()
        look.waits_for("No flights on this day.")
        page.get_by_role("link", name="Before: 2027-03-14").click()
        expect(page.locator(".line")).to_have_count(3)


def test_a_board_on_a_phone(chrome: Browser, room: Room) -> None:
    """A card for each flight: nothing sticks out, no text is cut, a screen reader still has a table."""
    room.finish(flop(1, "GTDT", gate("LONG-GATE-NAME-OF-23CHRS")))
    with tab(chrome, str(room.client.base_url), viewport={"width": 390, "height": 844}) as look:
        page = look.page
        page.goto(DAY)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.get_by_role("table").get_by_role("row").count() == 4
        assert page.get_by_role("rowheader").count() == 3
        assert "要客 & 随行" in page.locator("#flight-2").inner_text()
        hidden = "each => [...each.cells].filter((cell) => cell.scrollWidth > cell.clientWidth + 1).length"
        assert page.locator("#flight-1").evaluate(hidden) == 0


def test_a_board_without_javascript(chrome: Browser, room: Room) -> None:
    with tab(chrome, str(room.client.base_url), java_script_enabled=False) as look:
        look.page.goto(DAY)
        look.page.get_by_label("Movement").select_option("A")
        look.page.get_by_role("button", name="Show").click()
        look.waits_for("No flight is like that.")
        look.page.get_by_role("link", name="Clear").click()
        expect(look.page.locator(".line")).to_have_count(3)
