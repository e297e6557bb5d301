"""One browser for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from browser import browser


@pytest.fixture(scope="session")
def chrome() -> Iterator[Browser]:
    """Chromium."""
    with browser() as opened:
        yield opened
