"""The pictures of the console: all that are listed are there, shown, light and dark, and small."""

from __future__ import annotations

import re

import pytest

from msgx_app.http.console.table import entries
from screenshots.plan import FOLDER, MAX_BYTES, SCHEMES, Shot, shots

PAGE = FOLDER.parent / "console.md"
SHOTS = shots()


def test_all_pictures_are_there_and_no_others() -> None:
    wanted = {each.file(scheme) for each in SHOTS for scheme in SCHEMES}
    assert {path.name for path in FOLDER.iterdir()} == wanted, "make screenshots"


@pytest.mark.parametrize("shot", SHOTS, ids=lambda shot: shot.name)
def test_the_documentation_shows_it(shot: Shot) -> None:
    """Both, for whoever reads in the light or in the dark, with words for those who cannot see it."""
    text = PAGE.read_text(encoding="utf-8")
    assert f'srcset="screenshots/{shot.file("dark")}"' in text
    assert re.search(rf'<img alt="[^"]+" src="screenshots/{re.escape(shot.file("light"))}">', text)


def test_they_are_small_and_are_pictures() -> None:
    pictures = [path.read_bytes() for path in FOLDER.iterdir()]
    assert all(data.startswith(b"\x89PNG\r\n\x1a\n") for data in pictures)
    assert sum(map(len, pictures)) <= MAX_BYTES


def test_the_list_names_pages_of_the_console_once_each() -> None:
    assert len({shot.name for shot in SHOTS}) == len(SHOTS)
    known = {entry.path for entry in entries()}
    for shot in SHOTS:
        path = shot.path.partition("?")[0]
        assert any(path == each or path.startswith(f"{each}/") for each in known), shot
