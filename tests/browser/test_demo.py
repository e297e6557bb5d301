"""`make demo` in a browser: what somebody sees who opens the address and clicks."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser import tab
from msgx_cli import environment


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a demonstration that has just been started; it prints the console's."""
    options = f"--flights 60 --dir {tmp_path} --http 127.0.0.1:0".split()
    demo = subprocess.Popen(
        [sys.executable, "-m", "msgx_app.demo", *options],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert demo.stdout is not None
        found = next(filter(None, (re.search(r"(http://[\d.:]+)/console", line) for line in demo.stdout)))
        yield found[1]
    finally:
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=30)
    assert demo.returncode == 0


def test_a_dead_letter_is_found_understood_and_repaired(chrome: Browser, address: str) -> None:
    """Flights within ten seconds; why it died, a dry run, a replay with a reason, success, the audit."""
    with tab(chrome, address) as look:
        page = look.page
        page.goto("/")
        expect(page).to_have_url(f"{address}/console")
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Flights").click()
        expect(page.locator(".line.moved").first).to_be_visible(timeout=10_000)
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Overview").click()
        tile = page.locator(".tile", has_text="Active flights").locator(".value")
        expect(tile).not_to_have_text("0", timeout=10_000)

        page.get_by_role("link", name="Open the dead letters").click()
        page.get_by_role("table").get_by_role("link").first.click()
        look.waits_for("raw-missing")
        assert "There was no text" in look.text()
        assert "Make a dry run" in look.text()

        # The sender writes the text a moment later; until then a dry run says that it would die again.
        for _ in range(20):
            page.get_by_role("button", name="Replay: dry run first").click()
            look.waits_for("Nothing has been changed yet.")
            if "raw-missing" not in look.text():
                break
            page.get_by_role("link", name="Back without changing anything").click()
            page.wait_for_timeout(500)
        assert re.search(r"Now\s+DEAD\s+then\s+SUCCEEDED", look.text())
        assert "Flight" in look.text()

        page.get_by_label("Reason").fill("the text is there now")
        page.get_by_role("button", name="Replay 1 now").click()
        look.waits_for("Done: the message was applied.")
        audit = page.get_by_role("region", name="What people did with it")
        expect(audit).to_contain_text("the text is there now")
        expect(audit).to_contain_text("local")

        # What became of it: the flight that it changed, with this message in its time line.
        here = page.locator("h1").inner_text().split()[1]
        page.get_by_role("link", name="Why and effect").click()
        page.locator(".effect h3 a").first.click()
        page.get_by_role("link", name="All versions with values").click()
        expect(page.locator(".timeline")).to_contain_text(f"Message {here}")


def test_the_overview_moves_by_itself(chrome: Browser, address: str) -> None:
    """No reload: what has changed comes by server-sent events."""
    with tab(chrome, address) as look:
        look.page.goto("/console/messages")
        first = look.page.locator("tbody tr th a").first
        before = first.inner_text()
        expect(first).not_to_have_text(before, timeout=20_000)
