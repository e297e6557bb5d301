"""Who may do what over HTTP: tokens, roles, this machine, other sites' pages, the audit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from http_room import EVERYWHERE, Room, http_room, settings_of
from msgx_app.answers.parts import WithStore
from msgx_app.answers.tokens import digest_of, end_token, make_token
from msgx_app.container import policy_of
from msgx_cli import ready
from msgx_core.ports import ApiRole
from msgx_core.ports.operations import Audit
from processes import wait_for
from wire import flop, gate

WHO = Audit("test", "for a test")
READS = ("/api/v1/messages", "/api/v1/flights", "/api/v1/status", "/metrics", "/api/v1/openapi.json")
ALL_READS = (*READS, "/api/v1/audit", "/api/v1/outbox", "/api/v1/alerts", "/api/v1/jobs", "/api/v1/failures")
ACTIONS = (
    ("replay", {"ids": [1], "reason": "x", "force": True}),
    ("messages/1/readmit", {"reason": "x"}),
    ("writeback/resume", {"all": True, "reason": "x"}),
    ("outbox/requeue", {"ids": [1], "reason": "x"}),
    ("outbox/discard", {"ids": [1], "reason": "x"}),
    ("alerts/ack", {"ids": [1], "reason": "x"}),
    ("requests", {"ref": "GLST", "reason": "x"}),
    ("jobs", {"kind": "cache-rebuild", "reason": "x"}),
)
REFUSED = (401, 403)


def desk(room: Room) -> WithStore:
    container = room.daemon.container
    return WithStore(container.settings, policy_of(container.settings), container.clock, container.store)


def as_(room: Room, token: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=str(room.client.base_url), headers=headers, trust_env=False, timeout=20.0)


@pytest.fixture(scope="module")
def open_room() -> Iterator[tuple[Room, dict[ApiRole, str]]]:
    """Bound to every address, with one token of each role."""
    with http_room(settings_of(), bind=EVERYWHERE) as room:
        tokens = {role: make_token(desk(room), role.value, role, WHO) for role in ApiRole}
        with as_(room, tokens[ApiRole.READER]) as client:
            wait_for("the tokens", lambda: client.get("/api/v1/status").status_code == 200)
        yield room, tokens


def test_without_tokens_nothing_but_health_is_answered_elsewhere() -> None:
    """On an address that is not loopback; the problem tells the remedy."""
    with http_room(settings_of(), bind=EVERYWHERE) as room:
        for path in ("/health/live", "/health/ready"):
            assert room.get(path).status_code == 200
        for path in (*ALL_READS, "/", "/nothing", "/cminmsgs/send"):
            answer = room.get(path)
            assert answer.status_code == 403, path
            assert "msgx token create" in answer.json()["detail"]
        assert room.send(flop(1, "GTDT", gate("A1"))).status_code == 403
        for path, body in ACTIONS:
            assert room.post(path, **body).status_code == 403


def test_with_tokens_everybody_needs_one_here_too() -> None:
    """A proxy on this machine makes everybody look like this machine."""
    with http_room(settings_of()) as room:
        assert room.get("/api/v1/status").status_code == 200
        token = make_token(desk(room), "board", ApiRole.READER, WHO)
        wait_for("the end of the open door", lambda: room.get("/api/v1/status").status_code == 401)
        answer = room.get("/api/v1/status")
        assert answer.headers["www-authenticate"].startswith("Bearer")
        with as_(room, token) as client:
            assert client.get("/api/v1/status").status_code == 200


def test_tokens_of_the_configuration() -> None:
    """By their digest, without the store."""
    given = f"board:reader:{digest_of('secret')}"
    with http_room(settings_of(http_tokens=given), bind=EVERYWHERE) as room:
        with as_(room, "secret") as client:
            assert client.get("/api/v1/flights").status_code == 200
        with as_(room, "guess") as client:
            assert client.get("/api/v1/flights").status_code == 401


@pytest.mark.parametrize("role", ApiRole)
def test_each_role_does_its_part_and_no_more(
    open_room: tuple[Room, dict[ApiRole, str]], role: ApiRole
) -> None:
    """A reader reads, a sender sends, an operator acts and reads."""
    room, tokens = open_room
    with as_(room, tokens[role]) as client:
        for path in ALL_READS:
            code = client.get(path).status_code
            assert (code == 403) if role is ApiRole.SENDER else (code == 200), (path, code)
        for path, body in ACTIONS:
            code = client.post(f"/api/v1/{path}", json=body).status_code
            assert (code not in REFUSED) if role is ApiRole.OPERATOR else (code == 403), (path, code)
        code = client.post("/cminmsgs/send", content=flop(1, "GTDT", gate("A1"))).status_code
        assert code == (202 if role is ApiRole.SENDER else 403)


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Basic b3A6b3A=", "Bearer msgx_guess", "bearer  x y", "\xff\xfe"]
)
def test_what_is_no_token_of_ours(open_room: tuple[Room, dict[ApiRole, str]], header: str) -> None:
    """401, and nothing about what a right one would be like."""
    room, _ = open_room
    answer = room.get("/api/v1/status", headers={"Authorization": header.encode("latin-1")})
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_revoked_token_is_good_for_nothing(open_room: tuple[Room, dict[ApiRole, str]]) -> None:
    """Within two seconds, without a restart."""
    room, _ = open_room
    token = make_token(desk(room), "short", ApiRole.READER, WHO)
    with as_(room, token) as client:
        wait_for("the token", lambda: client.get("/api/v1/flights").status_code == 200)
        end_token(desk(room), "short", WHO)
        began_s = time.monotonic()
        wait_for("its end", lambda: client.get("/api/v1/flights").status_code == 401)
        assert time.monotonic() - began_s < 5.0


def test_the_audit_names_the_token(open_room: tuple[Room, dict[ApiRole, str]]) -> None:
    """Every operator action is a row with who and why."""
    room, tokens = open_room
    with as_(room, tokens[ApiRole.OPERATOR]) as client:
        client.post("/api/v1/requests", json={"ref": "GLST", "reason": "a gate is missing"})
        (row,) = client.get("/api/v1/audit?limit=1").json()
    assert (row["ACTOR"], row["REASON"]) == ("operator", "a gate is missing")


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({}, 202),
        ({"Origin": "http://127.0.0.1:{port}"}, 202),
        ({"Sec-Fetch-Site": "same-origin"}, 202),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost.evil.example:{port}"}, 403),
        ({"Host": "localhost:{port}"}, 202),
    ],
)
def test_another_sites_page_cannot_act_here(headers: dict[str, str], code: int) -> None:
    """Without tokens a browser on this machine could be sent here by any page, or by a name that lies."""
    with http_room(settings_of(), active=False) as room:
        given = {name: text.format(port=room.address[1]) for name, text in headers.items()}
        answer = room.send(flop(1, "GTDT", gate("A1")), headers=given)
        assert answer.status_code == code, answer.text


def test_reads_have_to_name_this_machine_too() -> None:
    """A name that is made to point here (DNS rebinding) would let a page read."""
    with http_room(settings_of(), active=False) as room:
        assert room.get("/api/v1/flights", headers={"Host": "evil.example"}).status_code == 403
        assert room.get("/health/live", headers={"Host": "evil.example"}).status_code == 200


def test_tokens_on_the_command_line(tmp_path: Path) -> None:
    """Made once, listed without their digest, revoked with a reason."""
    msgx = ready(tmp_path)
    made = msgx.ok("token", "create", "board", "--role", "reader", "--reason", "hall", "--json").json
    assert made["TOKEN"].startswith("msgx_")
    assert msgx("token", "create", "board", "--role", "sender", "--reason", "again").code == 1
    assert msgx("token", "create", "a b", "--role", "sender", "--reason", "again").code == 2
    assert msgx("token", "create", "other", "--role", "king", "--reason", "x").code == 2
    listed = msgx.ok("token", "list", "--json")
    (row,) = listed.json
    assert (row["NAME"], row["ROLE"], row["KEPT_IN"]) == ("board", "reader", "store")
    assert digest_of(made["TOKEN"]) not in listed.out
    assert made["TOKEN"] not in (tmp_path / "data" / "store.db").read_bytes().decode("latin-1")
    last = msgx.ok("token", "revoke", "board", "--reason", "lost")
    assert last.out == "board is revoked\n"
    assert "everybody on this machine may do everything" in last.err
    assert msgx("token", "revoke", "board", "--reason", "lost").code == 1
    assert msgx.ok("token", "list", "--json").json[0]["REVOKED_AT"]
    for name in ("one", "two"):
        msgx.ok("token", "create", name, "--role", "reader", "--reason", "hall")
    assert "everybody" not in msgx.ok("token", "revoke", "one", "--reason", "lost").err
    warned = msgx.ok("token", "revoke", "two", "--reason", "lost", "--json")
    assert warned.json == {"NAME": "two", "DONE": True}
    assert "everybody on this machine" in warned.err
