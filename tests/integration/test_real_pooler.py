"""Ways to the servers of the real set: through PgBouncer in transaction mode, and before they are up."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from attrs import evolve
from confluent_kafka import KafkaException

import first_day
from first_day import Shift
from real_set import TIMEOUTS, TOPICS, RealSet, real_set
from services.base import wait_until
from services.kafka import create_topics
from services.pgbouncer import PrivatePooler, pgbouncer
from wire import flop, gate

PUT = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (%s, NOW())"

_numbers = itertools.count(500_000)


@contextmanager
def pooled(folder: Path, prepared: str) -> Iterator[tuple[RealSet, PrivatePooler]]:
    """A real set that knows of the pooler only; it has fewer connections than one instance uses."""
    with real_set(folder) as made, pgbouncer(made.postgres.url) as pooler:
        url = f"{pooler.url}?schema=msgx"
        yield evolve(made, more={"MSGX_STORE_URL": url, "MSGX_STORE_PREPARED": prepared, **TIMEOUTS}), pooler


@pytest.fixture(scope="module")
def auto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[RealSet, PrivatePooler]]:
    with pooled(tmp_path_factory.mktemp("pooled"), "auto") as made:
        yield made


def test_the_day_through_a_pooler(auto: tuple[RealSet, PrivatePooler]) -> None:
    """D-34: no session keeps anything, so a transaction pooler is no trap."""
    the_day_agrees(*auto)


def test_the_day_without_prepared_statements(tmp_path: Path) -> None:
    """D-34: `msgx.store.prepared = off` for a pooler that does not know them."""
    with pooled(tmp_path, "off") as made:
        the_day_agrees(*made)


def the_day_agrees(real: RealSet, pooler: PrivatePooler) -> None:
    """Fates, full states and notices of the sample day, drained on the command line."""
    files = sorted(first_day.FOLDER.glob("*.xml"))
    msgx = real.msgx()
    ids = {Path(row["FILE"]).stem: row["MSG_ID"] for row in msgx.ok("send", "--json", *files).json}
    assert msgx.ok("drain", "--json").json["TAKEN_IN"] == len(files)
    rows = {row["MSG_ID"]: row for row in msgx.ok("messages", "--json").json}
    for name, (state, code, reason) in first_day.FATES.items():
        row, wanted = rows[ids[name]], reason and reason.replace("<08>", str(ids["08-flop-gtdt"]))
        assert (row["STATE"], row.get("ERROR_CODE"), row.get("REASON")) == (state, code, wanted), name
    shown = {flight["FLID"]: flight for flight in msgx.ok("flights", "--json").json}
    assert set(shown) == set(first_day.FLIGHTS)
    for flid, expected in first_day.FLIGHTS.items():
        assert first_day.matches(shown[flid], expected, Shift()) == [], flid
    assert Counter(int(key or 0) for key, _ in real.topic("KAFKA_MSG")) == first_day.EVENTS
    assert all(real.marks().values())
    assert pooler.transactions() > 100
    assert pooler.connections() <= 2


def test_a_takeover_through_a_pooler(auto: tuple[RealSet, PrivatePooler]) -> None:
    """The active one of two daemons is killed under traffic; each message is applied once (R-033, R-353)."""
    real, _ = auto
    with real.daemon("one") as one, real.daemon("other") as other:
        names = ("one", "other")
        wait_until(lambda: any(("standby", None) in said(real, name) for name in names), "nobody stands by")
        before = holder(real)
        active, standby = (one, other) if f":{one.pid}:" in before else (other, one)
        assert f":{active.pid}:" in before
        epoch = real.sql("SELECT EPOCH FROM PIPELINE_LOCK")[0]["EPOCH"]
        ids = [put(real) for _ in range(100)]
        wait_until(lambda: done(real, ids) > 0, "nothing is done")
        active.kill()
        ids += [put(real) for _ in range(100)]
        fresh = f"SELECT COUNT(*) AS N FROM PROC_STATE WHERE APPLY_NO > 0 AND EPOCH > {epoch}"
        wait_until(lambda: real.sql(fresh)[0]["N"] > 0, "the standby does not work", 5.0)
        wait_until(lambda: done(real, ids) == len(ids), "not all is done")
        assert f":{standby.pid}:" in holder(real)
        standby.terminate()
        assert standby.wait(10) == 0
    chosen = f"MSG_ID BETWEEN {ids[0]} AND {ids[-1]}"
    rows = real.sql(f"SELECT STATE, ATTEMPTS, APPLY_NO FROM PROC_STATE WHERE {chosen} ORDER BY MSG_ID")
    assert {(row["STATE"], row["ATTEMPTS"]) for row in rows} == {("SUCCEEDED", 0)}
    assert [row["APPLY_NO"] for row in rows] == list(
        range(rows[0]["APPLY_NO"], rows[0]["APPLY_NO"] + len(ids))
    )
    events = real.sql("SELECT EVENT_ID, MSG_ID FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' ORDER BY EVENT_ID")
    assert [event["EVENT_ID"] for event in events] == list(range(1, len(events) + 1))
    assert [event["MSG_ID"] for event in events if event["MSG_ID"] >= ids[0]] == ids


def holder(real: RealSet) -> str:
    """As `msgx status` names it."""
    return str(real.msgx().ok("status", "--json").json["LEASE"]["HOLDER"])


def put(real: RealSet) -> int:
    """The next change of one of ten flights; its id. `SEQN`s of the sample day are lower."""
    number = next(_numbers)
    raw = flop(800_000 + number % 10, "GTDT", gate(f"B{number % 90 + 10}"), seqn=number)
    return real.mailbox.insert(PUT, raw.decode())


def done(real: RealSet, ids: list[int]) -> int:
    """How many of these messages have their fate."""
    ended = f"SELECT COUNT(*) AS N FROM PROC_STATE WHERE FINISHED_AT IS NOT NULL AND MSG_ID >= {ids[0]}"
    return int(real.sql(ended)[0]["N"])


def test_a_pooler_that_is_killed_is_an_outage_of_the_store(auto: tuple[RealSet, PrivatePooler]) -> None:
    """D-04: sessions are lost in the midst of it; nothing is counted, and all goes on when it is back."""
    real, pooler = auto
    with real.daemon() as daemon:
        ids = [put(real) for _ in range(200)]
        wait_until(lambda: done(real, ids) > 0, "nothing is done")
        pooler.server.kill()
        assert done(real, ids) < len(ids)
        wait_until(lambda: ("outage", "store") in said(real, "daemon"), "it says nothing")
        pooler.server.start()
        wait_until(lambda: done(real, ids) == len(ids), "not all is done")
        assert daemon.poll() is None
    ends = real.sql(f"SELECT DISTINCT STATE, ATTEMPTS FROM PROC_STATE WHERE MSG_ID >= {ids[0]}")
    assert ends == [{"STATE": "SUCCEEDED", "ATTEMPTS": 0}]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealSet]:
    with real_set(tmp_path_factory.mktemp("real"), **TIMEOUTS) as made:
        yield made


@pytest.mark.parametrize("service", ["store", "mailbox", "cache", "bus"])
def test_start_while_a_service_is_down(shared: RealSet, service: str) -> None:
    """It waits and says for what, and works when that comes (D-04)."""
    server = shared.servers[service]
    server.kill()
    if service != "mailbox":
        put(shared)
    with shared.daemon(service) as daemon:
        # Opening needs store and mailbox; cache and bus are met by the first step that needs them.
        told = "waiting-for" if service in {"store", "mailbox"} else "outage"
        wait_until(lambda: (told, service) in said(shared, service), "it says nothing")
        assert daemon.poll() is None
        server.start()
        if service == "bus":
            # The daemon's asking for a topic may have made it.
            with suppress(KafkaException):
                create_topics(shared.kafka.servers, TOPICS)
        if service == "mailbox":
            shared.mailbox.reconnect()
            put(shared)
        shared.wait_idle(20)
        daemon.terminate()
        assert daemon.wait(10) == 0
    ends = shared.sql("SELECT DISTINCT STATE, ATTEMPTS FROM PROC_STATE")
    assert ends == [{"STATE": "SUCCEEDED", "ATTEMPTS": 0}]


def said(real: RealSet, name: str) -> list[tuple[str, str | None]]:
    """Events and services of a daemon's log."""
    return [(line["event"], line.get("service")) for line in real.log(name)]
