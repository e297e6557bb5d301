"""Two daemons on one store, on the real set: one at a time works, whatever happens to the other (D-34)."""

from __future__ import annotations

import itertools
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from attrs import frozen

from real_set import RealSet, real_set
from services import mysql, postgres
from services.base import wait_until
from wire import adft, flop, fltr, gate

PUT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG) VALUES (%s)"

# The server's own account of who wrote what when: rows show only who wrote last.
WATCH = """
CREATE SCHEMA watch;
CREATE TABLE watch.WRITES (
    N bigint GENERATED ALWAYS AS IDENTITY, EPOCH bigint, IN_FORCE bigint, MSG_ID bigint, APPLIED bigint,
    EVENT_ID bigint
);
CREATE FUNCTION watch.NOTE() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    v_old jsonb := COALESCE(to_jsonb(OLD), '{}');
    v_new jsonb := to_jsonb(NEW);
BEGIN
    INSERT INTO watch.WRITES (EPOCH, IN_FORCE, MSG_ID, APPLIED, EVENT_ID) SELECT NEW.EPOCH, L.EPOCH,
        (v_new ->> 'msg_id')::bigint,
        CASE WHEN v_old ->> 'applied_at' IS NULL THEN (v_new ->> 'apply_no')::bigint END,
        CASE WHEN v_old = '{}' AND v_new ->> 'target' = 'KAFKA:msg' THEN (v_new ->> 'event_id')::bigint END
    FROM msgx.PIPELINE_LOCK L;
    RETURN NULL;
END
$$;
"""
NOTED = "CREATE TRIGGER NOTED AFTER INSERT OR UPDATE ON msgx.{} FOR EACH ROW EXECUTE FUNCTION watch.NOTE();"

_flids = itertools.count(10_000, 1_000)


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSet]:
    with real_set(tmp_path_factory.mktemp("real")) as made:
        with postgres.connect(made.postgres.url) as owner:
            owner.execute(WATCH + "".join(map(NOTED.format, ("PROC_STATE", "MSG_EVENT", "FLIGHT_SCHD"))))
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
def pair(real: RealSet, **more: str) -> Iterator[tuple[Instance, Instance]]:
    """The active one and the standby; who still runs at the end is stopped in order."""
    names = [f"{which}-of-{next(_flids)}" for which in ("one", "other")]
    with real.daemon(names[0], **more) as first, real.daemon(names[1], **more) as second:
        one, other = Instance(real, names[0], first), Instance(real, names[1], second)
        wait_until(lambda: one.holds() or other.holds(), "nobody is active")
        active, standby = (one, other) if one.holds() else (other, one)
        wait_until(lambda: bool(standby.said("standby")), "nobody stands by")
        yield active, standby
        for process in (p for p in (first, second) if p.poll() is None):
            process.terminate()
            assert process.wait(10) == 0


def wait_for_lock(real: RealSet, function: str, calls: int = 1) -> None:
    """Until so many calls of that function wait for a lock."""
    waiting = "SELECT QUERY FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    calling = f"{waiting} AND QUERY ILIKE '%{function}(%'"
    wait_until(lambda: len(real.sql(calling)) == calls, f"{function} does not wait")


@contextmanager
def traffic(real: RealSet) -> Iterator[None]:
    """Upstream writes changes of twenty flights while the context lasts."""
    first, stop = next(_flids), threading.Event()

    def write() -> None:
        with closing(mysql.connect(real.mailbox.url)) as owner, closing(owner.cursor()) as cursor:
            for number in itertools.takewhile(lambda _: not stop.wait(0.015), itertools.count()):
                raw = flop(first + number % 20, "GTDT", gate(f"B{number % 90 + 10}"))
                cursor.execute(PUT, (raw.decode(),))

    upstream = threading.Thread(target=write)
    upstream.start()
    try:
        yield
    finally:
        stop.set()
        upstream.join()


def works(real: RealSet, epoch: int = 0, within_s: float = 20.0) -> int:
    """Wait until messages are applied in that epoch (0: the one in force); that epoch."""
    epoch = epoch or int(real.sql("SELECT * FROM PIPELINE_LOCK")[0]["EPOCH"])
    count = f"SELECT COUNT(APPLIED) AS N FROM watch.WRITES WHERE EPOCH = {epoch}"
    wait_until(lambda: real.sql(count)[0]["N"] > 0, f"nothing is applied in epoch {epoch}", within_s)
    time.sleep(0.5)
    return epoch


def all_is_well(real: RealSet) -> None:
    """Every message ends; none is applied twice, no two epochs' writes interleave, EVENT_IDs are consecutive
    and in commit order (D-02, D-27, R-033, R-353)."""
    done = "SELECT (SELECT COUNT(*) FROM PROC_STATE WHERE FINISHED_AT IS NOT NULL) AS DONE, COUNT(*) AS OPEN"
    wanted = [{"DONE": len(real.marks()), "OPEN": 0}]
    open_events = f"{done} FROM MSG_EVENT WHERE STATUS = 'PENDING'"
    wait_until(lambda: real.sql(open_events) == wanted, "not all is done", 40)
    assert real.sql("SELECT * FROM PROC_STATE WHERE STATE <> 'SUCCEEDED' OR ATTEMPTS > 0") == []
    writes = real.sql("SELECT * FROM watch.WRITES ORDER BY N")
    assert [w for w in writes if w["EPOCH"] != w["IN_FORCE"]] == []
    # A takeover waits for whoever writes: numbers of two epochs could mix only if writes did.
    assert [w["EPOCH"] for w in writes] == sorted(w["EPOCH"] for w in writes)
    applied = [w for w in writes if w["APPLIED"] is not None]
    assert [w["APPLIED"] for w in applied] == list(range(1, len(applied) + 1))
    assert len({w["MSG_ID"] for w in applied}) == len(applied) == len(real.marks())
    events = [w["EVENT_ID"] for w in writes if w["EVENT_ID"] is not None]
    assert events == list(range(1, len(events) + 1))


def everything(real: RealSet) -> dict[str, Any]:
    """Each table but the lease, and the cache."""
    tables = real.sql("SELECT TABLENAME FROM pg_tables WHERE schemaname = 'msgx' AND tablename <> 'lease'")
    rows = {t["TABLENAME"]: real.sql(f"SELECT T::text FROM {t['TABLENAME']} T ORDER BY 1") for t in tables}
    client = real.redis.client()
    cache = {key: client.smembers(key) if ":day:" in key else client.get(key) for key in client.keys("*")}
    return {**rows, "cache": cache}


def steps_down(real: RealSet, stale: Instance, active: Instance) -> None:
    """Continued, it becomes the standby and changes nothing more; marks it had claimed may be set, once."""
    before, marks = dict[str, Any](), {i: at for i, at in real.marks().items() if at}
    while before != (now := everything(real)):
        before = now
        time.sleep(0.5)  # for the marks of the active one
    stale.process.send_signal(signal.SIGCONT)
    wait_until(lambda: bool(stale.said("standby")), "it does not step down")
    assert stale.said("standby")[-1]["holder"].split(":")[1] == str(active.process.pid)
    time.sleep(0.5)
    assert {name: part for name, part in everything(real).items() if part != before[name]} == {}
    assert marks.items() <= real.marks().items()
    assert active.is_named()


def test_the_standby_takes_over_after_a_kill(real: RealSet) -> None:
    """R-033: within 5 s with the default lease; `status` names the holder."""
    with pair(real) as (active, standby):
        with traffic(real):
            epoch = works(real)
            assert active.is_named()
            active.process.kill()
            works(real, epoch + 1, 5.0)
        assert standby.is_named()
        all_is_well(real)


def test_sigterm_under_load_hands_over_at_once(real: RealSet) -> None:
    """D-34: exit 0 within 10 s, the lease released: the standby does not wait for its expiry."""
    with pair(real, MSGX_LEASE_EXPIRY="30s") as (active, standby):
        with traffic(real):
            epoch = works(real)
            active.process.terminate()
            assert active.process.wait(10) == 0
            assert [line["event"] for line in real.log(active.name)][-2:] == ["lease-released", "stopped"]
            works(real, epoch + 1, 3.0)
        assert not standby.said("lease-taken")[0]["unclean"]
        all_is_well(real)


@pytest.mark.parametrize("seconds", [15, pytest.param(60, marks=pytest.mark.deep)])
def test_a_leader_frozen_under_traffic_stands_by_when_it_wakes(real: RealSet, seconds: int) -> None:
    """D-34: SIGSTOP while the other works, SIGCONT; and it is there when the other one dies."""
    with pair(real) as (active, standby):
        with traffic(real):
            epoch = works(real)
            active.process.send_signal(signal.SIGSTOP)
            works(real, epoch + 1)
            time.sleep(seconds - 2)  # it took the other one longer to take over
        all_is_well(real)
        steps_down(real, active, standby)
        with traffic(real):
            epoch = works(real, epoch + 1)
            standby.process.kill()
            works(real, epoch + 1)
        all_is_well(real)


@pytest.mark.parametrize("fate", ["committed", "rolled back", "not sent"])
def test_a_leader_frozen_in_the_midst_of_step_one(real: RealSet, fate: str) -> None:
    """D-34, D-02: the server ends the statement, or refuses it when it comes late; applied once."""
    statement, flid = "2s" if fate == "rolled back" else "60s", next(_flids)
    blocked, table = ("read", "FLIGHT_SCHD") if fate == "not sent" else ("apply", "COUNTERS")
    with pair(real, MSGX_TIMEOUTS_STORE_STATEMENT=statement, MSGX_LEASE_EXPIRY="2s") as (active, standby):
        real.mailbox.insert(PUT, adft(fltr(flid)).decode())
        epoch = works(real)
        with postgres.connect(real.postgres.url) as outside:
            outside.autocommit = False
            outside.execute(f"LOCK TABLE msgx.{table}")
            inside = real.mailbox.insert(PUT, flop(flid, "GTDT", gate("B1")).decode())
            wait_for_lock(real, blocked)
            active.process.send_signal(signal.SIGSTOP)
            if fate == "committed":
                wait_for_lock(real, "acquire_lease")
            else:
                wait_until(standby.holds, "step 1 is not given up")
            if fate == "not sent":
                wait_for_lock(real, blocked, 2)
                standby.process.send_signal(signal.SIGSTOP)
            outside.rollback()
        if fate == "not sent":
            # It has read, and knows nothing of the takeover: the fence alone is in its way.
            active.process.send_signal(signal.SIGCONT)
            wait_until(lambda: bool(active.said("standby")), "it does not step down")
            standby.process.send_signal(signal.SIGCONT)
        real.mailbox.insert(PUT, flop(flid, "GTDT", gate("B2")).decode())
        all_is_well(real)
        (write,) = real.sql(f"SELECT EPOCH FROM watch.WRITES WHERE APPLIED > 0 AND MSG_ID = {inside}")
        assert (write["EPOCH"] == epoch) == (fate == "committed")
        steps_down(real, active, standby)
        assert '"STATE_VERSION":3' in str(real.redis.client().get(f"msgx:flight:{flid}")).replace(" ", "")
