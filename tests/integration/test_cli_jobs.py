"""`--via-daemon`, `msgx jobs`, and what `status` and `alerts` say of outages, from outside (D-04, D-34)."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from msgx_adapters.cache_memory import MemoryCache
from msgx_app.container import Container, open_container
from msgx_app.daemon.serving import serve
from msgx_app.settings import load_settings
from msgx_cli import Msgx, put, ready
from msgx_core.model.job import JobEnd, JobKind, JobState
from msgx_core.testing.builders import AUDIT
from processes import msgx as process
from processes import wait_for
from services.base import wait_until
from wire import fltr, schedule

OLD = "01JAN210805"
SHORT: dict[str, Any] = {"MSGX_LEASE_EXPIRY": "200ms", "MSGX_LEASE_RENEW": "100ms"}


@pytest.fixture
def msgx(tmp_path: Path) -> Msgx:
    """An embedded installation with a history folder."""
    made = ready(tmp_path)
    config = tmp_path / "msgx.toml"
    config.write_text(config.read_text() + '\n[msgx.history]\nurl = "file:data/history"\n')
    return made


@contextmanager
def opened(msgx: Msgx) -> Iterator[Container]:
    with open_container(load_settings(msgx.folder / "msgx.toml", {}, {}).settings) as container:
        yield container


@contextmanager
def daemon(msgx: Msgx) -> Iterator[Container]:
    """At work in a thread, on the file that the commands open too."""
    stop = threading.Event()
    with opened(msgx) as container:
        thread = threading.Thread(target=serve, args=(container, stop), kwargs={"holder": "the-daemon"})
        thread.start()
        try:
            wait_until(lambda: container.cache.store_id() is not None, "it does not start", 10)
            yield container
        finally:
            stop.set()
            thread.join(20)


@contextmanager
def holder(msgx: Msgx) -> Iterator[Container]:
    """One that holds the lease and does no job by itself."""
    with opened(msgx) as container:
        assert container.store.acquire_lease("the-daemon", 60.0).granted
        yield container
        container.store.release_lease()


@contextmanager
def meanwhile(work: Callable[[], None]) -> Iterator[None]:
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join(20)


def test_both_commands_are_done_by_the_daemon(msgx: Msgx) -> None:
    """D-34: they wait for the end and say what the commands themselves say; audited with a reason."""
    put(msgx, schedule("DNLD", [fltr(1), fltr(2)]))
    msgx.ok("drain")
    with daemon(msgx) as container:
        assert msgx.ok("cache", "rebuild", "--via-daemon").out == "2 flights are in the cache\n"
        container.inbox.send(schedule("DNLD", [fltr(3, OLD)]))
        wait_until(lambda: container.store.flight(3) is not None, "the message waits", 10)
        answer = msgx.ok("sweep", "--via-daemon", "--json", "--reason", "now, please", "--actor", "ann").json
        assert (answer["KIND"], answer["STATE"], answer["COUNTS"]["ARCHIVED"]) == ("sweep", "DONE", 1)
        assert container.store.flight(3) is None
        (swept, rebuilt) = container.store.audit(2)
        assert (swept["ACTION"], swept["ACTOR"], swept["REASON"]) == ("ask_job", "ann", "now, please")
        assert "cache-rebuild" in rebuilt["REASON"]
        assert "archived\t0" in msgx.ok("sweep", "--via-daemon").out
    rows = msgx.ok("jobs", "--json").json
    assert [row["KIND"] for row in rows] == ["sweep", "sweep", "cache-rebuild"]
    assert rows[-1]["COUNTS"] == {"FLIGHTS": 2}
    assert msgx.ok("jobs", "--limit", 1).out.count("\n") == 2


def test_a_daemon_that_is_another_process_does_them(msgx: Msgx) -> None:
    """The file of an embedded store is shared."""
    running = process(msgx.folder / "msgx.toml", "run")
    try:
        wait_for("the lease", lambda: msgx.ok("status", "--json").json["LEASE"]["HELD"])
        answer = msgx.ok("cache", "rebuild", "--via-daemon", "--json").json
        assert (answer["STATE"], answer["COUNTS"]) == ("DONE", {"FLIGHTS": 0})
        running.terminate()
        assert running.wait(10) == 0
    finally:
        if running.poll() is None:
            running.kill()
        running.communicate()


@pytest.mark.parametrize("command", [("cache", "rebuild"), ("sweep",)])
def test_the_command_itself_names_the_way(msgx: Msgx, command: tuple[str, ...]) -> None:
    """D-34: beside a daemon exit 1, who it is, and what to do."""
    with holder(msgx):
        answer = msgx(*command, **SHORT)
    assert answer.code == 1
    assert "the-daemon holds the lease" in answer.err
    assert f"msgx {' '.join(command)} --via-daemon" in answer.err


def test_not_waiting_gives_the_number(msgx: Msgx) -> None:
    """D-34: the row stays; `status` counts it, the next one is joined to it."""
    with holder(msgx) as container:
        assert msgx.ok("sweep", "--via-daemon", "--no-wait").out == "1\n"
        answer = msgx.ok("sweep", "--via-daemon", "--no-wait", "--json")
        assert (answer.json["JOB_ID"], answer.json["STATE"]) == (1, "PENDING")
        assert "which waited already: left to the-daemon" in answer.err
        assert len(container.store.audit()) == 2
        found = msgx.ok("status", "--json").json["JOBS"]
        assert (found["OPEN"], found["LIST"][0]["KIND"]) == (1, "sweep")
        assert "jobs open\t1 sweep PENDING" in msgx.ok("status").out


def test_nobody_to_do_it(msgx: Msgx) -> None:
    """D-34: a lease expiry is waited for a holder, then exit 1; the next one finds the row."""
    answer = msgx("cache", "rebuild", "--via-daemon", **SHORT)
    assert answer.code == 1
    assert "no instance holds the lease; it waits for the next `msgx run`" in answer.err
    assert "no instance holds the lease" in msgx.ok("cache", "rebuild", "--via-daemon", "--no-wait").err
    with daemon(msgx) as container:
        wait_until(lambda: not container.store.open_jobs(), "it is not done", 10)
    (row,) = msgx.ok("jobs", "--json").json
    assert row["STATE"] == "DONE"


def test_one_that_fails_or_takes_too_long(msgx: Msgx) -> None:
    """D-34: exit 1 and why; how to look afterwards."""
    with holder(msgx) as container:
        store, clock = container.store, container.clock

        def fail() -> None:
            wait_until(lambda: bool(store.open_jobs()), "no job", 10)
            job = store.start_job(store.open_jobs()[0].job_id, clock.now())
            assert job is not None
            store.end_job(job.job_id, JobEnd(JobState.FAILED, "cache-rejected"), clock.now())

        with meanwhile(fail):
            answer = msgx("cache", "rebuild", "--via-daemon", "--json")
        assert (answer.code, answer.json["STATE"]) == (1, "FAILED")
        assert "job 1 failed: cache-rejected" in answer.err
        answer = msgx("cache", "rebuild", "--via-daemon", "--wait-at-most", "0.3")
        assert answer.code == 1
        assert "job 2 has not ended within 0.3 s: it is PENDING" in answer.err
        assert "`msgx jobs`" in answer.err


@pytest.mark.parametrize(
    "options", [("--no-wait",), ("--reason", "x"), ("--wait-at-most", "3"), ("--actor", "x")]
)
def test_options_that_mean_nothing_without_it(msgx: Msgx, options: tuple[str, ...]) -> None:
    answer = msgx("sweep", *options)
    assert (answer.code, "it goes with --via-daemon" in answer.err) == (2, True)


def test_not_waiting_and_a_limit_to_it_exclude_each_other(msgx: Msgx) -> None:
    answer = msgx("sweep", "--via-daemon", "--no-wait", "--wait-at-most", "3")
    assert (answer.code, "it goes without --no-wait" in answer.err) == (2, True)


def test_old_jobs_leave_with_old_requests(msgx: Msgx) -> None:
    """IMP §9.3: one setting for both; what is open stays, and the dry run says so."""
    with holder(msgx) as container:
        now = container.clock.now()
        for end in (JobEnd(JobState.DONE, "done"), None):
            job = container.store.ask_job(JobKind.SWEEP, AUDIT, now).job
            container.store.start_job(job.job_id, now)
            if end is not None:
                container.store.end_job(job.job_id, end, now)
    short: dict[str, Any] = {"MSGX_PIPELINE_REQUEST_RETENTION": "1ms", "MSGX_REQUESTS_LATE_WINDOW": "1ms"}
    assert "1 would go; 1 stay: still open" in msgx.ok("retention", "--dry-run", **short).out
    assert msgx.ok("retention", "--json", **short).json["OPS_JOB"] == 1
    assert [row["STATE"] for row in msgx.ok("jobs", "--json").json] == ["RUNNING"]


def test_status_names_what_answers_and_cannot_be_used(msgx: Msgx) -> None:
    """D-04: since when and why, exit 4; then the alert has an end and the status is good again."""
    with daemon(msgx) as container:
        cache = container.cache
        assert isinstance(cache, MemoryCache)
        cache.outage = "OOM command not allowed"
        wait_until(lambda: bool(container.store.outages()), "no outage", 20)
        answer = msgx("status", "--json")
        rows = {row["SERVICE"]: row for row in answer.json["SERVICES"]}
        assert answer.code == 4
        assert {name for name, row in rows.items() if not row["OK"]} == {"cache"}
        assert rows["cache"]["OUTAGE"]["DETAIL"] == "OOM command not allowed"
        assert "ERROR" not in rows["cache"]
        (open_one,) = msgx.ok("alerts", "--json").json
        assert "ENDED_AT" not in open_one
        assert [sorted(outage) for outage in answer.json["OUTAGES"]] == [["DETAIL", "SINCE"]]
        text = msgx("status")
        assert "the-daemon cannot use the cache since" in text.err
        cache.outage = None
        wait_until(lambda: container.store.outages()[0].ended_at is not None, "no end", 40)
        assert msgx.ok("status", "--json").json["OUTAGES"][0]["ENDED_AT"]
        assert ", over at " in msgx.ok("status").err
    (ended,) = msgx.ok("alerts", "--json").json
    assert ended["ENDED_AT"] > ended["CREATED_AT"]


def test_what_is_over_for_us_is_not_shown_as_now(msgx: Msgx) -> None:
    """D-04: drains that meet one outage raise one alert, and what they met is not what anyone meets now;
    the first that gets through ends it."""
    put(msgx, schedule("DNLD", [fltr(1)]))
    with closing(sqlite3.connect(msgx.folder / "data" / "mailbox.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            assert msgx("drain", MSGX_TIMEOUTS_MAILBOX="200ms").code == 4
    with holder(msgx):
        answer = msgx.ok("status", "--json").json
    assert all(row["OK"] for row in answer["SERVICES"])
    (outage,) = answer["OUTAGES"]
    assert (outage["DETAIL"].startswith("mailbox does not answer"), "ENDED_AT" in outage) == (True, False)
    msgx.ok("drain")
    (alert,) = msgx.ok("alerts", "--json").json
    assert alert["ENDED_AT"] > alert["CREATED_AT"]


def test_a_job_whose_instance_is_gone(msgx: Msgx) -> None:
    """D-34: it is `RUNNING` in the store, and told as left until the next holder begins it again."""
    left = "left by an instance that is gone"
    with opened(msgx) as container:
        assert container.pipeline.start("the-first", 60.0).granted
        asked = container.store.ask_job(JobKind.SWEEP, AUDIT, container.clock.now()).job
        container.store.start_job(asked.job_id, container.clock.now())
        (row,) = msgx.ok("jobs", "--json").json
        assert (row["STATE"], row.get("DETAIL")) == ("RUNNING", None)
    with closing(sqlite3.connect(msgx.folder / "data" / "store.db")) as raw:
        raw.execute("UPDATE LEASE SET EXPIRES_UNIX = 0")
        raw.commit()
    (row,) = msgx.ok("jobs", "--json").json
    assert (row["STATE"], row["DETAIL"].startswith(left)) == ("RUNNING", True)
    assert left in msgx.ok("jobs").out
    (row,) = msgx.ok("status", "--json").json["JOBS"]["LIST"]
    assert row["DETAIL"].startswith(left)
