"""When everything that is wrong ends, everything comes to rest: nothing is lost, and all views agree."""

from __future__ import annotations

from collections.abc import Callable

from msgx_core.ports.cache import CachePut
from msgx_core.rules.render import is_newer
from tests.proof.invariants import check
from tests.proof.plant.airport import Plant
from tests.proof.plant.look import Look

ROUNDS, TICKS = 40, 60


def come_to_rest(plant: Plant, leader: Callable[[], str], seen: Look) -> Look:
    """Services are back, nobody refuses anything, time passes: work until nothing is left to be done."""
    plant.heal()
    for _ in range(ROUNDS):
        _round(plant, leader())
        seen = check(plant, seen)
        if _is_at_rest(plant):
            break
        plant.let_pass(130)
    assert _is_at_rest(plant), "a head, a mark, an event or a request is stuck"
    _nothing_is_left(plant, seen)
    _all_views_agree(plant, seen)
    return seen


def _round(plant: Plant, who: str) -> None:
    plant.work(who, "intake", lambda p: p.intake.scan())
    for _ in range(TICKS):
        if plant.oracle.foretell() != "done":
            break
        plant.work(who, "tick", lambda p: p.pump.tick())
    plant.work(who, "cache", lambda p: p.cache_keeper.ensure())
    plant.work(who, "write-back", lambda p: p.writeback.sweep())
    for _ in range(TICKS):
        if not any(plant.oracle.outbox.due(topic, plant.oracle.now) for topic in ("KAFKA:msg", "KAFKA:schd")):
            break
        plant.work(who, "relay", lambda p: p.msg_relay.run_once())
        plant.work(who, "relay", lambda p: p.schd_relay.run_once())
    plant.work(who, "requests", lambda p: p.requests.run())


def _is_at_rest(plant: Plant) -> bool:
    o = plant.oracle
    owed = any(
        m.is_final and m.mark.written_at is None and m.mark.abandoned is None for m in o.messages.values()
    )
    waiting = any(e.status == "PENDING" for e in (*o.outbox.msg.values(), *o.outbox.schd.values()))
    unsent = any(r.state == "PENDING" for r in o.requests.values())
    return o.head() is None and not (owed or waiting or unsent)


def _nothing_is_left(plant: Plant, now: Look) -> None:
    """R-031, R-110, R-131, D-04, D-05: every row has been taken in, has ended, and is marked or given up."""
    for msg_id, row in now.mailbox.items():
        message = plant.oracle.messages[msg_id]
        unseen = message.mark.by_others and not message.known
        assert message.known or unseen, f"message {msg_id} was never taken in"
        assert message.is_final or unseen
        assert row.processed is not None or message.mark.abandoned is not None


def _all_views_agree(plant: Plant, now: Look) -> None:
    """INV-5, R-351, D-28, D-31: cache, and a consumer that takes newer versions, have what the store has."""
    live = {flid: flight.version for flid, flight in now.flights.items() if flight.is_live}
    cached = {flid: e.version for flid, e in now.cache.items() if isinstance(e, CachePut)}
    # What was given up after its effect, because the cache refused it each time, waits for people's replay.
    given_up = {
        m.msg_id for m in plant.oracle.messages.values() if m.applied is not None and m.state == "DEAD"
    }
    behind = {flid for flid, flight in now.flights.items() if flight.last_msg_id in given_up}
    assert {f: v for f, v in cached.items() if f not in behind} == {
        f: v for f, v in live.items() if f not in behind
    }
    assert all(cached.get(flid, 0) <= now.flights[flid].version for flid in behind)
    held: dict[int, tuple[int, bool]] = {}
    for notice in plant.topics.notices:
        flid, version = notice["FLID"], notice["STATE_VERSION"]
        if is_newer(held[flid][0] if flid in held else None, version):
            held[flid] = (version, notice["KIND"] == "UPSERT")
    newest = {e.flid: e for e in sorted(plant.oracle.outbox.msg.values(), key=lambda e: e.version)}
    told = {flid for flid, event in newest.items() if event.status == "SENT"}
    assert {flid: v for flid, (v, is_live) in held.items() if is_live and flid in told} == {
        flid: version for flid, version in live.items() if flid in told
    }
