"""What the pages show: nothing yet, very much, hostile texts, a store that is down; and what can be done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from console_room import ALL_PAGES, Visitor, text_of, visitor
from http_room import Room, http_room, settings_of
from msgx_core.errors import Transient
from msgx_core.model.alert import Alert, AlertCode
from msgx_core.model.proc import AbandonReason
from msgx_core.ports.operations import MessageFilter
from processes import wait_for
from wire import flop, fltr, gate, reference, schedule

SCRIPT = "<script>alert(1)</script>"
RECORD = "<CCOD>A1</CCOD><CTML>T1</CTML>"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """A schedule and gates have gone through; write-backs wait, so that a test may give one up."""
    settings = settings_of(
        tmp_path_factory.mktemp("console"),
        pipeline_backfill_interval="1h",
        kafka_max_message_bytes="1000000",
    )
    with http_room(settings) as made:
        made.finish(
            schedule("DNLD", [fltr(700101), fltr(700102)]),
            flop(700101, "GTDT", gate("B12"), seqn=11),
            flop(700101, "GTDT", gate("B14"), seqn=11),
        )
        yield made


@pytest.fixture
def who(room: Room) -> Visitor:
    return visitor(room)


def dead_list(room: Room, declared: int = 5) -> int:
    """A list that says more records than it has."""
    raw = reference("CLST", "DNLD", [RECORD]).replace(b"<RECS>1<", b"<RECS>%d<" % declared)
    (msg_id,) = room.finish(raw)
    row = room.store.message(msg_id)
    assert row is not None
    assert row["STATE"] == "DEAD"
    return msg_id


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_page_of_a_new_system(language: str) -> None:
    """Nothing yet is said in words, in both languages; nothing is left to chance."""
    with http_room(settings_of(), active=False) as fresh:
        who = visitor(fresh)
        for path in ALL_PAGES:
            answer = who.get(path, **{"Accept-Language": language})
            assert answer.status_code == 200, (path, text_of(answer.text))
            assert re.search(r"\bNone\b(?! runs)|\{\w*\}", text_of(answer.text)) is None, path
        overview = who.get("/console", **{"Accept-Language": language}).text
        words = {
            "en": ("Nobody processes messages", "Too little is known yet"),
            "zh": ("没有实例", "数据尚不足"),
        }
        assert all(each in overview for each in words[language])


def test_all_is_well(room: Room, who: Visitor) -> None:
    """A calm page when nothing needs anybody."""
    text = who.text("/console")
    assert "All is well" in text
    assert "Active flights 2" in text


def test_script_in_a_message_is_shown_and_not_run(room: Room, who: Visitor) -> None:
    """In every view of it, and in the lists; also text that is no text."""
    raw = flop(700102, "GTDT", gate(f"{SCRIPT}\u202e".replace("<", "&lt;")), seqn=31)
    hostile = b"<MSG><META>" + SCRIPT.encode() + b"\xff\xfe'\"onload=x</META></MSG>"
    for msg_id in room.finish(raw, hostile):
        for view in ("story", "effect", "decoded", "text"):
            page = who.page(f"/console/messages/{msg_id}?view={view}")
            assert SCRIPT not in page, view
        assert "script" in who.page(f"/console/messages/{msg_id}?view=text")
    assert SCRIPT not in who.page("/console/messages")
    assert SCRIPT not in who.page("/console")
    query = f"/console/messages?reason={SCRIPT}"
    assert SCRIPT not in who.page(query)
    assert SCRIPT not in who.get(f"/console/{SCRIPT}").text
    assert who.get("/console/messages/1/raw").headers["content-disposition"].startswith("attachment")


def test_a_failure_is_explained_and_replayed_after_a_dry_run(room: Room, who: Visitor) -> None:
    """Preview, reason, audit row, result; a second deed is refused with words."""
    msg_id = dead_list(room)
    page = who.text(f"/console/messages/{msg_id}")
    assert "RECS does not fit" in page
    assert "What to do" in page
    before = room.store.message(msg_id)
    preview = who.post("/console/messages/replay", {"id": str(msg_id), "step": "preview"})
    assert preview.status_code == 200
    assert "Nothing has been changed yet" in preview.text
    assert room.store.message(msg_id) == before
    missing = who.post("/console/messages/replay", {"id": str(msg_id), "step": "do", "reason": "  "})
    assert missing.status_code == 422
    done = who.post(
        "/console/messages/replay", {"id": str(msg_id), "step": "do", "reason": "try <b>again</b>"}
    )
    assert done.headers["location"] == f"/console/messages/{msg_id}?done=replay&n=1"
    wait_for("its end", lambda: (room.store.message(msg_id) or {})["STATE"] == "DEAD")
    story = who.page(done.headers["location"])
    assert "1 asked to run again" in story
    assert "try &lt;b&gt;again&lt;/b&gt;" in story
    succeeded = next(row["MSG_ID"] for row in room.store.messages(MessageFilter(state="SUCCEEDED")))
    refused = who.post("/console/messages/replay", {"id": str(succeeded), "step": "do", "reason": "x"})
    assert refused.status_code == 409
    assert "1 of 1 were refused" in text_of(refused.text)
    assert "SUCCEEDED" in text_of(refused.text)


def test_an_answer_to_a_form_knows_the_page_that_it_was_on(room: Room, who: Visitor) -> None:
    """Language and colours are switched there, and not at an address that only takes forms."""
    msg_id = dead_list(room)
    came_from = {"Referer": f"{who.base}/console/messages/{msg_id}?done=replay&n=1"}
    fields = {"id": str(msg_id), "step": "preview"}
    page = who.post("/console/messages/replay", fields, **came_from).text
    assert f'name="here" value="/console/messages/{msg_id}"' in page
    elsewhere = who.post("/console/messages/replay", fields, Referer="http://evil.example/x").text
    assert 'name="here" value="/console"' in elsewhere
    asked = who.get("/console/messages/replay")
    assert asked.status_code in (404, 405)
    assert "Nothing here" in asked.text


def test_failures_are_grouped_by_code_and_kind_of_reason(room: Room, who: Visitor) -> None:
    """What differs behind the colon is one group, with its count, its newest and a link to them."""
    first, newest = dead_list(room, 7), dead_list(room, 8)
    text = who.text("/console/messages")
    match = re.search(r"PROTOCOL recs-mismatch (\d+) DEAD (\d+)", text)
    assert match is not None
    assert int(match[1]) >= 2
    assert int(match[2]) == newest
    listed = who.page("/console/messages?state=DEAD&reason=recs-mismatch")
    assert f"/console/messages/{first}" in listed
    assert f"/console/messages/{newest}" in listed


def test_a_duplicate_can_be_let_in(room: Room, who: Visitor) -> None:
    """D-24, from the message's page."""
    duplicate = next(row["MSG_ID"] for row in room.store.messages(MessageFilter(reason="duplicate-of")))
    assert "Let it in" in who.text(f"/console/messages/{duplicate}")
    done = who.post(f"/console/messages/{duplicate}/readmit", {"reason": "it is news"})
    assert done.status_code == 303
    room.settle([duplicate])
    assert "Done: the message was applied" in who.text(f"/console/messages/{duplicate}")


def test_each_alert_names_cause_and_remedy_and_can_be_acknowledged(room: Room, who: Visitor) -> None:
    """All kinds of alert at once; those of one kind go together."""
    now = room.daemon.container.clock.now()
    for code in AlertCode:
        room.store.raise_alert(Alert(code, detail=f"detail of {code.value} {SCRIPT}"), now)
    page = who.page("/console/alerts")
    assert SCRIPT not in page
    for code in AlertCode:
        assert f'id="alert-{code.value.lower()}"' in page
    assert page.count("What to do") == len(AlertCode)
    chosen = re.findall(r'name="id" value="(\d+)"', page)[:2]
    done = who.post("/console/alerts/ack", {"id": chosen, "reason": "seen"})
    assert done.headers["location"] == "/console/alerts?done=ack&n=2"
    assert "2 acknowledged" in who.text(done.headers["location"])
    left = re.findall(r'name="id" value="(\d+)"', who.page("/console/alerts"))
    assert not set(chosen) & set(left)
    everything = who.post("/console/alerts/ack", {"id": left, "reason": "all seen"})
    assert everything.status_code == 303
    assert "No alert is open" in who.text("/console/alerts")


def test_an_abandoned_write_back_says_why_and_is_resumed(room: Room, who: Visitor) -> None:
    now = room.daemon.container.clock.now()
    alert = Alert(AlertCode.TRANSIENT_DEADLINE, 1, detail="lock held")
    room.store.writeback_abandon(1, AbandonReason.TRANSIENT_DEADLINE, alert, now)
    text = who.text("/console/writeback")
    assert "TRANSIENT_DEADLINE" in text
    assert "resume on the page Write-back" in text
    assert who.post("/console/writeback/resume", {"reason": "x"}).status_code == 422
    done = who.post("/console/writeback/resume", {"id": "1", "reason": "the lock is gone"})
    assert done.status_code == 303
    assert "No write-back was abandoned" in who.text(done.headers["location"])


def test_events_that_were_given_up_are_sent_again_or_laid_aside(room: Room, who: Visitor) -> None:
    bus: Any = room.daemon.container.bus
    bus.refuse = lambda record: "too-large"
    room.finish(flop(700102, "GTDT", gate("C7"), seqn=71))
    counts = room.store.counts
    wait_for("dead events", lambda: sum(e.get("DEAD", 0) for e in counts().events.values()) == 2)
    bus.refuse = None
    page = who.page("/console/outbox?status=DEAD")
    assert "too-large" in page
    places = re.findall(r'name="id" value="([^"]+)"', page)
    assert {each.split("-")[1] for each in places} == {"msg", "schd"}
    first, second = places
    assert who.post("/console/outbox/requeue", {"id": first, "reason": "x"}).status_code == 303
    assert who.post("/console/outbox/discard", {"id": second, "reason": "x"}).status_code == 303
    assert who.post("/console/outbox/discard", {"id": second, "reason": "x"}).status_code == 409
    assert who.post("/console/outbox/discard", {"id": "nonsense", "reason": "x"}).status_code == 422
    wait_for("no dead events", lambda: not sum(e.get("DEAD", 0) for e in counts().events.values()))


def test_a_job_is_left_and_its_end_is_seen(room: Room, who: Visitor) -> None:
    assert who.post("/console/jobs", {"kind": "rm -rf", "reason": "x"}).status_code == 422
    done = who.post("/console/jobs", {"kind": "cache-rebuild", "reason": "looks odd"})
    wait_for("its end", lambda: "DONE" in who.text(done.headers["location"]))
    assert "looks odd" in who.text("/console/jobs")


def test_lists_go_on_page_by_page(room: Room, who: Visitor) -> None:
    """From the newest; every message once; filters stay."""
    room.finish(*(flop(700101, "GTDT", gate(f"D{n}"), seqn=1000 + n) for n in range(120)))
    wanted = [
        row["MSG_ID"] for row in room.store.messages(MessageFilter(newest=True, limit=1000, type="FLOP"))
    ]
    seen: list[int] = []
    path: str | None = "/console/messages?type=FLOP"
    while path is not None:
        page = who.page(path)
        assert 'value="FLOP"' in page
        seen += [int(each) for each in re.findall(r'<th scope="row"><a href="/console/messages/(\d+)"', page)]
        found = re.search(r'rel="next"[^>]*href="([^"]+)"|href="([^"]+)"[^>]*rel="next"', page)
        path = None if found is None else (found[1] or found[2]).replace("&amp;", "&")
    assert seen == wanted


@pytest.mark.parametrize(
    "path",
    [
        "/console/messages?flid=abc",
        "/console/messages?state=WRONG",
        "/console/messages?since=yesterday",
        "/console/messages?after=99999999999999999999",
        "/console/messages?reason=" + "x" * 300,
        "/console/outbox?after=1",
        "/console/messages/1?view=nothing",
    ],
)
def test_what_is_not_legal_is_named(who: Visitor, path: str) -> None:
    """An error page in the layout, with the way back."""
    answer = who.get(path)
    assert answer.status_code == 422
    assert "A value is not legal" in answer.text
    assert 'aria-label="Pages"' in answer.text


@pytest.mark.parametrize("path", ["/console/nothing", "/console/messages/4711", "/console/messages/x"])
def test_what_is_not_there(who: Visitor, path: str) -> None:
    answer = who.get(path)
    assert answer.status_code == 404
    assert "Nothing here" in answer.text
    assert who.ask("GET", path, headers={"Accept": "*/*"}).json()["status"] == 404


def test_without_the_store_the_overview_still_says_what_is_wrong(
    room: Room, who: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other pages are an error page with the cause and the remedy."""

    def down(*args: object, **more: object) -> Any:
        raise Transient("store", "the disk is gone")

    office = room.front._office
    store = office.store()
    for name in ("counts", "lease", "head", "messages", "failures"):
        monkeypatch.setattr(store, name, down)
    text = who.text("/console")
    assert "The store does not answer" in text
    assert "Look at the database server" in text
    answer = who.get("/console/messages")
    assert answer.status_code == 503
    assert "the disk is gone" in answer.text
    assert "Look at the database server" in answer.text
    assert answer.headers["retry-after"]


def test_a_fault_of_ours_is_a_page_without_its_secrets(
    room: Room, who: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: object) -> Any:
        raise RuntimeError("secret words")

    monkeypatch.setattr(room.front._office.store(), "outages", broken)
    answer = who.get("/console/jobs")
    assert answer.status_code == 500
    assert "A fault of msgx" in answer.text
    assert "secret words" not in answer.text
    assert room.daemon.told("http-error")
