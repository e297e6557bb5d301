"""Invariants of what surrounds a message: events, cache, write-back, requests, alerts."""

from __future__ import annotations

import json
from collections import Counter

from msgx_core.ports.cache import CachePut
from tests.proof.plant.airport import OTHERS, Plant
from tests.proof.plant.look import Look
from tests.proof.plant.parts import SHANGHAI


def events_are_in_order(plant: Plant, before: Look, now: Look) -> None:
    """R-005, R-350, R-353, D-27: ids of each topic are consecutive, in the order of the commits."""
    outbox = plant.oracle.outbox
    notices = now.rows_of("KAFKA:msg")
    assert [row["EVENT_ID"] for row in notices] == list(range(1, len(outbox.msg) + 1))
    for rows, known in ((notices, outbox.msg), (now.rows_of("KAFKA:schd"), outbox.schd_by_version())):
        commits = [known[row["FLID"], row["STATE_VERSION"]].commit for row in rows]
        assert commits == sorted(commits)


def events_are_as_foretold(plant: Plant, before: Look, now: Look) -> None:
    """R-004, R-112, R-113, R-114, R-170, R-298, R-357, D-28, D-29: what is told of a step, how far it got."""
    outbox = plant.oracle.outbox
    for target, known in (("KAFKA:msg", outbox.msg), ("KAFKA:schd", outbox.schd_by_version())):
        rows = {(row["FLID"], row["STATE_VERSION"]): row for row in now.rows_of(target)}
        found = {key: (row["MSG_ID"], row["STATUS"]) for key, row in rows.items()}
        assert found == {key: (event.msg_id, event.status) for key, event in known.items()}, target
        tried = {key: row["ATTEMPTS"] for key, row in rows.items() if row["STATUS"] != "SENT"}
        assert tried == {key: event.attempts for key, event in known.items() if event.status != "SENT"}
    for key, event in outbox.msg.items():
        payload, step = now.notices[key], event.step
        assert payload["KIND"] == ("DELETE" if step.why_deleted else "UPSERT")
        assert payload.get("REASON") == step.why_deleted
        assert tuple(payload.get("CHANGED", ())) == step.changed
        assert payload.get("DAY_VERSION") == step.generation
        assert None not in payload.values(), "absent, never null (D-30)"


def the_bus_has_them_in_order(plant: Plant, before: Look, now: Look) -> None:
    """R-350, R-355, D-28: of a flight by `EVENT_ID`; repeats and what people let go again apart."""
    seen: dict[int, int] = {}
    told: set[int] = set()
    for notice in plant.topics.notices:
        flid, event_id = notice["FLID"], notice["EVENT_ID"]
        again = event_id in told or (flid, notice["STATE_VERSION"]) in plant.oracle.outbox.let_go_again
        assert again or event_id > seen.get(flid, 0), f"flight {flid}: event {event_id} after {seen[flid]}"
        seen[flid] = max(event_id, seen.get(flid, 0))
        told.add(event_id)
        payload = now.notices[flid, notice["STATE_VERSION"]]
        assert {**payload, "EVENT_ID": event_id} == notice, "what is on the bus was in the outbox"


def the_cache_is_never_newer_than_the_store(plant: Plant, before: Look, now: Look) -> None:
    """R-084, R-375, INV-5, INV-10, D-31: and it shows what the store held at that version."""
    for flid, entry in now.cache.items():
        assert entry.version <= now.version_of(flid), f"flight {flid}"
        flight = now.flights.get(flid)
        if flight is not None and entry.version == flight.version:
            assert isinstance(entry, CachePut) == flight.is_live
        if isinstance(entry, CachePut) and flight is not None and entry.version == flight.version:
            shown = json.loads(entry.document)
            assert {tag: shown.get(tag) for tag in flight.fields} == json.loads(
                json.dumps(dict(flight.fields))
            )
            assert (shown["STATE_VERSION"], entry.day) == (flight.version, flight.operation_day)


def the_cache_is_never_older_than_a_terminal_message(plant: Plant, before: Look, now: Look) -> None:
    """R-085, R-086, R-377, R-379, INV-10: what `SUCCEEDED` has done is there, until the cache is lost."""
    if plant.oracle.cache_lost:
        return
    for flid, version in plant.oracle.cached.items():
        entry = now.cache.get(flid)
        if entry is None:
            flight = now.flights.get(flid)
            assert flight is None or not flight.is_live, f"flight {flid} version {version} is missing"
        else:
            assert entry.version >= version, f"flight {flid}"


def write_back_comes_after_the_end(plant: Plant, before: Look, now: Look) -> None:
    """R-036, R-091, R-131, R-135, R-155, R-156, D-43: a mark is the time of an end that came before."""
    for msg_id, row in now.mailbox.items():
        mark = plant.oracle.messages[msg_id].mark
        ended = None if mark.on_row is None else mark.on_row.astimezone(SHANGHAI)
        shown = OTHERS if mark.by_others else None if ended is None else f"{ended:%Y-%m-%d %H:%M:%S}"
        assert row.processed == shown, f"message {msg_id}"


def write_back_is_as_foretold(plant: Plant, before: Look, now: Look) -> None:
    """R-132 to R-134, R-143 to R-151, D-38, H-25, H-28: owed, tried, written, given up."""
    for msg_id, row in now.messages.items():
        mark = plant.oracle.messages[msg_id].mark
        found = (
            row["BACKFILL_AT"] is not None,
            row["BACKFILL_NEXT_AT"] is not None,
            row["BACKFILL_ATTEMPTS"],
        )
        assert found == (mark.written_at is not None, mark.owed_at is not None, mark.attempts), f"{msg_id}"
        assert row["BACKFILL_ABANDONED_REASON"] == mark.abandoned


def requests_are_as_foretold(plant: Plant, before: Look, now: Look) -> None:
    """R-006, R-332 to R-339, R-412, D-32: one open one in each slot, sent once, answered by one message."""
    found = {r.request_id: (r.state.value, r.reason, r.resp_msg_id, r.seqn) for r in now.requests.values()}
    told = plant.oracle.requests.items()
    assert found == {
        i: (r.state, r.reason, r.answer, None if r.seqn is None else str(r.seqn)) for i, r in told
    }
    open_ = Counter(r.slot for r in now.requests.values() if r.is_open)
    assert max(open_.values(), default=1) == 1
    sent = Counter(row.text for row in plant.outbound.rows())
    assert max(sent.values(), default=1) == 1, "nothing is sent twice"


def alerts_are_as_foretold(plant: Plant, before: Look, now: Look) -> None:
    """R-129, R-145, R-146, R-191, D-41: with what they report, once, and none without a reason."""
    assert now.alerts == plant.oracle.alerts
