"""One browser for each file: while it is open this thread has an event loop, which others may not find."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from browser import browser


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    """Chromium."""
    with browser() as opened:
        yield opened
