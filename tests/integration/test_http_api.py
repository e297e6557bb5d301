"""The HTTP interface: what the command line tells with --json, over HTTP, with pages, tags and problems."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from http_room import Room, http_room, settings_of
from msgx_core.model.alert import Alert, AlertCode
from processes import wait_for
from wire import flop, fltr, gate, reference, schedule

PROBLEM = "application/problem+json"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """A schedule, gates, a bad message and a duplicate have gone through."""
    with http_room(settings_of(tmp_path_factory.mktemp("http"))) as made:
        made.finish(
            schedule("DNLD", [fltr(700101), fltr(700102), fltr(700103)]),
            flop(700101, "GTDT", gate("B12"), seqn=11),
            flop(700101, "GTDT", gate("B14"), seqn=12),
            flop(700101, "GTDT", gate("B14"), seqn=12),
            b"<MSG><broken></MSG>",
        )
        for number in range(3):
            made.store.raise_alert(
                Alert(AlertCode.EMPTY, detail=str(number)), made.daemon.container.clock.now()
            )
            made.post("requests", ref="GLST", reason="page test")
        made.finish(*(schedule("DNLD", [fltr(700101)]) for _ in range(3)))
        wait_for("the schedule log", lambda: len(made.json("/api/v1/snapshots")) == 4)
        yield made


def test_a_message_goes_in_and_its_story_comes_out(room: Room) -> None:
    """H-80: 202 with the id; under that id is told what became of it."""
    answer = room.send(flop(700102, "GTDT", gate("C1"), seqn=21))
    assert answer.status_code == 202
    msg_id = answer.json()["MSG_ID"]
    room.settle([msg_id])
    story = room.json(f"/api/v1/messages/{msg_id}")
    assert (story["STATE"], story["TYPE"], story["STYP"]) == ("SUCCEEDED", "FLOP", "GTDT")
    assert [event["PAYLOAD"]["CHANGED"] for event in story["EVENTS"]] == [["GTDT"]]
    assert story["ALERTS"] == story["AUDIT"] == []


def test_an_empty_message_is_refused(room: Room) -> None:
    """It could only die of it."""
    answer = room.send(b" \n")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == PROBLEM


def test_the_raw_text_is_no_page(room: Room) -> None:
    """Byte for byte, as a download: a browser runs nothing that a message holds."""
    raw = b"<MSG xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></MSG>"
    (msg_id,) = room.finish(raw)
    answer = room.get(f"/api/v1/messages/{msg_id}/raw")
    assert answer.content == raw
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", [1, 2, 3, 4, 5]),
        ("?state=DEAD", [5]),
        ("?state=SKIPPED&reason=duplicate-of", [4]),
        ("?type=FLOP&flid=700101", [2, 3]),
        ("?styp=DNLD", [1]),
        ("?since=1h&after=3", [4, 5]),
        ("?since=2020-01-01T00:00&limit=2", [1, 2]),
    ],
)
def test_messages_are_filtered(room: Room, query: str, found: list[int]) -> None:
    """The filters of `msgx messages`."""
    rows = [row["MSG_ID"] for row in room.json(f"/api/v1/messages{query}")]
    assert [msg_id for msg_id in rows if msg_id <= 5] == found


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("messages", "MSG_ID"),
        ("messages?state=SUCCEEDED", "MSG_ID"),
        ("flights", "FLID"),
        ("outbox", "EVENT_ID"),
        ("outbox?target=schd", "EVENT_ID"),
        ("alerts?all=true", "ALERT_ID"),
        ("audit", "AUDIT_ID"),
        ("snapshots", "LOG_ID"),
        ("requests", "REQUEST_ID"),
    ],
)
def test_pages_follow_their_links(room: Room, path: str, key: str) -> None:
    """Each item once, in the order of the whole list; the last page has no link."""
    whole = room.json(f"/api/v1/{path}", params={"limit": 1000} if "?" not in path else None)
    seen: list[Any] = []
    answer = room.get(f"/api/v1/{path}{'&' if '?' in path else '?'}limit=2")
    while True:
        assert len(answer.json()) <= 2
        seen.extend(answer.json())
        if "next" not in answer.links:
            break
        answer = room.get(answer.links["next"]["url"])
    assert len(whole) > 2
    assert [row[key] for row in seen] == [row[key] for row in whole]


def test_a_flight_has_a_tag_that_follows_its_version(room: Room) -> None:
    """ETag from `STATE_VERSION`: what is held is not sent again."""
    first = room.get("/api/v1/flights/700103")
    tag = first.headers["etag"]
    again = room.get("/api/v1/flights/700103", headers={"If-None-Match": f'"x", W/{tag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    board = room.get("/api/v1/flights?limit=500").headers["etag"]
    assert room.get("/api/v1/flights?limit=500", headers={"If-None-Match": board}).status_code == 304
    room.finish(flop(700103, "GTDT", gate("D9"), seqn=31))
    changed = room.get("/api/v1/flights/700103", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.json()["STATE_VERSION"] == first.json()["STATE_VERSION"] + 1
    assert changed.json()["GTDT"][0]["GATE"] == "D9"
    assert room.get("/api/v1/flights?limit=500", headers={"If-None-Match": board}).status_code == 200


def test_the_board_of_a_day(room: Room) -> None:
    """Day and state restrict it."""
    day = room.json("/api/v1/flights/700101")["OPERATION_DAY"]
    assert {row["FLID"] for row in room.json(f"/api/v1/flights?day={day}")} >= {700101, 700102, 700103}
    assert room.json("/api/v1/flights?day=1999-01-01") == []
    assert room.json("/api/v1/flights?state=DELETED") == []


def test_versions_of_a_flight(room: Room) -> None:
    """Each with the message behind it and what it changed."""
    rows = room.json("/api/v1/flights/700101/history")
    assert [row["STATE_VERSION"] for row in rows[:3]] == [1, 2, 3]
    assert rows[1]["STYP"] == "GTDT"
    assert [change["TAG"] for change in rows[1]["VALUES"]] == ["GTDT"]


def test_why(room: Room) -> None:
    """`msgx explain` over HTTP."""
    found = room.json("/api/v1/messages/2/explain")
    assert found["STATE"] == "SUCCEEDED"
    assert all(rule["SOURCE"] for rule in found["RULES"])
    assert found["FLIGHTS"][0]["FLID"] == 700101


def test_dead_letters_are_tried_and_replayed(room: Room) -> None:
    """A dry run changes nothing; a replay needs a reason and is in the audit."""
    (tried,) = room.post("replay", ids=[5], dry_run=True, force=True).json()
    assert (tried["MSG_ID"], tried["STATE"], tried["REASON"]) == (5, "DEAD", "not-well-formed")
    assert room.post("replay", ids=[5]).status_code == 422
    refused = room.post("replay", ids=[5], reason="without force")
    assert refused.status_code == 409
    assert refused.json()["RESULTS"][0]["MSG_ID"] == 5
    done = room.post("replay", ids=[5, 1], reason="looked at", force=True)
    assert [(row["MSG_ID"], row["DONE"]) for row in done.json()] == [(5, True), (1, False)]
    room.settle([5])
    audit = room.json("/api/v1/messages/5")["AUDIT"]
    assert [(row["ACTION"], row["ACTOR"], row["REASON"]) for row in audit] == [
        ("replay", "local", "looked at")
    ]


def test_a_duplicate_is_let_in(room: Room) -> None:
    """D-24, with a reason."""
    assert room.post("messages/4/readmit", reason="both are real").json() == [{"MSG_ID": 4, "DONE": True}]
    room.settle([4])
    assert room.json("/api/v1/messages/4")["STATE"] == "SUCCEEDED"
    assert room.post("messages/4/readmit", reason="again").status_code == 409


def test_alerts_are_acknowledged(room: Room) -> None:
    """Once, by a person, with a reason."""
    room.store.raise_alert(Alert(AlertCode.EROR, detail="here"), room.daemon.container.clock.now())
    last = room.json("/api/v1/alerts?limit=1000")[-1]["ALERT_ID"]
    assert room.post("alerts/ack", ids=[last], reason="called them").json() == [
        {"ALERT_ID": last, "DONE": True}
    ]
    assert room.post("alerts/ack", ids=[last], reason="called them").status_code == 409


def test_requests_are_asked(room: Room) -> None:
    """D-32: by day or by category."""
    made = room.post("requests", schedule="2027-03-14..2027-03-15", reason="late push")
    assert made.status_code == 201
    assert made.json()["ASKS_FOR"] == "2027-03-14..2027-03-15"
    assert room.post("requests", ref="NOPE", reason="x").status_code == 422
    assert room.post("requests", reason="neither").status_code == 422
    assert room.post("requests", schedule="yesterday", reason="x").status_code == 422
    many = {"schedule": "2026-01-01..2030-01-01", "reason": "x"}
    refused = room.post("requests", **many)
    assert (refused.status_code, '"yes": true' in refused.json()["detail"]) == (422, True)
    assert room.post("requests", **many, yes=True).status_code == 201


def test_jobs_are_left_to_the_active_instance(room: Room) -> None:
    """D-34: the holder does them."""
    job = room.post("jobs", kind="cache-rebuild", reason="a look")
    assert job.status_code == 202
    number = job.json()["JOB_ID"]
    wait_for("the job", lambda: room.json(f"/api/v1/jobs/{number}")["STATE"] == "DONE")
    assert room.json("/api/v1/jobs")[0]["JOB_ID"] == number
    assert room.get("/api/v1/jobs/99999").status_code == 404


def test_reference_data_and_resources(room: Room) -> None:
    """Each record whole; statuses at a time."""
    room.finish(reference("AIRL", "ADD", ["<ITOP>MU</ITOP>"]))
    assert room.json("/api/v1/reference/ARPT") == []
    assert room.json("/api/v1/resources?at=2027-03-14T06:00") == []
    assert room.get("/api/v1/reference/NOPE").status_code == 422
    assert room.get("/api/v1/reference/ARPT/HKG").status_code == 404
    assert room.get("/api/v1/resources?at=soon").status_code == 422


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("nothing", 404),
        ("api/v1/messages/999999", 404),
        ("api/v1/messages/x", 404),
        ("api/v1/messages?limit=0", 422),
        ("api/v1/messages?limit=5000", 422),
        ("api/v1/messages?state=ASLEEP", 422),
        ("api/v1/messages?since=whenever", 422),
        ("api/v1/flights?day=2027-02-30", 422),
        ("api/v1/flights/0", 422),
        ("api/v1/outbox?after=x", 422),
        ("cminmsgs/send", 405),
    ],
)
def test_every_error_is_a_problem(room: Room, path: str, status: int) -> None:
    """RFC 9457: one shape, and it says what is wrong."""
    answer = room.get(f"/{path}")
    assert answer.status_code == status
    assert answer.headers["content-type"] == PROBLEM
    problem = answer.json()
    assert problem["status"] == status
    assert problem["detail"]
    assert problem["instance"] == f"/{path.partition('?')[0]}"


def test_a_body_that_is_wrong_is_a_problem(room: Room) -> None:
    """Unknown members, missing reasons, no JSON at all."""
    for body in ({}, {"ids": [1]}, {"ids": [1], "reason": " "}, {"ids": [1], "reason": "x", "more": 1}):
        answer = room.post("alerts/ack", **body)
        assert answer.status_code == 422, answer.text
        assert answer.headers["content-type"] == PROBLEM
    answer = room.client.post(
        "/api/v1/alerts/ack", content=b"{", headers={"content-type": "application/json"}
    )
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == PROBLEM


def test_every_answer_has_the_headers_of_a_careful_server(room: Room) -> None:
    """Nothing is sniffed, framed, or run from elsewhere; good answers and problems alike."""
    for path in ("/health/live", "/api/v1/status", "/nothing", "/metrics"):
        headers = room.get(path).headers
        assert "script-src 'self'" in headers["content-security-policy"]
        assert "unsafe-inline" not in headers["content-security-policy"]
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers


def test_the_status_is_the_command_lines_and_this_instance(room: Room) -> None:
    """`msgx status --json` and `INSTANCE`."""
    found = room.json("/api/v1/status")
    assert found["LEASE"]["HOLDER"] == found["INSTANCE"]["HOLDER"] == room.daemon.holder
    assert found["INSTANCE"]["PHASE"] == "ACTIVE"
    assert {row["SERVICE"] for row in found["SERVICES"]} >= {"store", "mailbox", "cache", "bus"}
    assert {loop["LOOP"] for loop in found["INSTANCE"]["LOOPS"]} >= {"pump", "poller"}
