"""The daemon runs the jobs that people leave, beside everything else, and tells of outages (D-04, D-34)."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Sequence
from typing import Any

import pytest

from msgx_adapters.cache_memory import MemoryCache
from msgx_app.daemon import Phase
from msgx_core.errors import Transient
from msgx_core.model.flight import FlightState
from msgx_core.model.job import Job, JobKind, JobState
from msgx_core.model.request import RequestSlot, RequestState
from msgx_core.testing.builders import AUDIT, request
from processes import Served, memory_settings, served, wait_for
from wire import fltr, schedule

QUICK = {"msgx.lease.renew": "50ms", "msgx.lease.expiry": "400ms"}


def ask(daemon: Served, kind: JobKind = JobKind.CACHE_REBUILD) -> int:
    container = daemon.container
    return container.store.ask_job(kind, AUDIT, container.clock.now()).job.job_id


def job(daemon: Served, job_id: int) -> Job:
    found = daemon.container.store.job(job_id)
    assert found is not None
    return found


def cache_of(daemon: Served) -> MemoryCache:
    cache = daemon.container.cache
    assert isinstance(cache, MemoryCache)
    return cache


def on(daemon: Served) -> set[str]:
    """Outages that the store knows to be on."""
    return {outage.service for outage in daemon.container.store.outages() if outage.ended_at is None}


def test_a_job_is_done_and_its_numbers_are_there() -> None:
    with served(memory_settings()) as daemon:
        daemon.start()
        daemon.container.inbox.send(schedule("DNLD", [fltr(1), fltr(2)]))
        wait_for("the flights", lambda: len(daemon.container.store.flights()) == 2)
        job_id = ask(daemon)
        wait_for("the job", lambda: job(daemon, job_id).state is JobState.DONE)
        assert job(daemon, job_id).counts == {"FLIGHTS": 2}
        assert [told["state"] for told in daemon.told("job-ended")] == ["DONE"]


def test_a_long_job_holds_up_no_request_and_no_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rebuild has the pipeline lock; requests are sent all the same, and it is cut short by the stop."""
    with served(memory_settings()) as daemon:
        store = daemon.container.store
        daemon.start()
        daemon.container.inbox.send(schedule("DNLD", [fltr(1)]))
        wait_for("the flight", lambda: len(store.flights()) == 1)
        flight = store.flights()[0]
        entered = threading.Event()

        def endless(after: int, limit: int) -> Sequence[FlightState]:
            entered.set()
            time.sleep(0.02)
            return [flight]

        monkeypatch.setattr(store, "live_flights", endless)
        job_id = ask(daemon)
        wait_for("the rebuild", entered.is_set)
        asked = store.create_request(
            request(RequestSlot.RQRD, rtype="GLST"), AUDIT, daemon.container.clock.now()
        )
        wait_for("the request", lambda: store.requests()[0].state is RequestState.SENT, within_s=15)
        assert store.requests()[0].request_id == asked.request_id
        wait_for("its numbers so far", lambda: job(daemon, job_id).counts.get("FLIGHTS", 0) > 1)
        assert job(daemon, job_id).state is JobState.RUNNING
        daemon.end(within_s=5)
        assert daemon.clean is True
        assert job(daemon, job_id).state is JobState.RUNNING


def test_a_job_waits_for_a_service_that_is_down() -> None:
    """D-04: the outage is told once, with its end; the job is done then."""
    with served(memory_settings()) as daemon:
        daemon.start()
        wait_for("active", lambda: cache_of(daemon).store_id() is not None)
        cache_of(daemon).outage = "connection refused"
        job_id = ask(daemon)
        wait_for("what it waits for", lambda: "connection refused" in (job(daemon, job_id).detail or ""))
        wait_for("the row", lambda: on(daemon) == {"cache"})
        assert job(daemon, job_id).state is JobState.RUNNING
        cache_of(daemon).outage = None
        wait_for("the job", lambda: job(daemon, job_id).state is JobState.DONE, within_s=40)
        wait_for("the end", lambda: not on(daemon), within_s=40)
        (alert,) = daemon.container.store.alerts()
        assert (alert["CODE"], alert["ENDED_AT"] > alert["CREATED_AT"]) == ("OUTAGE", True)


def test_what_a_dead_holder_left_is_done_and_ended() -> None:
    """D-34: its job is run again; its outage, which this one does not meet, ends, with the alert it had."""
    with served(memory_settings()) as daemon:
        container = daemon.container
        dead = type(container.store)(container.store.connection)  # type: ignore[attr-defined, call-arg]
        assert dead.acquire_lease("dead", 0.05).granted
        job_id = ask(daemon)
        assert dead.start_job(job_id, container.clock.now()) is not None
        container.pipeline.outages.failed(Transient("bus", "no broker"))
        (outage,) = container.pipeline.outages.current()
        container.pipeline.outages.forget()
        dead.note_outage(outage, "bus does not answer: no broker", container.clock.now())
        daemon.start()
        wait_for("the job", lambda: job(daemon, job_id).state is JobState.DONE)
        assert job(daemon, job_id).epoch == container.store.lease().epoch
        wait_for("the end of the outage", lambda: not on(daemon))
        (alert,) = container.store.alerts()
        assert "ENDED_AT" in alert


def test_an_outage_that_outlives_its_holder_is_one() -> None:
    """D-04, D-34: stepped down and active again while the cache is down: one row, one alert."""
    with served(memory_settings(**QUICK)) as daemon:
        store = daemon.container.store
        daemon.start()
        wait_for("active", lambda: cache_of(daemon).store_id() is not None)
        cache_of(daemon).outage = "READONLY"
        wait_for("the row", lambda: on(daemon) == {"cache"}, within_s=30)
        since = store.outages()[0].since
        other = type(store)(store.connection)  # type: ignore[attr-defined, call-arg]
        with store.connection.write():  # type: ignore[attr-defined]
            store.connection.run("UPDATE LEASE SET EXPIRES_UNIX = 0")  # type: ignore[attr-defined]
        assert other.acquire_lease("other", 0.3).granted
        wait_for("standing by", lambda: daemon.monitor.phase().phase is Phase.STANDBY)
        assert not daemon.monitor.outages()
        wait_for("met again", lambda: store.outages()[0].epoch == store.lease().epoch, within_s=30)
        assert [(outage.since, outage.ended_at) for outage in store.outages()] == [(since, None)]
        assert len(store.alerts()) == 1
        cache_of(daemon).outage = None
        wait_for("the end", lambda: not on(daemon), within_s=40)
        assert len(store.alerts()) == 1


def test_a_store_that_takes_no_alert_gets_it_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """D-04: nothing is lost when the store is away as well; its own outage is told on its recovery."""
    with served(memory_settings()) as daemon:
        store = daemon.container.store
        note, refused = store.note_outage, itertools.count()

        def away(*given: Any) -> None:
            if next(refused) < 3:
                raise Transient("store", "57P03 starting up")
            note(*given)

        monkeypatch.setattr(store, "note_outage", away)
        daemon.start()
        wait_for("active", lambda: cache_of(daemon).store_id() is not None)
        cache_of(daemon).outage = "gone"
        wait_for("both", lambda: {o.service for o in store.outages()} == {"cache", "store"}, within_s=40)
        cache_of(daemon).outage = None
        wait_for("the ends", lambda: not on(daemon), within_s=40)
        told = sorted(str(row["DETAIL"]).partition(" from ")[0] for row in store.alerts())
        assert told == ["cache does not answer: gone", "store did not answer"]
