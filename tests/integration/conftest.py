"""What several files about the wired system share."""

from __future__ import annotations

from pathlib import Path

import pytest

from msgx_cli import Msgx, ready


@pytest.fixture
def msgx(tmp_path: Path) -> Msgx:
    """An empty installation."""
    return ready(tmp_path)
