"""Requests in the console: what is shown of them, and what can be asked of the AODB and by whom."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

import pytest

from console_room import Visitor, text_of, visitor
from http_room import Room, http_room, settings_of
from msgx_app.answers.advice import load_advice
from msgx_core.model.request import RequestSlot, RequestState
from processes import wait_for
from wire import error_answer, fltr, reference, schedule

ADVICE = load_advice()
SCRIPT = "<script>alert(1)</script>"
DAY = date(2027, 3, 14)


def said(kind: str, name: str, language: str = "en") -> str:
    found = ADVICE.of(kind, name, language)
    assert found is not None
    return f"{found.title} Cause {found.cause} What to do {found.remedy}"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """Requests are sent."""
    with http_room(settings_of(tmp_path_factory.mktemp("requests"))) as made:
        made.finish(schedule("DNLD", [fltr(1, "14MAR270805")]))
        yield made


@pytest.fixture
def who(room: Room) -> Visitor:
    return visitor(room)


def state_of(room: Room, request_id: int) -> tuple[RequestState, str | None]:
    found = next(each for each in room.store.requests() if each.request_id == request_id)
    return found.state, found.reason


def ask(room: Room, who: Visitor, kind: str, **fields: str) -> int:
    """Through the form; the new request's number."""
    done = who.post(f"/console/requests/{kind}", {"reason": "console test", **fields})
    assert done.status_code == 303, text_of(done.text)
    assert done.headers["location"] == "/console/requests?done=request"
    return room.store.requests(1)[0].request_id


def sent(room: Room, request_id: int) -> None:
    wait_for("it is sent", lambda: state_of(room, request_id)[0] is RequestState.SENT)


def test_days_and_lists_are_asked_for(room: Room, who: Visitor) -> None:
    """As `msgx request` does: with a reason, an audit row, in its slot; sent by the daemon; answered."""
    asked = ask(room, who, "schedule", first="2027-03-14", last="2027-03-15", reason="late <b>push</b>")
    row = room.store.requests(1)[0]
    assert (row.slot, row.first_day, row.last_day) == (RequestSlot.RQFD, DAY, date(2027, 3, 15))
    audit = room.store.audit(1)[0]
    assert (audit["ACTION"], audit["TARGET"], audit["ACTOR"]) == ("create_request", asked, "local")
    assert audit["REASON"] == "late <b>push</b>"
    sent(room, asked)
    page = who.page("/console/requests?done=request")
    text = text_of(page)
    assert "late &lt;b&gt;push&lt;/b&gt;" in page
    assert re.search(r"Schedule of days RQFD Asks for 2027-03-14 – 2027-03-15 State SENT", text)
    assert "Answer awaited until" in text
    assert re.search(r"Reference list RQRD No request is open", text)

    newer = ask(room, who, "schedule", first="2027-03-14")
    assert state_of(room, asked) == (RequestState.EXPIRED, "replaced")
    assert said("request", "replaced") in who.text("/console/requests").replace(" Cause and what to do", "")
    sent(room, newer)
    gates = ask(room, who, "reference", ref="BLST")
    sent(room, gates)
    (answer,) = room.finish(reference("BLST", "RESP", ["<BCOD>1</BCOD>"]))
    wait_for("its end", lambda: state_of(room, gates)[0] is RequestState.DONE)
    assert f"/console/messages/{answer}" in who.page("/console/requests")

    refused = ask(room, who, "reference", ref="TLST")
    sent(room, refused)
    room.finish(error_answer(ETYP="RQRD"))
    wait_for("the refusal", lambda: state_of(room, refused)[0] is not RequestState.SENT)
    assert state_of(room, refused) == (RequestState.FAILED, "eror")
    assert said("request", "eror") in who.text("/console/requests").replace(" Cause and what to do", "")


@pytest.mark.parametrize(
    ("kind", "fields", "words"),
    [
        ("schedule", {"first": ""}, "say which day"),
        ("schedule", {"first": "14MAR27"}, "is not a day"),
        ("schedule", {"first": "2027-03-15", "last": "2027-03-14"}, "is before"),
        ("schedule", {"first": "1999-03-15"}, "2000 to 2099"),
        ("schedule", {"first": "2027-03-01", "last": "2028-03-01"}, "--yes"),
        ("schedule", {"first": "2027-03-14", "last": "x" * 30}, "at most 20"),
        ("schedule", {"first": "2027-03-14", "reason": " "}, "say why"),
        ("reference", {"ref": "NOPE"}, "one of"),
        ("reference", {"ref": SCRIPT}, "one of"),
        ("reference", {}, "one of"),
        ("reference", {"ref": "GLST", "reason": "x" * 1001}, "at most 1000"),
    ],
)
def test_what_cannot_be_asked(
    room: Room, who: Visitor, kind: str, fields: dict[str, str], words: str
) -> None:
    """The form is refused with words; nothing is asked, nothing is in the audit."""
    before = room.store.requests(1), room.store.audit(1)
    answer = who.post(f"/console/requests/{kind}", {"reason": "x", **fields})
    assert answer.status_code == 422
    assert words in text_of(answer.text)
    assert SCRIPT not in answer.text
    assert (room.store.requests(1), room.store.audit(1)) == before


def test_links_fill_the_forms_in(who: Visitor) -> None:
    page = who.page("/console/requests?day=2027-03-14&ref=GLST")
    assert re.search(r'name="first" required value="2027-03-14"', page)
    assert '<option value="GLST" selected>' in page
    assert SCRIPT not in who.page("/console/requests?day=%22%3E" + SCRIPT[:8])


def test_a_mailbox_that_is_only_read_cannot_be_asked() -> None:
    """Said on the page, without forms; and refused if somebody sends one all the same."""
    with http_room(settings_of(mailbox_write_enabled="false")) as room:
        who = visitor(room)
        page = who.page("/console/requests")
        assert "nothing can be asked" in page
        assert 'action="/console/requests/schedule"' not in page
        answer = who.post("/console/requests/schedule", {"first": "2027-03-14", "reason": "x"})
        assert answer.status_code == 409
        assert "write-enabled = false" in text_of(answer.text)
        assert room.store.requests() == []
