"""How much, how slow, how often, how many: each bound of the HTTP interface, and that it lets go again."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from http_room import Room, http_room, settings_of
from msgx_app.http import office
from processes import wait_for
from wire import flop, gate

LIMIT = 10 * 1024 * 1024


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    with http_room(settings_of(http_body_timeout="1s"), active=False) as made:
        yield made


def raw(room: Room, head: str, *, timeout_s: float = 20.0) -> socket.socket:
    """A connection of our own that has sent a head."""
    connection = socket.create_connection(room.address, timeout=timeout_s)
    connection.sendall(head.replace("\n", "\r\n").encode())
    return connection


def answer_of(connection: socket.socket) -> tuple[int, bytes]:
    """Status and body of what comes."""
    data = b""
    try:
        while chunk := connection.recv(65536):
            data += chunk
            head, blank, body = data.partition(b"\r\n\r\n")
            if blank:
                length = [line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
                if length and len(body) >= int(length[0].split(b":")[1]):
                    break
    except (ConnectionResetError, TimeoutError):
        pass
    return (int(data.split()[1]) if data else 0), data.partition(b"\r\n\r\n")[2]


def test_ten_mebibytes_are_taken_and_no_more(room: Room) -> None:
    """10 MiB: the wire's own limit."""
    start, end = b"<MSG>", b"</MSG>"
    fits = start + b" " * (LIMIT - len(start) - len(end)) + end
    assert room.send(fits).status_code == 202
    answer = room.send(fits + b" ")
    assert answer.status_code == 413
    assert str(LIMIT) in answer.json()["detail"]


def test_a_large_body_is_refused_before_it_is_sent(room: Room) -> None:
    """By its declared length: nothing of it has to come."""
    with raw(room, f"POST /cminmsgs/send HTTP/1.1\nHost: localhost\nContent-Length: {20 * 2**20}\n\n") as on:
        assert answer_of(on)[0] == 413


def test_a_large_body_without_a_length_is_refused_while_it_comes(room: Room) -> None:
    """Chunked: the answer comes when the bound is passed, not at the end."""
    chunk = b"%x\r\n" % 2**20 + b"x" * 2**20 + b"\r\n"
    with raw(room, "POST /cminmsgs/send HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n") as on:
        for _ in range(11):
            on.sendall(chunk)
        assert answer_of(on)[0] == 413


def test_a_sender_of_too_much_sees_the_answer(room: Room) -> None:
    """What it still sends is read and thrown away, so that the connection is not broken under it."""
    assert room.send(b"x" * (20 * 2**20)).status_code == 413
    assert room.get("/health/live").status_code == 200


def test_a_slow_body_is_given_up(room: Room) -> None:
    """`msgx.http.body-timeout` for all of it: bytes now and then do not help."""
    began_s = time.monotonic()
    with raw(room, "POST /cminmsgs/send HTTP/1.1\nHost: localhost\nContent-Length: 1000\n\n") as on:
        for _ in range(4):
            on.sendall(b"x")
            time.sleep(0.1)
        status, body = answer_of(on)
    assert status == 408
    assert json.loads(body)["status"] == 408
    assert 0.9 < time.monotonic() - began_s < 5.0


def test_lengths_that_are_none(room: Room) -> None:
    """Negative, twice, not a number: refused, nothing breaks."""
    for length in ("-1", "1e3", "99999999999999999999999", "5\nContent-Length: 6"):
        with raw(room, f"POST /cminmsgs/send HTTP/1.1\nHost: localhost\nContent-Length: {length}\n\n") as on:
            assert answer_of(on)[0] in (0, 400, 413)
    assert room.get("/health/live").status_code == 200


def test_heads_without_end_and_other_protocols(room: Room) -> None:
    """Closed, not collected."""
    line = b"X-More: " + b"y" * 1000 + b"\r\n"
    with (
        raw(room, "GET /health/live HTTP/1.1\nHost: localhost\n") as on,
        pytest.raises((BrokenPipeError, ConnectionResetError)),
    ):
        on.sendall(line * 100_000)
    for text in (
        "\x16\x03\x01\x02\x00\n\n",
        "GET \xe9 HTTP/1.1\nHost: x\n\n",
        "GET /%FF%FE HTTP/1.1\nHost: x\n\n",
    ):
        with raw(room, text) as on:
            assert answer_of(on)[0] in (0, 400, 403, 404)
    assert room.get("/health/live").status_code == 200


def test_one_client_may_not_ask_too_often() -> None:
    """429 with `Retry-After`; health is answered all the same, and after a while all is."""
    with http_room(settings_of(http_rate="5"), active=False) as room:
        answers = [room.get("/api/v1/flights") for _ in range(60)]
        refused = [answer for answer in answers if answer.status_code == 429]
        assert answers[0].status_code == 200
        assert 1 <= len(refused) <= 40
        assert int(refused[0].headers["retry-after"]) >= 1
        assert refused[0].headers["content-type"] == "application/problem+json"
        assert room.get("/health/live").status_code == 200
        wait_for("better times", lambda: room.get("/api/v1/flights").status_code == 200)


def test_only_so_many_requests_of_a_client_are_under_way(room: Room) -> None:
    """Slow bodies hold no more than their share of places."""
    head = "POST /cminmsgs/send HTTP/1.1\nHost: localhost\nContent-Length: 1000\n\n"
    slow = [raw(room, head) for _ in range(30)]
    try:
        statuses = sorted(answer_of(on)[0] for on in slow)
        assert statuses.count(429) >= 10
        assert statuses.count(408) == 30 - statuses.count(429)
    finally:
        for on in slow:
            on.close()
    wait_for("free places", lambda: room.send(flop(1, "GTDT", gate("A1"))).status_code == 202)


def slowly(*given: object) -> list[object]:
    """A query that takes its time."""
    time.sleep(1.0)
    return []


def test_what_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """503 with the reason; the threads are bounded, so the others wait or are refused."""
    monkeypatch.setattr(office, "WORK_TIMEOUT_S", 0.3)
    monkeypatch.setattr(office, "MAX_WAITING", 2)
    with http_room(settings_of(), active=False) as room:
        store = room.store
        monkeypatch.setattr(store, "flights", slowly, raising=False)
        with ThreadPoolExecutor(12) as threads:
            answers = list(threads.map(lambda _: room.get("/api/v1/flights"), range(12)))
        assert {answer.status_code for answer in answers} == {503}
        said = {answer.json()["detail"] for answer in answers}
        assert any("no answer within" in text for text in said)
        assert any("too much is being worked on" in text for text in said)
        monkeypatch.undo()
        wait_for("free threads", lambda: room.get("/api/v1/flights").status_code == 200)
