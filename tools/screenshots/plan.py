"""Which pictures there are to be, from `pages.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

from attrs import frozen

HERE: Final = Path(__file__).resolve().parent
FOLDER: Final = HERE.parents[1] / "docs" / "screenshots"
SCHEMES: Final = ("light", "dark")
MAX_BYTES: Final = 1_500_000
"""All of them together: they are in the repository."""


@frozen
class Shot:
    """A page of the console; `click` is a selector on it that leads to the one that is meant.

    `height` of the window, in pixels.
    """

    name: str
    path: str
    click: str | None = None
    height: int = 780

    def file(self, scheme: str) -> str:
        """The name of the picture in one of `SCHEMES`."""
        return f"{self.name}-{scheme}.png"


def shots() -> list[Shot]:
    """All of them, in the order of the file."""
    found: dict[str, Any] = tomllib.loads((HERE / "pages.toml").read_text("utf-8"))
    return [Shot(**each) for each in found["page"]]
