"""The dry run of several messages: what it offers, and what it says of the others."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from console_room import text_of, visitor
from http_room import Room, http_room, settings_of
from wire import reference

RECORD = "<CCOD>A1</CCOD><CTML>T1</CTML>"


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    with http_room(settings_of()) as made:
        yield made


@pytest.mark.parametrize(
    ("language", "button", "words"),
    [("en", "Replay 1 now", "make a dry run with force"), ("zh", "立即重放 1 条", "请在下方强制试运行")],
)
def test_only_what_would_not_be_refused_is_offered(
    room: Room, language: str, button: str, words: str
) -> None:
    """The button counts and sends those; why not the others is said in words of the console."""
    miscounted = reference("CLST", "DNLD", [RECORD]).replace(b"<RECS>1<", b"<RECS>9<")
    ids = list(map(str, room.finish(miscounted, b"<MSG><broken", b"<MSG><broken too")))
    page = (
        visitor(room)
        .post("/console/messages/replay", {"id": ids, "step": "preview"}, **{"Accept-Language": language})
        .text
    )
    assert button in text_of(page)
    assert text_of(page).count(words) == 2
    assert "--force" not in page
    form = next(form for form in re.findall(r"<form.*?</form>", page, re.DOTALL) if 'value="do"' in form)
    assert re.findall(r'name="id" value="(\d+)"', form) == ids[:1]
