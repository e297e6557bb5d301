"""Two daemons on one store, on the real set: one at a time works, whatever happens to the other (D-34)."""

from __future__ import annotations

import itertools
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import Any

import pytest
from attrs import frozen

from real_set import TIMEOUTS, TOPICS, RealSet, real_set
from services import mysql, postgres
from services.base import wait_until
from services.kafka import create_topics
from wire import adft, flop, fltr, gate

PUT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (%s, NOW())"
FLIGHTS = 20

# The server's own account of who wrote what when; it lasts when rows are written again.
WATCH = """
CREATE SCHEMA watch;
CREATE TABLE watch.WRITES (
    N bigint GENERATED ALWAYS AS IDENTITY, EPOCH bigint, IN_FORCE bigint, MSG_ID bigint, APPLIED bigint,
    EVENT_ID bigint
);
CREATE FUNCTION watch.NOTE() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_new jsonb := to_jsonb(NEW);
BEGIN
    INSERT INTO watch.WRITES (EPOCH, IN_FORCE, MSG_ID, APPLIED, EVENT_ID) SELECT NEW.EPOCH, L.EPOCH,
        (v_new ->> 'msg_id')::bigint,
        CASE WHEN TG_OP = 'UPDATE' AND to_jsonb(OLD) ->> 'applied_at' IS NULL THEN (v_new ->> 'apply_no')::bigint END,
        CASE WHEN TG_OP = 'INSERT' AND v_new ->> 'target' = 'KAFKA:msg' THEN (v_new ->> 'event_id')::bigint END
    FROM msgx.PIPELINE_LOCK L;
    RETURN NULL;
END
$$;
"""
NOTED = "CREATE TRIGGER NOTED AFTER INSERT OR UPDATE ON msgx.{} FOR EACH ROW EXECUTE FUNCTION watch.NOTE()"

_names = map("instance-{}".format, itertools.count(1))
_flids = itertools.count(10_000, 1_000)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSet]:
    with real_set(tmp_path_factory.mktemp("real")) as made:
        with postgres.connect(made.postgres.url) as owner:
            owner.execute(WATCH)
            for table in ("PROC_STATE", "MSG_EVENT", "FLIGHT_SCHD"):
                owner.execute(NOTED.format(table))
        yield made


@frozen
class Instance:
    """A daemon and what it says."""

    real: RealSet
    name: str
    process: subprocess.Popen[bytes]

    def holds(self) -> bool:
        """Whether the lease is its own, by the store."""
        rows = self.real.sql("SELECT HOLDER FROM LEASE WHERE EXPIRES_AT > clock_timestamp()")
        return any(f":{self.process.pid}:" in (row["HOLDER"] or "") for row in rows)

    def is_named(self) -> bool:
        """Whether `msgx status` names it as the holder."""
        lease = self.real.msgx().ok("status", "--json").json["LEASE"]
        return bool(lease["HELD"]) and f":{self.process.pid}:run" in lease["HOLDER"]

    def said(self, event: str) -> list[dict[str, Any]]:
        """Events of that name in its log."""
        return [line for line in self.real.log(self.name) if line["event"] == event]


@contextmanager
def instance(real: RealSet, **more: str) -> Iterator[Instance]:
    name = next(_names)
    with real.daemon(name, **more) as process:
        yield Instance(real, name, process)
        if process.poll() is None:
            process.terminate()
            assert process.wait(10) == 0


@contextmanager
def pair(real: RealSet, **more: str) -> Iterator[tuple[Instance, Instance]]:
    """The active one and the standby."""
    with instance(real, **more) as one, instance(real, **more) as other:
        wait_until(lambda: one.holds() or other.holds(), "nobody is active")
        active, standby = (one, other) if one.holds() else (other, one)
        wait_until(lambda: bool(standby.said("standby")), "nobody stands by")
        yield active, standby


@contextmanager
def traffic(real: RealSet) -> Iterator[None]:
    """Upstream writes changes of new flights while the context lasts."""
    first, stop = next(_flids), threading.Event()

    def write() -> None:
        with closing(mysql.connect(real.mailbox.url)) as owner, closing(owner.cursor()) as cursor:
            for number in itertools.count():
                flid = first + number % FLIGHTS
                change = flop(flid, "GTDT", gate(f"B{number % 90 + 10}"))
                cursor.execute(PUT, ((adft(fltr(flid)) if number < FLIGHTS else change).decode(),))
                if stop.wait(0.015):
                    return

    upstream = threading.Thread(target=write)
    upstream.start()
    try:
        yield
    finally:
        stop.set()
        upstream.join()


def epoch_of(real: RealSet) -> int:
    return int(real.sql("SELECT EPOCH FROM PIPELINE_LOCK")[0]["EPOCH"])


def works(real: RealSet, epoch: int, messages: int = 1) -> bool:
    """Whether so many messages have been applied in that epoch or later."""
    found = real.sql(f"SELECT COUNT(APPLIED) AS N FROM watch.WRITES WHERE EPOCH >= {epoch}")
    return int(found[0]["N"]) >= messages


def all_is_well(real: RealSet) -> None:
    """Every message ends; none is applied twice, no two epochs' writes interleave, EVENT_IDs are consecutive
    and in commit order (D-02, D-27, R-033, R-353)."""
    done = "SELECT (SELECT COUNT(*) FROM PROC_STATE WHERE FINISHED_AT IS NOT NULL) AS DONE, COUNT(*) AS OPEN"
    wanted = [{"DONE": len(real.marks()), "OPEN": 0}]
    open_events = f"{done} FROM MSG_EVENT WHERE STATUS = 'PENDING'"
    wait_until(lambda: real.sql(open_events) == wanted, "not all is done", 40)
    assert real.sql("SELECT DISTINCT STATE, ATTEMPTS FROM PROC_STATE") == [
        {"STATE": "SUCCEEDED", "ATTEMPTS": 0}
    ]
    writes = real.sql("SELECT * FROM watch.WRITES ORDER BY N")
    assert [w for w in writes if w["EPOCH"] != w["IN_FORCE"]] == []
    # A takeover waits for whoever writes: numbers of two epochs could mix only if writes did.
    assert [w["EPOCH"] for w in writes] == sorted(w["EPOCH"] for w in writes)
    applied = [w for w in writes if w["APPLIED"] is not None]
    assert [w["APPLIED"] for w in applied] == list(range(1, len(applied) + 1))
    assert len({w["MSG_ID"] for w in applied}) == len(applied) == len(real.marks())
    events = [w["EVENT_ID"] for w in writes if w["EVENT_ID"] is not None]
    assert events == list(range(1, len(events) + 1))
    flights = "FLIGHT_SCHD F JOIN PROC_STATE P ON P.MSG_ID = F.LAST_MSG_ID"
    on_rows = [row["EPOCH"] for row in real.sql(f"SELECT F.EPOCH FROM {flights} ORDER BY P.APPLY_NO")]
    assert on_rows == sorted(on_rows)
    versions = real.sql(
        "SELECT array_agg(STATE_VERSION ORDER BY EVENT_ID) AS V FROM MSG_EVENT"
        " WHERE TARGET = 'KAFKA:msg' GROUP BY FLID"
    )
    assert all(row["V"] == list(range(1, len(row["V"]) + 1)) for row in versions)


def everything(real: RealSet) -> dict[str, Any]:
    """Each table but the lease, the marks and the cache."""
    tables = real.sql(
        "SELECT relname AS T FROM pg_class WHERE relnamespace = 'msgx'::regnamespace AND relkind = 'r'"
    )
    names = [row["T"] for row in tables if row["T"] != "lease"]
    rows = {name: real.sql(f"SELECT T::text AS R FROM {name} T ORDER BY R") for name in names}
    client = real.redis.client()
    cache = {key: client.smembers(key) if ":day:" in key else client.get(key) for key in client.keys("*")}
    return {**rows, "marks": real.marks(), "cache": cache}


def steps_down(real: RealSet, stale: Instance, active: Instance) -> None:
    """Continued, it changes nothing more and becomes the standby."""
    before = everything(real)
    stale.process.send_signal(signal.SIGCONT)
    wait_until(lambda: bool(stale.said("standby")), "it does not step down")
    assert stale.said("standby")[-1]["holder"].split(":")[1] == str(active.process.pid)
    time.sleep(0.5)
    assert {name: part for name, part in everything(real).items() if part != before[name]} == {}
    assert active.is_named()


def test_the_standby_takes_over_after_a_kill(real: RealSet) -> None:
    """R-033: within 5 s with the default lease; `status` names the holder."""
    with pair(real) as (active, standby):
        with traffic(real):
            wait_until(lambda: works(real, epoch_of(real), 50), "nothing is applied")
            assert active.is_named()
            epoch = epoch_of(real)
            active.process.kill()
            wait_until(lambda: works(real, epoch + 1), "the standby does not work", 5.0)
            wait_until(lambda: works(real, epoch + 1, 50), "the standby does not go on")
        assert standby.is_named()
        assert standby.said("lease-taken")[0]["unclean"]
        all_is_well(real)


def test_sigterm_under_load_hands_over_at_once(real: RealSet) -> None:
    """Exit 0 within 10 s, the lease released: the standby does not wait for its expiry."""
    with pair(real, MSGX_LEASE_EXPIRY="30s") as (active, standby):
        with traffic(real):
            wait_until(lambda: works(real, epoch_of(real), 50), "nothing is applied")
            epoch = epoch_of(real)
            active.process.terminate()
            assert active.process.wait(10) == 0
            assert [line["event"] for line in real.log(active.name)][-2:] == ["lease-released", "stopped"]
            wait_until(lambda: works(real, epoch + 1, 50), "the standby does not work")
        (released,), (taken,) = active.said("lease-released"), standby.said("lease-taken")
        at = [datetime.fromisoformat(line["timestamp"]) for line in (released, taken)]
        assert (at[1] - at[0]).total_seconds() < 2.0
        assert not taken["unclean"]
        all_is_well(real)


@pytest.mark.parametrize("seconds", [15, pytest.param(60, marks=pytest.mark.deep)])
def test_a_leader_frozen_under_traffic_stands_by_when_it_wakes(real: RealSet, seconds: int) -> None:
    """D-34: SIGSTOP while the other works, SIGCONT; and it is there when the other one dies."""
    with pair(real) as (active, standby):
        with traffic(real):
            wait_until(lambda: works(real, epoch_of(real), 50), "nothing is applied")
            epoch = epoch_of(real)
            active.process.send_signal(signal.SIGSTOP)
            began = time.monotonic()
            wait_until(lambda: works(real, epoch + 1, 50), "the standby does not work")
            time.sleep(max(0.0, seconds - 2 - (time.monotonic() - began)))
        all_is_well(real)
        time.sleep(max(0.0, seconds - (time.monotonic() - began)))
        steps_down(real, active, standby)
        with traffic(real):
            wait_until(lambda: works(real, epoch_of(real), 50), "nothing is applied")
            epoch = epoch_of(real)
            standby.process.kill()
            wait_until(lambda: works(real, epoch + 1, 50), "it does not take over again")
        all_is_well(real)


@pytest.mark.parametrize("fate", ["committed", "rolled back"])
def test_a_leader_frozen_inside_step_one(real: RealSet, fate: str) -> None:
    """D-34, D-02: the server ends the statement; the standby goes on from there, once."""
    statement = "60s" if fate == "committed" else "2s"
    lease = {"MSGX_LEASE_EXPIRY": "1500ms", "MSGX_LEASE_RENEW": "500ms"}
    flid = next(_flids)
    with pair(real, MSGX_TIMEOUTS_STORE_STATEMENT=statement, **lease) as (active, standby):
        epoch = epoch_of(real)
        real.mailbox.insert(PUT, adft(fltr(flid)).decode())
        all_is_well(real)
        with postgres.connect(real.postgres.url) as outside:
            outside.autocommit = False
            outside.execute("SELECT * FROM msgx.COUNTERS FOR UPDATE")
            inside = real.mailbox.insert(PUT, flop(flid, "GTDT", gate("B1")).decode())
            wait_until(lambda: waits(real, "apply("), "step 1 does not wait")
            active.process.send_signal(signal.SIGSTOP)
            if fate == "committed":
                wait_until(lambda: waits(real, "acquire_lease("), "the standby does not wait for step 1")
            else:
                wait_until(standby.holds, "step 1 is not given up")
            outside.rollback()
        for name in ("B2", "B3"):
            real.mailbox.insert(PUT, flop(flid, "GTDT", gate(name)).decode())
        all_is_well(real)
        (write,) = real.sql(f"SELECT EPOCH FROM watch.WRITES WHERE APPLIED > 0 AND MSG_ID = {inside}")
        assert (write["EPOCH"] == epoch) == (fate == "committed")
        steps_down(real, active, standby)
        assert '"STATE_VERSION":4' in str(real.redis.client().get(f"msgx:flight:{flid}")).replace(" ", "")


def waits(real: RealSet, function: str) -> bool:
    """Whether a call of that function waits for a lock."""
    waiting = (
        "SELECT QUERY FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'msgx'"
    )
    return any(function in row["QUERY"].lower() for row in real.sql(waiting))


@pytest.mark.parametrize("service", ["store", "mailbox", "cache", "bus"])
def test_start_while_a_service_is_down(real: RealSet, service: str) -> None:
    """It waits and says for what, and works when that comes (D-04)."""
    server, flid = real.servers[service], next(_flids)
    server.kill()
    if service != "mailbox":
        real.mailbox.insert(PUT, adft(fltr(flid)).decode())
    with instance(real, **TIMEOUTS) as daemon:
        # Opening needs store and mailbox; cache and bus are met by the first step that needs them.
        told = "waiting-for" if service in {"store", "mailbox"} else "outage"
        wait_until(lambda: service in {line["service"] for line in daemon.said(told)}, "it says nothing")
        assert daemon.process.poll() is None
        server.start()
        if service == "bus":
            create_topics(real.kafka.servers, TOPICS)
        if service == "mailbox":
            real.mailbox.reconnect()
            real.mailbox.insert(PUT, adft(fltr(flid)).decode())
        all_is_well(real)
        assert daemon.holds()
    assert str(flid) in {key for key, _ in real.topic("KAFKA_MSG")}
