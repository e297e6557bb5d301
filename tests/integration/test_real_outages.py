"""Each server stopped under traffic, frozen and killed, alone and all at once, then back (D-04)."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from embedded import System
from msgx_app.simulator import SimulationPlan, simulate
from msgx_core.model.sis import whitelist
from msgx_core.pipeline.pipeline import PipelineConfig
from msgx_core.rules.policy import Policy
from real_set import TIMEOUTS, TOPICS, RealSet, real_set
from services.base import wait_until
from services.kafka import create_topics

LONGER_THAN_ITS_TIMEOUT_S = 5.0
SERVICES = ("store", "mailbox", "cache", "bus")


@frozen
class Traffic:
    """A stretch of an airport's day in three parts, and what must come of it."""

    raws: Sequence[bytes]
    fates: dict[int, Any]
    documents: dict[int, dict[str, Any]]

    def part(self, n: int) -> Sequence[bytes]:
        """The first, second or last third."""
        third = len(self.raws) // 3
        return self.raws[n * third : (n + 1) * third if n < 2 else None]


@pytest.fixture(scope="module")
def traffic() -> Traffic:
    """An undisturbed run on the embedded set is the measure."""
    plan = SimulationPlan(seed=11, day=date(2027, 3, 14), flights=40)
    raws = [message.raw for message in simulate(plan)]
    config = PipelineConfig(policy=Policy(flop_whitelist=whitelist("extended")))
    system = System(None, config=config)
    system.send(raws)
    system.drain()
    documents = {
        flight.flid: _settled(system.document(flight.flid)) for flight in system.store.flights(limit=10_000)
    }
    fates = system.fates()
    system.close()
    return Traffic(raws, fates, documents)


@pytest.fixture
def real(tmp_path: Path) -> Iterator[RealSet]:
    with real_set(tmp_path, MSGX_FLOP_WHITELIST="extended", **TIMEOUTS) as made:
        yield made


def _settled(document: dict[str, Any]) -> dict[str, Any]:
    """A full state without the time of writing."""
    return json.loads(json.dumps({key: v for key, v in document.items() if key != "UPDATED_AT"}))  # type: ignore[no-any-return]


def put(real: RealSet, raws: Sequence[bytes]) -> None:
    """What upstream does: one row after the other."""
    statement = "INSERT INTO CMINMSGS (CMINMSGS_CLOB_MSG, CMINMSGS_DATE_RECEIVED) VALUES (%s, NOW())"
    for raw in raws:
        real.mailbox.insert(statement, raw.decode("utf-8"))


def culprits(real: RealSet) -> set[str]:
    """Services that `msgx status` names as not answering; it says so with exit code 4."""
    answer = real.msgx()("status", "--json")
    assert answer.code == 4
    return {row["SERVICE"] for row in answer.json["SERVICES"] if not row["OK"]}


def stop(real: RealSet, service: str, how: str) -> None:
    server = real.servers[service]
    server.freeze() if how == "frozen" else server.kill()


def bring_back(real: RealSet, service: str, how: str) -> None:
    server = real.servers[service]
    if how == "frozen":
        server.thaw()
        return
    server.start()
    if service == "bus":
        create_topics(real.kafka.servers, TOPICS)
    if service == "mailbox":
        real.mailbox.reconnect()


def check(real: RealSet, traffic: Traffic, *, bus_was_lost: bool) -> None:
    """Nothing lost, nothing doubled but on the bus, order per flight, nothing dead of it, nothing counted."""
    rows = real.msgx().ok("messages", "--json").json
    fates = {r["MSG_ID"]: (r["STATE"], r.get("ERROR_CODE"), r.get("REASON")) for r in rows}
    assert fates == traffic.fates
    assert {row["ATTEMPTS"] for row in rows} == {0}
    shown = real.msgx().ok("flights", "--json").json
    documents = {flight["FLID"]: flight for flight in shown}
    assert set(documents) == set(traffic.documents)
    for flid, expected in traffic.documents.items():
        found = _settled(documents[flid])
        assert {k: v for k, v in found.items() if k != "CREATED_AT"} == expected
    client = real.redis.client()
    for flid, expected in traffic.documents.items():
        text = client.get(f"msgx:flight:{flid}")
        assert (text is not None) == (expected["STATE"] == "ACTIVE"), flid
        if text is not None:
            assert _settled(json.loads(text)) == expected
    events = real.sql("SELECT STATUS, ATTEMPTS FROM MSG_EVENT")
    assert {(e["STATUS"], e["ATTEMPTS"]) for e in events} == {("SENT", 0)}
    if not bus_was_lost:
        in_order_and_complete(real)


def in_order_and_complete(real: RealSet) -> None:
    """Every notice is on the topic; per flight, what is new comes in EVENT_ID order (R-350)."""
    seen: dict[str | None, list[int]] = defaultdict(list)
    for key, value in real.topic("KAFKA_MSG"):
        if value["EVENT_ID"] not in seen[key]:
            seen[key].append(value["EVENT_ID"])
    for ids in seen.values():
        assert ids == sorted(ids)
    written = real.sql("SELECT EVENT_ID FROM MSG_EVENT WHERE TARGET = 'KAFKA:msg' ORDER BY EVENT_ID")
    assert sorted(i for ids in seen.values() for i in ids) == [row["EVENT_ID"] for row in written]
    assert [row["EVENT_ID"] for row in written] == list(range(1, len(written) + 1))


CASES = [(service, how) for service in SERVICES for how in ("frozen", "killed")]


@pytest.mark.parametrize(("service", "how"), [*CASES, ("all", "frozen")])
def test_a_server_is_stopped_under_traffic(real: RealSet, traffic: Traffic, service: str, how: str) -> None:
    """Longer than its timeout, then back: the culprit is named, and all ends as undisturbed (D-04, D-28,
    D-31, R-024, R-085, R-447)."""
    stopped = SERVICES if service == "all" else (service,)
    with real.daemon() as daemon:
        put(real, traffic.part(0))
        wait_until(lambda: any(real.marks().values()), "nothing was processed")
        if "mailbox" in stopped:
            put(real, traffic.part(1))
        for name in stopped:
            stop(real, name, how)
        if "mailbox" not in stopped:
            put(real, traffic.part(1))
        began = time.monotonic()
        named = culprits(real)
        time.sleep(max(0.0, LONGER_THAN_ITS_TIMEOUT_S - (time.monotonic() - began)))
        assert named == set(stopped)
        for name in stopped:
            bring_back(real, name, how)
        put(real, traffic.part(2))
        real.wait_idle(90)
        assert daemon.poll() is None
        check(real, traffic, bus_was_lost=(service, how) == ("bus", "killed"))
        told(real, stopped)


def told(real: RealSet, stopped: Sequence[str]) -> None:
    """One alert per outage, which ends with it (D-04)."""

    def alerts() -> list[dict[str, Any]]:
        return [row for row in real.msgx().ok("alerts", "--json").json if row["CODE"] == "OUTAGE"]

    wait_until(lambda: all("ENDED_AT" in row for row in alerts()), "an outage has no end", 30)
    met = [row["DETAIL"].partition(" ")[0] for row in alerts()]
    assert len(met) == len(set(met)), "one alert per outage"
    # With all of them gone at once, what waits for the first does not get to the next.
    assert set(met) == set(stopped) if len(stopped) == 1 else set(met) <= set(stopped)
    services = real.msgx().ok("status", "--json").json["SERVICES"]
    assert [row["SERVICE"] for row in services if "OUTAGE" in row] == []
