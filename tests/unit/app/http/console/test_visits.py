"""Sessions: bounded, of limited life, and marks that fit one browser alone."""

from __future__ import annotations

from msgx_app.http.console.desk import inside, with_query
from msgx_app.http.console.visits import MAX_SESSIONS, SESSION_S, Sessions
from msgx_core.testing.clock import ManualClock


def test_a_session_ends_after_its_time() -> None:
    clock = ManualClock()
    sessions = Sessions(clock)
    key = sessions.begin("digest")
    clock.advance(SESSION_S - 1)
    assert sessions.token_of(key) == "digest"
    clock.advance(1)
    assert sessions.token_of(key) is None


def test_only_so_many_are_kept_and_the_oldest_leave() -> None:
    sessions = Sessions(ManualClock())
    keys = [sessions.begin(str(n)) for n in range(MAX_SESSIONS + 10)]
    assert [sessions.token_of(key) for key in keys[:10]] == [None] * 10
    assert sessions.token_of(keys[10]) == "10"
    assert len(set(keys)) == len(keys)


def test_a_mark_fits_one_browser_and_one_process() -> None:
    clock = ManualClock()
    sessions = Sessions(clock)
    assert sessions.is_marked("a", sessions.mark("a"))
    assert not sessions.is_marked("b", sessions.mark("a"))
    assert not sessions.is_marked("a", "")
    assert not sessions.is_marked("a", "山")
    assert not Sessions(clock).is_marked("a", sessions.mark("a"))


def test_one_is_only_sent_on_inside_the_console() -> None:
    for target in ("/console", "/console/alerts?all=1", "/console?x=y"):
        assert inside(target) == target
    for target in (
        "",
        "//x",
        "http://x/console",
        "/consolex",
        "/console\\x",
        "/console\r\nA: b",
        "/",
        "console",
    ):
        assert inside(target) == "/console"


def test_a_query_is_changed_in_place() -> None:
    assert with_query("/console?a=1&b=2", b=3, c="x y") == "/console?a=1&b=3&c=x+y"
    assert with_query("/console?a=1", a=None) == "/console"
