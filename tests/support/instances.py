"""Several daemons on one real set, watched by the servers themselves: who wrote what, and when (D-34)."""

from __future__ import annotations

import itertools
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from real_set import RealSet, real_set
from services import postgres
from services.base import wait_until
from services.mysql import RIGHTS

# The servers' own account: rows show only who wrote last.
_WATCH_STORE = """
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
CREATE TABLE watch.EPOCHS (EPOCH bigint, AT double precision);
CREATE FUNCTION watch.NOTE_EPOCH() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO watch.EPOCHS VALUES (NEW.EPOCH, EXTRACT(EPOCH FROM clock_timestamp()));
    RETURN NULL;
END
$$;
CREATE TRIGGER NOTED AFTER UPDATE ON msgx.PIPELINE_LOCK FOR EACH ROW EXECUTE FUNCTION watch.NOTE_EPOCH();
"""
_NOTED = "CREATE TRIGGER NOTED AFTER INSERT OR UPDATE ON msgx.{} FOR EACH ROW EXECUTE FUNCTION watch.NOTE();"
_WATCH_MAILBOX = (
    "CREATE TABLE WATCH_MARKS (MSG_ID BIGINT, WHO VARCHAR(200), AT DOUBLE)",
    """
    CREATE TRIGGER NOTED AFTER UPDATE ON CMINMSGS FOR EACH ROW INSERT INTO WATCH_MARKS VALUES
        (NEW.CMINMSGS_ID, SUBSTRING_INDEX(USER(), '@', 1), UNIX_TIMESTAMP(SYSDATE(6)))
    """,
)

flids = itertools.count(10_000, 1_000)
"""Flights that no other test has: a thousand from each on."""


@frozen
class Instance:
    """A daemon, what it says, and who it is in the mailbox."""

    real: RealSet
    name: str
    user: str
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

    def freeze(self) -> None:
        """SIGSTOP."""
        self.process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        """SIGCONT."""
        self.process.send_signal(signal.SIGCONT)


@define
class Watched:
    """A real set whose PostgreSQL and MySQL note the writes of every instance that was ever started on it."""

    real: RealSet
    instances: list[Instance] = field(factory=list)

    @contextmanager
    def daemon(self, mailbox_url: str = "", **more: str) -> Iterator[Instance]:
        """A daemon with a mailbox user of its own (or that of `mailbox_url`)."""
        url = mailbox_url or self.mailbox_user()
        name = f"daemon-{len(self.instances)}"
        with self.real.daemon(name, **more, MSGX_MAILBOX_URL=url) as process:
            self.instances.append(Instance(self.real, name, _user(url), process))
            yield self.instances[-1]

    @contextmanager
    def pair(self, **more: str) -> Iterator[tuple[Instance, Instance]]:
        """The active one and the standby; who still runs at the end is stopped in order."""
        with self.daemon(**more) as one, self.daemon(**more) as other:
            wait_until(lambda: one.holds() or other.holds(), "nobody is active", 60)
            active, standby = (one, other) if one.holds() else (other, one)
            wait_until(lambda: bool(standby.said("standby")), "nobody stands by", 60)
            yield active, standby
            for process in (i.process for i in (one, other) if i.process.poll() is None):
                process.terminate()
                assert process.wait(10) == 0

    def mailbox_user(self) -> str:
        """The URL of a new user with the rights of production."""
        return self.real.mailbox.user(*RIGHTS)

    def works(self, epoch: int = 0, within_s: float = 20.0) -> int:
        """Wait until messages are applied in that epoch (0: the one in force); that epoch."""
        epoch = epoch or int(self.real.sql("SELECT * FROM PIPELINE_LOCK")[0]["EPOCH"])
        count = f"SELECT COUNT(APPLIED) AS N FROM watch.WRITES WHERE EPOCH = {epoch}"
        wait_until(lambda: self.real.sql(count)[0]["N"] > 0, f"nothing is applied in epoch {epoch}", within_s)
        time.sleep(0.5)
        return epoch

    def all_is_well(self) -> None:
        """Every message ends and is marked; none is applied twice, no two epochs' writes interleave,
        EVENT_IDs are consecutive and in commit order, who held the lease set the mark.

        D-02, D-27, D-34, R-033, R-353.
        """
        real = self.real
        finished = "SELECT COUNT(*) FROM PROC_STATE WHERE FINISHED_AT IS NOT NULL"
        done = f"SELECT ({finished}) AS DONE, COUNT(*) AS OPEN"
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
        real.wait_idle()
        assert self._marks_of_others() == []

    def _marks_of_others(self) -> list[tuple[int, str, float]]:
        """Marks that were set while another instance held the lease: message, who, when."""
        held = {line["epoch"]: i.user for i in self.instances for line in i.said("lease-taken")}
        epochs = [(e["AT"], e["EPOCH"]) for e in self.real.sql("SELECT * FROM watch.EPOCHS ORDER BY AT")]
        found = self.real.mailbox.run("SELECT MSG_ID, WHO, AT FROM WATCH_MARKS")
        marks = [(int(msg_id), who.decode(), float(at)) for msg_id, who, at in found]
        assert {msg_id for msg_id, _, _ in marks} == set(self.real.marks())
        return [
            (msg_id, who, at)
            for msg_id, who, at in marks
            if held[max(epoch for begun, epoch in epochs if begun <= at)] != who
        ]

    def everything(self) -> dict[str, Any]:
        """Each table of the store but the lease, the mailbox and the cache."""
        real = self.real
        names = "SELECT TABLENAME FROM pg_tables WHERE schemaname = 'msgx' AND tablename <> 'lease'"
        tables = [row["TABLENAME"] for row in real.sql(names)]
        rows = {table: real.sql(f"SELECT T::text FROM {table} T ORDER BY 1") for table in tables}
        client = real.redis.client()
        cache = {k: client.smembers(k) if ":day:" in k else client.get(k) for k in client.keys("*")}
        outbound = real.mailbox.run("SELECT * FROM COUTMSGS ORDER BY COUTMSGS_ID")
        return {**rows, "cache": cache, "marks": real.marks(), "outbound": outbound}

    def steps_down(self, stale: Instance, active: Instance) -> None:
        """Continued, it becomes the standby and changes nothing more."""
        before = dict[str, Any]()
        while before != (now := self.everything()):
            before = now
            time.sleep(0.5)
        stale.wake()
        wait_until(lambda: bool(stale.said("standby")), "it does not step down")
        assert stale.said("standby")[-1]["holder"].split(":")[1] == str(active.process.pid)
        time.sleep(0.5)
        assert {name: part for name, part in self.everything().items() if part != before[name]} == {}
        assert active.is_named()


@contextmanager
def watched_set(folder: Path) -> Iterator[Watched]:
    """All servers, the store migrated, both databases noting who writes."""
    with real_set(folder) as real:
        with postgres.connect(real.postgres.url) as owner:
            noted = map(_NOTED.format, ("PROC_STATE", "MSG_EVENT", "FLIGHT_SCHD"))
            owner.execute(_WATCH_STORE + "".join(noted))
        for statement in _WATCH_MAILBOX:
            real.mailbox.run(statement)
        yield Watched(real)


def wait_for_lock(real: RealSet, function: str, calls: int = 1) -> None:
    """Until so many calls of that function of the store wait for a lock."""
    waiting = "SELECT QUERY FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    calling = f"{waiting} AND QUERY ILIKE '%{function}(%'"
    wait_until(lambda: len(real.sql(calling)) == calls, f"{function} does not wait")


def _user(url: str) -> str:
    return url.partition("://")[2].partition(":")[0]


__all__ = ["Instance", "Watched", "flids", "wait_for_lock", "watched_set"]
