"""Who gets into the console and what they may: sessions, roles, marks of forms, other sites, headers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from console_room import ALL_PAGES, Visitor, visitor
from http_room import EVERYWHERE, Room, http_room, settings_of
from msgx_app.answers.parts import WithStore
from msgx_app.answers.tokens import digest_of, end_token, make_token
from msgx_app.container import policy_of
from msgx_core.ports import ApiRole
from msgx_core.ports.operations import Audit
from processes import wait_for

WHO = Audit("test", "console test")
TOKENS = {"rita": ("reader", "secret-r"), "otto": ("operator", "secret-o"), "sam": ("sender", "secret-s")}
GIVEN = ",".join(f"{name}:{role}:{digest_of(token)}" for name, (role, token) in TOKENS.items())


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    """Nobody has a token: anybody on this machine may do everything."""
    with http_room(settings_of()) as made:
        yield made


@pytest.fixture(scope="module")
def guarded() -> Iterator[Room]:
    """One token of each role."""
    with http_room(settings_of(http_tokens=GIVEN)) as made:
        yield made


def signed_in(room: Room, name: str) -> Visitor:
    found = visitor(room)
    mark = found.mark("/console/sign-in")
    answer = found.post("/console/sign-in", {"token": TOKENS[name][1]}, mark=mark)
    assert answer.status_code == 303, answer.text
    return found


def test_the_root_leads_a_browser_to_the_console(room: Room) -> None:
    answer = visitor(room).get("/")
    assert (answer.status_code, answer.headers["location"]) == (303, "/console")


def test_it_can_be_turned_off() -> None:
    """`msgx.http.console = false`: there is nothing at its addresses, and the API is as it was."""
    with http_room(settings_of(http_console="false")) as room:
        assert visitor(room).get("/console").status_code == 404
        assert visitor(room).get("/").status_code == 404
        assert room.get("/api/v1/status").status_code == 200


def test_beyond_this_machine_nothing_is_shown_without_tokens() -> None:
    """Not even the sign-in page: there is nothing to sign in with; the page says what makes one."""
    with http_room(settings_of(), bind=EVERYWHERE) as room:
        for path in ("/console", "/console/sign-in", "/console/messages", "/console/stream", "/"):
            answer = visitor(room).get(path)
            assert answer.status_code == 403, path
            assert "msgx token create" in answer.text


def test_whoever_has_no_session_is_sent_to_sign_in_and_on_from_there(guarded: Room) -> None:
    """Pages lead to the sign-in page, and it leads back; what is no page says 401."""
    stranger = visitor(guarded)
    for path in ALL_PAGES:
        answer = stranger.get(path)
        assert answer.status_code == 303, path
        assert answer.headers["location"].startswith("/console/sign-in")
    assert stranger.get("/console/stream").status_code == 401
    assert guarded.get("/console/alerts").status_code == 401
    answer = stranger.get("/console/messages?state=DEAD")
    page = stranger.page(answer.headers["location"])
    assert 'name="next" value="/console/messages?state=DEAD"' in page
    fields = {"token": TOKENS["rita"][1], "next": "/console/messages?state=DEAD"}
    done = stranger.post("/console/sign-in", fields, mark=stranger.mark("/console/sign-in"))
    assert done.headers["location"] == "/console/messages?state=DEAD"
    assert "rita" in stranger.text("/console/messages?state=DEAD")


def test_the_session_is_another_cookie_and_one_that_scripts_and_other_sites_do_not_get(guarded: Room) -> None:
    """No fixation: the cookie from before signing in is worth nothing afterwards."""
    stranger = visitor(guarded)
    mark = stranger.mark("/console/sign-in")
    before = stranger.cookies["msgx_console"]
    token = {"token": TOKENS["rita"][1]}
    plain = stranger.post("/console/sign-in", token, mark=mark).headers["set-cookie"]
    assert {"HttpOnly", "Path=/console", "SameSite=strict"} <= set(plain.split("; "))
    assert "Secure" not in plain
    assert stranger.cookies["msgx_console"] != before
    old = visitor(guarded)
    old.cookies.set("msgx_console", before)
    assert old.get("/console").status_code == 303
    https = visitor(guarded)
    mark = https.mark("/console/sign-in")
    answer = https.post("/console/sign-in", token, mark=mark, **{"X-Forwarded-Proto": "https"})
    assert "Secure" in answer.headers["set-cookie"].split("; ")


@pytest.mark.parametrize("token", ["guess", "x" * 5000, "\u00e4 \u5c71"])
def test_a_wrong_token_is_told_and_not_let_in(guarded: Room, token: str) -> None:
    stranger = visitor(guarded)
    answer = stranger.post("/console/sign-in", {"token": token}, mark=stranger.mark("/console/sign-in"))
    assert answer.status_code == 403
    assert "This token is not known" in answer.text
    assert stranger.get("/console").status_code == 303


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "https://evil.example/console", "/console\\@evil", "/api/v1/status", "/consolex"],
)
def test_signing_in_leads_nowhere_else(guarded: Room, target: str) -> None:
    """No open redirect."""
    stranger = visitor(guarded)
    fields = {"token": TOKENS["rita"][1], "next": target}
    answer = stranger.post("/console/sign-in", fields, mark=stranger.mark("/console/sign-in"))
    assert answer.headers["location"] == "/console"


def test_signing_out_ends_it(guarded: Room) -> None:
    found = signed_in(guarded, "rita")
    cookie = found.cookies["msgx_console"]
    assert found.post("/console/sign-out", {}).headers["location"] == "/console/sign-in"
    again = visitor(guarded)
    again.cookies.set("msgx_console", cookie)
    assert again.get("/console").status_code == 303


def test_a_session_ends_with_its_token() -> None:
    """A revoked token is good for nothing, in a session either."""
    with http_room(settings_of()) as room:
        container = room.daemon.container
        at = WithStore(container.settings, policy_of(container.settings), container.clock, container.store)
        token = make_token(at, "night", ApiRole.OPERATOR, WHO)
        make_token(at, "other", ApiRole.READER, WHO)
        someone = visitor(room)
        wait_for("the closed door", lambda: someone.get("/console").status_code == 303)
        someone.post("/console/sign-in", {"token": token}, mark=someone.mark("/console/sign-in"))
        assert someone.get("/console").status_code == 200
        end_token(at, "night", WHO)
        wait_for("the end of the session", lambda: someone.get("/console").status_code == 303)


def test_each_role_sees_and_does_its_part(guarded: Room) -> None:
    """A reader finds no forms, a sender sees nothing, an operator acts, and the audit has the name."""
    reader, sender, operator = (signed_in(guarded, name) for name in ("rita", "sam", "otto"))
    for path in ALL_PAGES:
        assert 'name="reason" required' not in reader.page(path), path
        assert sender.get(path).status_code == 403, path
        assert operator.get(path).status_code == 200, path
    job = {"kind": "cache-rebuild", "reason": "console test"}
    for path, fields in (
        ("/console/jobs", job),
        ("/console/alerts/ack", {"id": "1", "reason": "x"}),
        ("/console/writeback/resume", {"all": "1", "reason": "x"}),
        ("/console/outbox/requeue", {"id": "1-msg", "reason": "x"}),
        ("/console/outbox/discard", {"id": "1-msg", "reason": "x"}),
        ("/console/messages/replay", {"id": "1", "step": "do", "reason": "x"}),
        ("/console/messages/1/readmit", {"reason": "x"}),
        ("/console/requests/schedule", {"first": "2027-03-14", "reason": "x"}),
        ("/console/requests/reference", {"ref": "GLST", "reason": "x"}),
    ):
        for who in (reader, sender):
            assert who.post(path, fields, mark=_any_mark(who)).status_code == 403, path
    assert "operator" in reader.post("/console/jobs", job, mark=_any_mark(reader)).text
    assert operator.post("/console/jobs", job).status_code == 303
    assert guarded.store.requests() == []
    rows = guarded.store.audit()
    assert (rows[0]["ACTOR"], rows[0]["REASON"]) == ("otto", "console test")


def test_who_may_not_read_is_shown_no_counts_and_no_navigation(guarded: Room) -> None:
    """A sender who signed in finds the refusal and the way out, and no stream to refresh them."""
    refused = signed_in(guarded, "sam").get("/console")
    assert refused.status_code == 403
    for shown in ("data-badge", "<nav", "data-stream", 'aria-controls="menu"'):
        assert shown not in refused.text
        assert shown in signed_in(guarded, "rita").page("/console")
    assert 'action="/console/sign-out"' in refused.text


def _any_mark(who: Visitor) -> str:
    return who.mark("/console/nothing")


@pytest.mark.parametrize(
    ("mark", "headers", "status"),
    [
        ("", {}, 403),
        ("0" * 64, {}, 403),
        (None, {"Origin": "http://evil.example"}, 403),
        (None, {"Origin": "null"}, 403),
        (None, {"Sec-Fetch-Site": "cross-site"}, 403),
        (None, {}, 303),
    ],
)
def test_a_form_has_to_come_from_our_own_page(
    room: Room, mark: str | None, headers: dict[str, str], status: int
) -> None:
    """CSRF: the mark of this browser, and an origin that is ours."""
    fields = {"kind": "cache-rebuild", "reason": "csrf test"}
    who = visitor(room)
    found = who.mark()
    answer = who.post("/console/jobs", fields, mark=found if mark is None else mark, **headers)
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize("where", ["/console/requests/schedule", "/console/requests/reference"])
@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_nobody_else_asks_the_aodb(room: Room, where: str, headers: dict[str, str]) -> None:
    """CSRF: what costs flights is not asked for by another site's page, nor without the mark."""
    who = visitor(room)
    fields = {"first": "2027-03-14", "ref": "GLST", "reason": "csrf test"}
    mark = who.mark() if headers else "0" * 64
    assert who.post(where, fields, mark=mark, **headers).status_code == 403
    assert room.store.requests() == []


def test_the_mark_of_another_browser_is_worth_nothing(room: Room) -> None:
    mine, theirs = visitor(room), visitor(room)
    mine.mark()
    fields = {"kind": "cache-rebuild", "reason": "csrf test"}
    assert mine.post("/console/jobs", fields, mark=theirs.mark()).status_code == 403
    assert visitor(room).post("/console/jobs", fields, mark=theirs.mark()).status_code == 403


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"mark=" + b"x" * 70_000, "application/x-www-form-urlencoded", 413),
        (b'{"reason": "x"}', "application/json", 415),
        (b"\xff\xfe=1", "application/x-www-form-urlencoded", 400),
        (b"a=1&" * 5000, "application/x-www-form-urlencoded", 400),
    ],
)
def test_a_form_is_read_within_bounds(room: Room, content: bytes, kind: str, status: int) -> None:
    answer = room.client.post("/console/jobs", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status


@pytest.mark.parametrize("path", [*ALL_PAGES, "/console/nothing", "/console/messages/999"])
def test_no_page_has_anything_inline_and_all_forbid_it(room: Room, path: str) -> None:
    """A strict content-security policy, and pages that keep to it."""
    answer = visitor(room).get(path)
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert (policy["default-src"], policy["script-src"], policy["style-src"]) == (
        "'none'",
        "'self'",
        "'self'",
    )
    assert policy["frame-ancestors"] == "'none'"
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:", answer.text) == []


def test_static_files_are_kept_by_their_content(room: Room) -> None:
    page = visitor(room).page("/console")
    for address in re.findall(r'(?:href|src)="(/console/static/[^"]+)"', page):
        answer = room.get(address)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]
        old = room.get(re.sub(r"/static/[0-9a-f]+/", "/static/000000000000/", address))
        assert old.content == answer.content
        assert old.headers["cache-control"] == "no-store"
    assert room.get("/console/static/x/passwd").status_code == 404
    assert room.get("/console/static/x/..%2F..%2Fdesk.py").status_code == 404


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
        ("en,zh;q=0.5", "en"),
        ("fr", "en"),
        ("zh;q=x,en", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_the_browsers(room: Room, accepted: str, language: str) -> None:
    page = visitor(room).get("/console", **{"Accept-Language": accepted}).text
    assert f'<html lang="{language}"' in page


def test_language_and_colours_can_be_chosen_and_stay(room: Room) -> None:
    who = visitor(room)
    answer = who.post("/console/choose", {"language": "zh", "here": "/console/alerts"})
    assert answer.headers["location"] == "/console/alerts"
    who.post("/console/choose", {"theme": "dark"})
    page = who.page("/console/alerts")
    assert '<html lang="zh-Hans" data-theme="dark">' in page
    assert "没有未确认的告警" in page
    assert who.post("/console/choose", {"language": "xx"}).status_code == 422
