"""Phones, keyboards, screen readers, no JavaScript, dark, lost connections: every page for everybody."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from browser import tab
from console_room import ALL_PAGES
from http_room import Room, http_room, settings_of
from msgx_app.http.front import Front
from msgx_app.settings.network import Bind
from msgx_core.model.alert import Alert, AlertCode
from wire import flop, fltr, gate, reference, schedule

PAGES = (
    *ALL_PAGES,
    "/console/flights/700101",
    "/console/flights/700101?view=history",
    "/console/messages/2",
    "/console/messages/3?view=text",
    "/console/nothing",
)
PHONE = {"width": 390, "height": 844}
# Of text on its ground, as the WCAG count it (AA: 4.5).
CONTRASTS = """() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const found = parse(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const node of document.querySelectorAll("body *")) {
    const own = [...node.childNodes].some((each) => each.nodeType === 3 && each.textContent.trim());
    if (!own || !node.getClientRects().length || node.closest("svg")) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color)), light(ground(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${ratio.toFixed(2)} ${node.className} ${node.textContent.trim()}`);
  }
  return bad;
}"""
# What a screen reader would have no name for, ids that are there twice, headings that leave out a level.
NAMELESS = """() => {
  const bad = [];
  for (const node of document.querySelectorAll("input:not([type=hidden]), select, button, a, textarea")) {
    const labels = node.labels ? [...node.labels].map((each) => each.textContent).join("") : "";
    if (!(node.getAttribute("aria-label") || labels + node.textContent).trim()) bad.push(node.outerHTML);
  }
  const ids = [...document.querySelectorAll("[id]")].map((each) => each.id);
  bad.push(...ids.filter((id, n) => ids.indexOf(id) !== n));
  for (const node of document.querySelectorAll("[aria-labelledby]"))
    if (!document.getElementById(node.getAttribute("aria-labelledby"))) bad.push(node.outerHTML.slice(0, 99));
  if (document.querySelectorAll("h1").length !== 1) bad.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) bad.push("not one main");
  let level = 1;
  for (const node of document.querySelectorAll("main h1, main h2, main h3, main h4")) {
    const next = Number(node.tagName[1]);
    if (next > level + 1) bad.push(`h${level} then ${node.tagName} ${node.textContent.trim()}`);
    level = next;
  }
  return bad;
}"""


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    """Something on every page."""
    with http_room(settings_of()) as made:
        made.finish(
            schedule("DNLD", [fltr(700101)]),
            flop(700101, "GTDT", gate("B1"), seqn=1),
            reference("CLST", "DNLD", ["<CCOD>A1</CCOD>"]).replace(b"<RECS>1<", b"<RECS>9<"),
        )
        made.store.raise_alert(
            Alert(AlertCode.EMPTY, 1, 700101, "no record for 2027-03-14"), made.daemon.container.clock.now()
        )
        yield made


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_every_page_can_be_read_by_everybody(chrome: Browser, room: Room, locale: str, colours: str) -> None:
    """On a phone nothing sticks out; text stands out from its ground; all that can be used has a name."""
    with tab(chrome, str(room.client.base_url), locale=locale, color_scheme=colours, viewport=PHONE) as look:
        for path in PAGES:
            look.page.goto(path)
            wide = look.page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, (path, wide)
            assert look.page.evaluate(CONTRASTS) == [], path
            assert look.page.evaluate(NAMELESS) == [], path


def test_the_menu_of_a_phone(chrome: Browser, room: Room) -> None:
    with tab(chrome, str(room.client.base_url), viewport=PHONE) as look:
        look.page.goto("/console")
        navigation = look.page.get_by_role("navigation", name="Pages")
        expect(navigation).to_be_hidden()
        button = look.page.get_by_role("button", name="Menu")
        button.click()
        expect(button).to_have_attribute("aria-expanded", "true")
        navigation.get_by_role("link", name=re.compile("Alerts")).click()
        expect(look.page).to_have_url(re.compile("/console/alerts$"))


def test_with_the_keyboard_alone(chrome: Browser, room: Room) -> None:
    """The first thing is a way past the navigation; what has the focus is seen."""
    with tab(chrome, str(room.client.base_url)) as look:
        look.page.goto("/console/alerts")
        look.page.keyboard.press("Tab")
        skip = look.page.get_by_role("link", name="Skip to the content")
        expect(skip).to_be_focused()
        expect(skip).to_be_in_viewport()
        look.page.keyboard.press("Enter")
        look.page.keyboard.press("Tab")
        open_tab = look.page.get_by_role("link", name="Open", exact=True)
        expect(open_tab).to_be_focused()
        outline = open_tab.evaluate("each => getComputedStyle(each).outlineStyle")
        assert outline == "solid"
        current = look.page.get_by_role("navigation", name="Pages").locator("[aria-current=page]")
        expect(current).to_contain_text("Alerts")


def test_without_javascript(chrome: Browser, room: Room) -> None:
    """All is there, also the menu of a phone; what can be done is done by forms."""
    with tab(chrome, str(room.client.base_url), java_script_enabled=False, viewport=PHONE) as look:
        look.page.goto("/console")
        look.page.get_by_role("link", name=re.compile("^Messages")).click()
        look.page.get_by_role("link", name="3", exact=True).first.click()
        look.page.get_by_role("button", name="Replay: dry run first").click()
        look.page.get_by_label("Reason").fill("without scripts")
        look.page.get_by_role("button", name="Replay 1 now").click()
        expect(look.page.locator("main")).to_contain_text("1 asked to run again")


def test_language_and_colours_are_switched_in_the_page(chrome: Browser, room: Room) -> None:
    with tab(chrome, str(room.client.base_url)) as look:
        look.page.goto("/console/outbox?status=SENT")
        ground = "getComputedStyle(document.body).backgroundColor"
        light = look.page.evaluate(ground)
        look.page.get_by_role("button", name="中文").click()
        expect(look.page.get_by_role("heading", level=1)).to_have_text("发件箱")
        expect(look.page).to_have_url(re.compile(r"/console/outbox\?status=SENT$"))
        look.page.get_by_role("button", name="深色").click()
        expect(look.page.locator("html")).to_have_attribute("data-theme", "dark")
        assert look.page.evaluate(ground) != light


def test_a_reason_that_is_being_written_is_not_swept_away(chrome: Browser, room: Room) -> None:
    """What is refreshed is not what somebody is at work in."""
    with tab(chrome, str(room.client.base_url)) as look:
        look.page.goto("/console/alerts")
        field = look.page.get_by_label("Reason").first
        field.fill("I am just writ")
        room.store.raise_alert(Alert(AlertCode.BAD_VALUE, detail="new"), room.daemon.container.clock.now())
        badge = look.page.locator("[data-badge=alerts]")
        expect(badge).not_to_have_text("1", timeout=15_000)
        look.page.wait_for_timeout(3000)
        expect(field).to_have_value("I am just writ")
        expect(look.page.get_by_role("status").filter(has_text="open alerts")).to_have_count(1)


def test_a_lost_connection_is_told_and_comes_back(chrome: Browser) -> None:
    """With growing pauses; no reload by hand."""
    with http_room(settings_of()) as made, tab(chrome, str(made.client.base_url)) as look:
        look.page.goto("/console")
        look.waits_for("All is well")
        made.front.stop()
        expect(look.page.locator("#link-state")).to_be_visible(timeout=60_000)
        daemon = made.daemon
        again = Front(
            daemon.container.settings,
            Bind(*made.address),
            monitor=daemon.monitor,
            metrics=made.front._watch.metrics,
            telemetry=daemon.tally,
            clock=daemon.container.clock,
            holder=daemon.holder,
        )
        again.opened(daemon.container)
        again.start()
        try:
            expect(look.page.locator("#link-state")).to_be_hidden(timeout=90_000)
        finally:
            again.stop()
