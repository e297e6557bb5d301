"""The daemon's life on an open container: work, outages, faults, stepping down (D-04, D-34, D-35, D-42)."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from msgx_adapters.inbox_memory import MemoryInbox
from msgx_app.daemon import Phase, serve
from msgx_core.errors import Transient
from msgx_core.ports.operations import MessageFilter
from processes import Served, memory_settings, served, wait_for
from wire import flop, fltr, gate, message, schedule

LOOPS = {"lease", "poller", "pump", "write-back", "relay-msg", "relay-schd", "jobs", "retention"}
LOOPS |= {"ops-jobs", "outages"}


def inbox_of(daemon: Served) -> MemoryInbox:
    inbox = daemon.container.inbox
    assert isinstance(inbox, MemoryInbox)
    return inbox


def marked(daemon: Served) -> int:
    return sum(row.processed is not None for row in inbox_of(daemon).rows())


def states(daemon: Served) -> list[str]:
    return [str(row["STATE"]) for row in daemon.container.store.messages(MessageFilter(limit=10_000))]


def unsent(daemon: Served) -> int:
    return sum(statuses.get("PENDING", 0) for statuses in daemon.container.store.counts().events.values())


def settled(daemon: Served, n: int) -> bool:
    done = sum(state not in ("PENDING", "FAILED") for state in states(daemon))
    return done == n and marked(daemon) == n and not unsent(daemon)


def test_messages_go_all_the_way_and_it_stops_clean() -> None:
    with served(memory_settings()) as daemon:
        daemon.start()
        inbox = inbox_of(daemon)
        inbox.send(schedule("DNLD", [fltr(1), fltr(2)]))
        wait_for("the schedule", lambda: settled(daemon, 1))
        for number in range(20):
            inbox.send(flop(1, "GTDT", gate(f"B{number:02d}")))
        wait_for("the gates", lambda: settled(daemon, 21))
        assert set(daemon.monitor.heartbeats.view()) == LOOPS
        assert {thread.name for thread in threading.enumerate()} >= LOOPS
        wait_for(
            "a success of each loop",
            lambda: all(beat.last_success_at for beat in daemon.monitor.heartbeats.view().values()),
        )
        assert daemon.monitor.phase().phase is Phase.ACTIVE
        daemon.end()
        assert daemon.clean is True
        assert daemon.container.store.lease().holder is None
        assert not LOOPS & {thread.name for thread in threading.enumerate()}


def test_shadow_has_no_write_back_loop() -> None:
    with served(memory_settings(**{"msgx.mailbox.write-enabled": "false"})) as daemon:
        daemon.start()
        inbox_of(daemon).send(schedule("DNLD", [fltr(1)]))
        wait_for("the message", lambda: states(daemon) == ["SUCCEEDED"])
        wait_for("its events", lambda: not unsent(daemon))
        assert set(daemon.monitor.heartbeats.view()) == LOOPS - {"write-back"}
        assert marked(daemon) == 0


def test_mailbox_outage_names_the_culprit_once_and_counts_nothing() -> None:
    with served(memory_settings()) as daemon:
        daemon.start()
        inbox, store = inbox_of(daemon), daemon.container.store
        inbox.send(schedule("DNLD", [fltr(1)]))
        wait_for("the first message", lambda: settled(daemon, 1))
        inbox.outage = "cable out"
        wait_for("the outage", lambda: sum(o.failures for o in daemon.monitor.outages()) >= 2)
        assert {outage.service for outage in daemon.monitor.outages()} == {"mailbox"}
        inbox.outage = None
        inbox.send(flop(1, "GTDT", gate("B01")))
        wait_for("the message after it", lambda: settled(daemon, 2), within_s=20)
        wait_for("the end of the outage", lambda: not daemon.monitor.outages())
        assert [row["CODE"] for row in store.alerts()] == ["OUTAGE"]
        assert "mailbox" in str(store.alerts()[0]["DETAIL"])
        assert [row["ATTEMPTS"] for row in store.messages(MessageFilter())] == [0, 0]
        assert daemon.monitor.heartbeats.view()["poller"].errors == 0


def test_head_waits_while_its_text_cannot_be_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The outage comes between scan and fetch: nothing is counted, nothing dies."""
    with served(memory_settings()) as daemon:
        inbox = inbox_of(daemon)
        fetch = inbox.fetch

        def gone(msg_id: int) -> Any:
            inbox.outage = "gone"
            return fetch(msg_id)

        monkeypatch.setattr(inbox, "fetch", gone)
        inbox.send(schedule("DNLD", [fltr(1)]))
        daemon.start()
        wait_for("the outage", daemon.monitor.outages)
        assert states(daemon) == ["PENDING"]
        monkeypatch.setattr(inbox, "fetch", fetch)
        inbox.outage = None
        wait_for("the message", lambda: settled(daemon, 1), within_s=20)
        assert [row["ATTEMPTS"] for row in daemon.container.store.messages(MessageFilter())] == [0]


def test_unexpected_exception_of_a_loop_does_not_kill_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(memory_settings()) as daemon:
        inbox = inbox_of(daemon)
        scan, broken = inbox.scan, threading.Event()
        broken.set()

        def moody(after: int, limit: int) -> Any:
            if broken.is_set():
                raise ZeroDivisionError("a bug of ours")
            return scan(after, limit)

        monkeypatch.setattr(inbox, "scan", moody)
        inbox.send(schedule("DNLD", [fltr(1)]))
        daemon.start()
        wait_for("the fault", lambda: daemon.told("loop-error"))
        broken.clear()
        wait_for("the message", lambda: settled(daemon, 1))
        assert "ZeroDivisionError" in str(daemon.told("loop-error")[0]["traceback"])
        assert daemon.tally.by("msgx.loop.errors", "loop") == {"poller": len(daemon.told("loop-error"))}


def test_write_back_that_cannot_reach_the_mailbox_hides_no_new_message(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More finished rows than a page of the scan wait for their mark; new ones are still taken in (D-35)."""
    settings = memory_settings(**{"msgx.pipeline.claim-batch": "5", "msgx.pipeline.backfill-batch": "5"})
    with served(settings) as daemon:
        inbox = inbox_of(daemon)
        mark = inbox.mark

        def unreachable(*given: Any) -> Any:
            raise Transient("mailbox", "read only")

        monkeypatch.setattr(inbox, "mark", unreachable)
        daemon.start()
        for seqn in range(30):
            inbox.send(message("NONE", "NONE", "", seqn=900_000 + seqn))
        wait_for("thirty", lambda: states(daemon) == ["SKIPPED"] * 30)
        wait_for("the outage", daemon.monitor.outages)
        assert marked(daemon) == 0
        inbox.send(schedule("DNLD", [fltr(1)]))
        wait_for("the new one", lambda: states(daemon)[30:] == ["SUCCEEDED"])
        assert {outage.service for outage in daemon.monitor.outages()} == {"mailbox"}
        monkeypatch.setattr(inbox, "mark", mark)
        wait_for("all marks", lambda: settled(daemon, 31), within_s=40)
        assert [row["CODE"] for row in daemon.container.store.alerts()] == ["OUTAGE"]


def test_fenced_daemon_steps_down_and_waits_for_the_lease_again() -> None:
    """Another instance takes the epoch: no write of this one gets through, and it stands by (D-34)."""
    with served(memory_settings(**{"msgx.lease.renew": "50ms", "msgx.lease.expiry": "400ms"})) as daemon:
        daemon.start()
        wait_for("the lease", lambda: daemon.monitor.phase().phase is Phase.ACTIVE)
        store = daemon.container.store
        other = type(store)(store.connection)  # type: ignore[attr-defined, call-arg]

        def take_over() -> bool:
            with store.connection.write():  # type: ignore[attr-defined]
                store.connection.run("UPDATE LEASE SET EXPIRES_UNIX = 0")  # type: ignore[attr-defined]
            return bool(other.acquire_lease("other", 0.6).granted)

        wait_for("the takeover", take_over)
        wait_for("standing by", lambda: daemon.monitor.phase().phase is Phase.STANDBY)
        assert daemon.monitor.phase().detail == "other"
        inbox_of(daemon).send(schedule("DNLD", [fltr(1)]))
        wait_for("the lease again", lambda: daemon.monitor.phase().phase is Phase.ACTIVE)
        wait_for("the message", lambda: settled(daemon, 1))
        assert len(daemon.told("stepping-down")) == 1
        assert [event["unclean"] for event in daemon.told("lease-taken")] == [False, True]


def test_stop_while_standing_by() -> None:
    with served(memory_settings()) as daemon:
        store = daemon.container.store
        other = type(store)(store.connection)  # type: ignore[attr-defined, call-arg]
        assert other.acquire_lease("other", 60).granted
        daemon.start()
        wait_for("standing by", lambda: daemon.monitor.phase().phase is Phase.STANDBY)
        daemon.end(within_s=2)
        assert daemon.clean is True
        assert store.lease().holder == "other"


def test_step_that_does_not_end_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten seconds are ten seconds: the lease is not given up, it runs out."""
    monkeypatch.setattr("msgx_app.daemon.serving.STOP_WITHIN_S", 0.2)
    with served(memory_settings()) as daemon:
        inbox = inbox_of(daemon)
        stuck, release, scan = threading.Event(), threading.Event(), inbox.scan

        def hang(after: int, limit: int) -> Any:
            stuck.set()
            release.wait(30)
            return scan(after, limit)

        monkeypatch.setattr(inbox, "scan", hang)
        stop = threading.Event()
        threading.Timer(0.5, stop.set).start()
        assert serve(daemon.container, stop, holder="test") is False
        assert stuck.is_set()
        assert daemon.told("stop-forced") == [{"loops": ["poller"]}]
        assert daemon.container.store.lease().holder == "test"
        release.set()
        wait_for("its end", lambda: "poller" not in {thread.name for thread in threading.enumerate()})
