"""What refreshes the pages: one look at the store for everybody, streams that are bounded and that end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import httpx
import pytest

from console_room import visitor
from http_room import Room, http_room, settings_of
from msgx_app.answers.parts import WithStore
from msgx_app.answers.tokens import end_token, make_token
from msgx_app.container import policy_of
from msgx_app.http.access import REFRESH_S
from msgx_app.http.console import pulse
from msgx_app.http.limits import MAX_ACTIVE_PER_CLIENT
from msgx_core.ports import ApiRole
from msgx_core.ports.operations import Audit
from processes import wait_for

WHO = Audit("test", "console test")


@pytest.fixture
def room() -> Iterator[Room]:
    with http_room(settings_of()) as made:
        yield made


def opened(room: Room, stack: ExitStack, **who: Any) -> Iterator[str]:
    """The lines of a stream that is open until the end of `stack`."""
    client = stack.enter_context(httpx.Client(trust_env=False, timeout=20.0, **who))
    url = f"{room.client.base_url}/console/stream"
    answer = stack.enter_context(client.stream("GET", url))
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.headers["cache-control"] == "no-store"
    return answer.iter_lines()


def next_pulse(lines: Iterator[str]) -> dict[str, Any]:
    """The data of the next event."""
    for line in lines:
        if line.startswith("data: "):
            found: dict[str, Any] = json.loads(line.removeprefix("data: "))
            return found
    raise AssertionError("the stream ended")


def test_what_has_changed_is_told(room: Room) -> None:
    """Badges and marks; only numbers and codes, no words, and nothing of what messages say."""
    with ExitStack() as stack:
        lines = opened(room, stack)
        assert next(lines) == f"retry: {pulse.RETRY_MS}"
        first = next_pulse(lines)
        assert set(pulse.TOPICS) <= set(first["marks"])
        assert first["badges"]["dead"] == 0
        room.finish(b"<MSG><secret-word></MSG>")
        told = first
        while told["badges"]["dead"] == 0:
            told = next_pulse(lines)
        assert told["badges"]["dead"] == 1
        assert told["marks"]["flow"] != first["marks"]["flow"]
        assert "secret-word" not in json.dumps(told)


def test_many_who_look_on_cost_one_look(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store is asked as often for eight streams as for one."""
    store = room.front._office.store()
    asked: list[float] = []
    counts = store.counts

    def counted() -> Any:
        asked.append(time.monotonic())
        return counts()

    with ExitStack() as stack:
        monkeypatch.setattr(store, "counts", counted)
        held = [opened(room, stack) for _ in range(8)]
        assert all(next_pulse(lines)["store"] for lines in held)
        asked.clear()
        seconds = 3 * pulse.LIVE_S
        time.sleep(seconds)
        assert 1 <= len(asked) <= seconds / pulse.LIVE_S + 1


def test_streams_are_bounded_and_are_no_requests_under_way(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of one client than it may have requests: pages are answered beside them; one too many is told."""
    most = MAX_ACTIVE_PER_CLIENT + 2
    monkeypatch.setattr(pulse, "MAX_STREAMS", most)
    with ExitStack() as stack:
        held = [opened(room, stack) for _ in range(most)]
        assert all(next_pulse(lines)["store"] for lines in held)
        refused = room.get("/console/stream")
        assert refused.status_code == 503
        assert int(refused.headers["retry-after"]) > 0
        assert visitor(room).get("/console").status_code == 200
    # Those who went away make room.
    for _ in range(100):
        with ExitStack() as stack:
            try:
                next_pulse(opened(room, stack))
                return
            except AssertionError:
                time.sleep(0.1)
    raise AssertionError("no room after the others had gone")


def test_a_stream_comes_to_an_end(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the browser has to show again who it is."""
    monkeypatch.setattr(pulse, "STREAM_LASTS_S", 0.5)
    monkeypatch.setattr(pulse, "HEARTBEAT_S", 0.2)
    with ExitStack() as stack:
        assert any(line == ": still here" for line in opened(room, stack))


def test_a_stream_ends_with_the_token_that_opened_it() -> None:
    """Revoked, it tells nothing more: not to a session, and not to who shows the token itself."""
    with http_room(settings_of()) as room, ExitStack() as stack:
        container = room.daemon.container
        at = WithStore(container.settings, policy_of(container.settings), container.clock, container.store)
        token = make_token(at, "night", ApiRole.READER, WHO)
        make_token(at, "other", ApiRole.READER, WHO)
        someone = visitor(room)
        wait_for("the closed door", lambda: someone.get("/console").status_code == 303)
        someone.post("/console/sign-in", {"token": token}, mark=someone.mark("/console/sign-in"))
        session = opened(room, stack, cookies=someone.cookies)
        bearer = opened(room, stack, headers={"Authorization": f"Bearer {token}"})
        assert next_pulse(session)["store"]
        assert next_pulse(bearer)["store"]
        started_s = time.monotonic()
        end_token(at, "night", WHO)
        # Both come to their end long before the time that a stream may last.
        assert [line for line in (*session, *bearer) if "still here" in line] == []
        assert time.monotonic() - started_s < REFRESH_S + pulse.CHECK_S + 3.0


def test_a_stream_of_anybody_ends_when_there_is_a_token() -> None:
    """Who came in without one has to sign in now."""
    with http_room(settings_of()) as room, ExitStack() as stack:
        lines = opened(room, stack)
        next_pulse(lines)
        container = room.daemon.container
        at = WithStore(container.settings, policy_of(container.settings), container.clock, container.store)
        make_token(at, "first", ApiRole.OPERATOR, WHO)
        assert [line for line in lines if "still here" in line] == []


def test_a_stop_does_not_wait_for_streams() -> None:
    """They end at once."""
    with http_room(settings_of()) as room, ExitStack() as stack:
        lines = opened(room, stack)
        next_pulse(lines)
        started_s = time.monotonic()
        room.front.stop()
        assert time.monotonic() - started_s < 2.0
        assert all(not line.startswith("data") for line in lines)
        assert not room.front._thread.is_alive()


def test_a_slow_look_is_taken_less_often(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most a fiftieth of the time goes into looking, whatever the size of the store."""
    store = room.front._office.store()
    asked: list[float] = []
    counts = store.counts

    def slow() -> Any:
        asked.append(time.monotonic())
        time.sleep(0.2)
        return counts()

    monkeypatch.setattr(store, "counts", slow)
    with ExitStack() as stack:
        held = opened(room, stack)
        next_pulse(held)
        time.sleep(5.0)
        assert len(asked) <= 2
        assert next_pulse(held)["store"]
