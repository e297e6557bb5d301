"""Reference data, resources, requests and the schedule log by clicking; pictures for the documentation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser import Tab, chromium, tab
from http_room import Room, http_room, settings_of
from msgx_cli import environment
from msgx_core.model.request import RequestState
from processes import wait_for
from wire import fltr, reference, schedule

ROOT = Path(__file__).resolve().parents[2]
CLOSED = "<RTYP>GATE</RTYP><RSID>G007</RSID><STAT>D</STAT><STRT>14MAR270600</STRT><ENDT>14MAR270800</ENDT>"


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    with http_room(settings_of()) as made:
        gates = [f"<GCOD>G{n:03}</GCOD><GNAM>Gate {n} 登机口</GNAM>" for n in range(120)]
        made.finish(
            schedule("DNLD", [fltr(700101), fltr(700102, "15MAR270805")]),
            reference("GLST", "DNLD", gates),
            reference("RSTA", "DNLD", [CLOSED]),
        )
        yield made


@pytest.fixture
def look(chrome: Browser, room: Room) -> Iterator[Tab]:
    with tab(chrome, str(room.client.base_url)) as opened:
        opened.page.goto("/console")
        yield opened


def menu(look: Tab, name: str) -> None:
    look.page.get_by_role("navigation", name="Pages").get_by_role("link", name=name).click()
    expect(look.page.get_by_role("heading", level=1)).to_contain_text(name)


def test_a_record_is_found(look: Tab) -> None:
    """From the categories to the records, on to the next page, by a search to one, and to its message."""
    menu(look, "Reference data")
    look.page.get_by_role("link", name="GLST Gates").click()
    expect(look.page.get_by_role("link", name="G000")).to_be_visible()
    look.page.get_by_role("link", name="Next page").click()
    expect(look.page.get_by_role("link", name="G050")).to_be_visible()
    look.page.get_by_label("Search").fill("gate 117 登机口")
    look.page.get_by_role("button", name="Show").click()
    expect(look.page.locator("tbody tr")).to_have_count(1)
    look.page.get_by_role("link", name="G117").click()
    expect(look.page.get_by_role("row", name="GNAM")).to_contain_text("Gate 117 登机口")
    look.page.get_by_text("As it was sent (XML)").click()
    expect(look.page.locator("pre")).to_contain_text("<GLST><GCOD>G117</GCOD>")
    look.page.get_by_role("link", name="Message 2").click()
    expect(look.page.get_by_role("heading", level=1)).to_contain_text("Message 2")


def test_what_is_closed_at_a_time(look: Tab) -> None:
    menu(look, "Resources")
    look.page.get_by_role("textbox", name="At").fill("2027-03-14T07:00")
    look.page.get_by_role("button", name="Show").click()
    row = look.page.get_by_role("row", name="G007")
    expect(row).to_contain_text("closed until the end")
    look.page.get_by_role("textbox", name="At").fill("2027-03-14T08:00")
    look.page.get_by_role("button", name="Show").click()
    expect(row).to_contain_text("was closed; that is over")


def test_a_list_is_asked_for_and_the_answer_is_seen(room: Room, look: Tab) -> None:
    """From the list to the form, filled in; what becomes of it without a reload by hand."""
    menu(look, "Reference data")
    look.page.get_by_role("link", name="GLST Gates").click()
    look.page.get_by_role("link", name="Ask the AODB for this list again").click()
    form = look.page.get_by_role("region", name="Ask for a reference list")
    expect(form.get_by_label("Category")).to_have_value("GLST")
    form.get_by_label("Reason").fill("a gate is missing")
    form.get_by_role("button", name="Ask").click()
    look.waits_for("Asked: it is sent within seconds")
    wait_for("it is sent", lambda: room.store.requests(1)[0].state is RequestState.SENT)
    history = look.page.get_by_role("region", name="All requests").locator("tbody tr").first
    expect(history).to_contain_text("SENT")
    (answer,) = room.finish(reference("GLST", "RESP", ["<GCOD>G001</GCOD>"]))
    expect(history).to_contain_text("DONE")
    expect(history).to_contain_text("a gate is missing")
    history.get_by_role("link", name=f"Message {answer}").click()
    look.waits_for("GLST RESP")


def test_the_schedule_log_leads_to_message_and_day(look: Tab) -> None:
    menu(look, "Schedule log")
    expect(look.page.get_by_role("region", name="Windows")).to_contain_text("COMMITTED")
    look.page.get_by_role("link", name="2027-03-15").click()
    look.page.wait_for_url("**/console/snapshots?day=2027-03-15")
    expect(look.page.get_by_label("Operation day")).to_have_value("2027-03-15")
    look.page.get_by_role("link", name="Message 1").click()
    expect(look.page.get_by_role("heading", level=1)).to_contain_text("Message 1")


def test_pictures_for_the_documentation(tmp_path: Path) -> None:
    """`make screenshots`, one page of it soon after the start: both pictures, small, of the right size."""
    chromium()  # a skip that says why
    into = tmp_path / "pictures"
    command = [
        sys.executable,
        "-m",
        "screenshots",
        "--into",
        str(into),
        "--only",
        "requests",
        "--messages",
        "40",
    ]
    path = f"{ROOT / 'tools'}"
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**environment(), "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = {each.name: each.read_bytes() for each in into.iterdir()}
    assert set(found) == {"requests-light.png", "requests-dark.png"}
    for name, data in found.items():
        assert data.startswith(b"\x89PNG"), name
        assert int.from_bytes(data[16:20], "big") == 1200, name
        assert 10_000 < len(data) < 120_000, name
    assert found["requests-light.png"] != found["requests-dark.png"]
