"""Debian's chromium, driven by playwright: a skip that says why when it is absent, a failure if required."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from attrs import define, field
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, expect, sync_playwright

from services.base import unavailable

WAIT_MS = 20_000.0


def chromium() -> str:
    """Where it is."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        unavailable("chromium", "apt-get install chromium")
    return found


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser for a folder of tests."""
    path = chromium()
    expect.set_options(timeout=WAIT_MS)
    # As root it has no sandbox; what it opens here is ours.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield opened
        finally:
            opened.close()


@define
class Tab:
    """A page and what it complained about: scripts that fail, what the content-security policy refused."""

    page: Page
    complaints: list[str] = field(factory=list)

    def watch(self) -> None:
        """Listen from now on."""
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda message: self._said(message))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.complaints.append(message.text)

    def text(self) -> str:
        """What a person reads in the main part."""
        return self.page.locator("main").inner_text()

    def waits_for(self, text: str, within_ms: float = WAIT_MS) -> None:
        """Until the main part has that text, without a reload by the test."""
        self.page.locator("main", has_text=text).wait_for(timeout=within_ms)


@contextmanager
def tab(opened: Browser, base: str, **more: Any) -> Iterator[Tab]:
    """A fresh tab; at the end nothing may have been complained about."""
    context: BrowserContext = opened.new_context(base_url=base, **{"locale": "en-GB", **more})
    context.set_default_timeout(WAIT_MS)
    try:
        found = Tab(context.new_page())
        found.watch()
        yield found
        assert found.complaints == []
    finally:
        context.close()
