"""Requests on the wired system: sent once, found or lost after a crash, expired, asked for daily (D-32)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta

import pytest
from attrs import evolve

from embedded import SHANGHAI, SimulatedCrash, System, closing_system
from msgx_core.errors import Fenced, Transient
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.pipeline.requests import RequestPolicy
from requesting import DAY, NEXT, TIMEOUT, WINDOW, alerts, ask, deleted, seqns, state, window
from wire import error_answer, schedule


@pytest.fixture
def system() -> Iterator[System]:
    with window() as made:
        yield made


def crash_at(system: System, step: str) -> None:
    """Drain into a crash at that step, then a new process that has not drained yet."""

    def crash(name: str) -> None:
        if name == step:
            raise SimulatedCrash(name)

    system.on_step = crash
    with pytest.raises(SimulatedCrash):
        system.drain()
    system.on_step = lambda name: None
    system.restart(clean=False)


def test_a_request_is_sent_once(system: System) -> None:
    """R-006, R-336, R-337, wire.md: one row with our number and routing; SENT; later drains send nothing
    more."""
    asked = ask(system)
    assert system.drain().requests_sent == 1
    (row,) = system.outbound.rows()
    assert (row.routing_id, row.inserted) == ("RQFD", "2027-03-14 08:00:00")
    assert "<RQFD><STDB>14MAR270000</STDB><STDE>14MAR272359</STDE></RQFD>" in row.text
    assert state(system, asked) == ("SENT", None)
    reference = ask(system, rtype="GLST")
    assert [system.drain().requests_sent for _ in range(3)] == [1, 0, 0]
    assert seqns(system) == ["1", "2"]
    assert system.outbound.rows()[1].routing_id == "RQRD"
    assert state(system, reference) == ("SENT", None)


def test_a_crash_before_the_insert_loses_it_and_says_so(system: System) -> None:
    """D-32: not found → FAILED(send-lost) + alert, never a blind second send."""
    asked = ask(system)
    crash_at(system, "send-begun")
    system.drain()
    assert state(system, asked) == ("FAILED", "send-lost")
    assert alerts(system) == ["SEND_LOST"]
    assert seqns(system) == []


@pytest.mark.parametrize("step", ["send-inserted", "send-confirmed"])
def test_a_crash_after_the_insert_finds_it(system: System, step: str) -> None:
    """D-32: found → SENT; one row, whatever others have written meanwhile."""
    asked = ask(system)
    crash_at(system, step)
    system.outbound.put("<not-xml", "2027-03-14 08:00:00")
    system.outbound.put(schedule("DNLD", [], seqn=1).decode(), "2027-03-14 08:00:00")
    system.clock.advance(60)
    system.drain()
    assert state(system, asked) == ("SENT", None)
    assert seqns(system)[0] == "1"
    assert len(system.outbound.rows()) == 3
    assert alerts(system) == []


def test_a_row_of_others_with_our_number_is_not_ours(system: System) -> None:
    """D-32: the table is shared; sender and type have to be ours as well."""
    asked = ask(system)
    crash_at(system, "send-begun")
    system.outbound.put(schedule("DNLD", [], seqn=1).decode(), "2027-03-14 08:00:00")
    system.drain()
    assert state(system, asked) == ("FAILED", "send-lost")


def test_a_mailbox_that_is_down_loses_nothing(system: System) -> None:
    """D-04, D-32: nothing is begun; it is sent when the mailbox answers."""
    asked = ask(system)
    system.outbound.outage = "down"
    with pytest.raises(Transient):
        system.drain()
    assert state(system, asked) == ("PENDING", None)
    assert system.store.pending_requests()[0].send_started_at is None
    system.outbound.outage = None
    assert system.drain().requests_sent == 1
    assert state(system, asked) == ("SENT", None)


@pytest.mark.parametrize("arrives", [True, False])
def test_an_insert_without_an_answer_is_looked_for_twice(system: System, arrives: bool) -> None:
    """D-32: a frozen mailbox may carry out, when it thaws, what we have long given up."""
    asked = ask(system)

    def fall_silent(name: str) -> None:
        if name == "send-begun":
            system.outbound.outage = "no answer"

    system.on_step = fall_silent
    with pytest.raises(Transient):
        system.drain()
    system.on_step = lambda name: None
    with pytest.raises(Transient):
        system.pipeline.requests.send()
    system.outbound.outage = None
    assert system.pipeline.requests.send() == (0, 0)
    if arrives:
        system.outbound.put(_as_sent(system), "2027-03-14 08:00:00")
    system.clock.advance(3)
    assert system.pipeline.requests.send() == ((1, 0) if arrives else (0, 1))
    assert state(system, asked)[0] == ("SENT" if arrives else "FAILED")


def _as_sent(system: System) -> str:
    from msgx_core.rules.outbound import request_text

    return request_text(system.store.pending_requests()[0], "RMS", system.policy)


def test_a_stale_leader_sends_nothing(system: System) -> None:
    """D-34: fenced before the row is inserted."""
    asked = ask(system)
    with system.store.connection.write():
        system.store.connection.run("UPDATE PIPELINE_LOCK SET EPOCH = EPOCH + 1")
    with pytest.raises(Fenced):
        system.pipeline.requests.send()
    assert seqns(system) == []
    assert state(system, asked) == ("PENDING", None)


def test_a_shadow_sends_nothing_and_asks_for_nothing() -> None:
    """D-42: msgx.mailbox.write-enabled = false."""
    config = PipelineConfig(mailbox_write_enabled=False, requests=RequestPolicy(daily_at=time(2)))
    with closing_system(None, sends=True, config=config) as system:
        asked = ask(system)
        system.drain()
        system.pipeline.requests.run()
        assert [r.request_id for r in system.store.requests()] == [asked]
        assert state(system, asked) == ("PENDING", None)
        assert system.outbound.rows() == ()


def test_an_answer_to_a_pending_request_takes_it_through_sent(system: System) -> None:
    """D-32: also between insert and confirmation; nothing is sent again."""
    asked = ask(system)
    crash_at(system, "send-inserted")
    system.send([schedule("RESP", [WINDOW[1]])])
    system.drain()
    assert state(system, asked) == ("DONE", None)
    found = system.store.requests()[0]
    assert found.sent_at is not None
    assert (deleted(system), len(system.outbound.rows())) == ({1, 3}, 1)


def test_no_answer_in_time(system: System) -> None:
    """R-006, R-340, R-332: EXPIRED(timeout) after msgx.requests.timeout, not before."""
    asked = ask(system)
    system.drain()
    system.clock.advance(TIMEOUT.total_seconds() - 1)
    system.drain()
    assert state(system, asked) == ("SENT", None)
    system.clock.advance(1)
    system.drain()
    assert state(system, asked) == ("EXPIRED", "timeout")


def test_an_answer_that_waited_in_the_mailbox_is_in_time(system: System) -> None:
    """R-332, D-32: we were down, the answer was there: it counts, whatever the clock says by now."""
    asked = ask(system)
    system.drain()
    system.send([schedule("RESP", [WINDOW[1]])])
    system.clock.advance(10 * TIMEOUT.total_seconds())
    system.restart()
    system.start()
    assert system.pipeline.requests.expire() == 0
    system.pipeline.intake.scan()
    assert system.pipeline.requests.expire() == 0
    system.drain()
    assert state(system, asked) == ("DONE", None)
    assert deleted(system) == {1, 3}


def run(system: System) -> int:
    """One turn of the daemon's loop; how many requests it made."""
    return system.pipeline.requests.run().asked


def test_the_daily_request(system: System) -> None:
    """R-347, R-348, FST §7.1, D-32: at its local time for the next day, again until DONE, once a day, over
    restarts."""
    system.config = evolve(system.config, requests=RequestPolicy(daily_at=time(2)))
    system.clock.set(datetime(2027, 3, 14, 1, 59, tzinfo=SHANGHAI).astimezone(UTC))
    system.restart()
    system.start()
    assert run(system) == 1  # yesterday's was missed: for today
    system.send([schedule("RESP", WINDOW[:3])])
    system.drain()
    system.clock.advance(60)
    assert (run(system), run(system)) == (1, 0)
    assert system.store.requests()[0].first_day == NEXT
    system.send([error_answer()])
    system.drain()
    assert (state(system, 2), run(system)) == (("FAILED", "eror"), 0)
    system.clock.advance(600)
    system.restart()
    system.start()
    assert (run(system), run(system)) == (1, 0)
    system.clock.advance(TIMEOUT.total_seconds())
    system.drain()
    assert state(system, 3) == ("EXPIRED", "timeout")
    system.clock.advance(600)
    assert run(system) == 1
    system.send([schedule("RESP", WINDOW[3:])])
    system.drain()
    system.clock.advance(6 * 3600)
    system.restart()
    system.start()
    assert run(system) == 0
    system.clock.advance(24 * 3600)
    assert run(system) == 1
    assert system.store.requests()[0].first_day == NEXT + timedelta(days=1)
    assert {r["ACTOR"] for r in system.store.audit()} == {"msgx"}


def test_a_push_completes_no_request(system: System) -> None:
    """D-32: `DNLD` completes none."""
    asked = ask(system)
    system.drain()
    system.send([schedule("DNLD", WINDOW[:1])])
    system.drain()
    assert state(system, asked) == ("SENT", None)
    assert deleted(system) == set()
    assert DAY in {r.day for r in system.store.rosters()}


@pytest.mark.parametrize("step", ["daily-asked", "send-begun", "send-inserted", "send-confirmed"])
def test_a_crash_of_the_daily_job_asks_once(system: System, step: str) -> None:
    """D-32: what it has asked for is in the store; only what was lost is asked for again, after a pause."""
    system.config = evolve(system.config, requests=RequestPolicy(daily_at=time(2)))
    system.restart()
    system.start()

    def crash(name: str) -> None:
        if name == step:
            raise SimulatedCrash(name)

    system.on_step = crash
    with pytest.raises(SimulatedCrash):
        run(system)
    system.on_step = lambda name: None
    system.restart(clean=False)
    system.start()
    for _ in range(3):
        run(system)
        system.clock.advance(300)
    lost = step == "send-begun"
    reasons = [r.reason for r in reversed(system.store.requests())]
    assert reasons == (["send-lost", None] if lost else [None])
    assert seqns(system) == (["2"] if lost else ["1"])
