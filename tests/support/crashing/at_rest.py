"""What holds at any moment, also right after a crash and before anybody has done anything about it."""

from __future__ import annotations

from collections.abc import Iterator

from crashing.memory import MemoryWorld
from msgx_core.ports.cache import CachePut

_ENDED = ("SUCCEEDED", "SKIPPED", "DEAD")
_FLIGHTS = """
SELECT F.FLID, F.STATE_VERSION, F.STATE = 'ACTIVE' AS LIVE, P.STATE,
    EXISTS (SELECT 1 FROM CACHE_PENDING C WHERE C.FLID = F.FLID) AS PENDING
FROM FLIGHT_SCHD F LEFT JOIN PROC_STATE P ON P.MSG_ID = F.LAST_MSG_ID
"""


def problems(world: MemoryWorld) -> list[str]:
    """R-135: marked after the end; INV-5: the cache never ahead; INV-10: nor behind what has succeeded."""
    return [*_marked_too_early(world), *_cache_ahead_or_behind(world)]


def _marked_too_early(world: MemoryWorld) -> Iterator[str]:
    marked = {row.msg_id for row in world.inbox.rows() if row.processed is not None}
    # One that is replayed was marked after its first end.
    for row in world.rows("SELECT MSG_ID, STATE FROM PROC_STATE WHERE BACKFILL_AT IS NULL"):
        if row["MSG_ID"] in marked and row["STATE"] not in _ENDED:
            yield f"message {row['MSG_ID']} is marked and {row['STATE']}"


def _cache_ahead_or_behind(world: MemoryWorld) -> Iterator[str]:
    entries, filled = world.cache.entries(), world.cache.store_id() == world.store_id()
    flights = {row["FLID"]: row for row in world.rows(_FLIGHTS)}
    floors = {row["FLID"]: row["STATE_VERSION"] for row in world.rows("SELECT * FROM FLIGHT_VERSION_FLOOR")}
    for flid, held in entries.items():
        known = flights[flid]["STATE_VERSION"] if flid in flights else floors.get(flid, 0)
        if held.version > known:
            yield f"flight {flid}: {held.version} in the cache, {known} in the store"
        if isinstance(held, CachePut) and flid not in flights and floors.get(flid, 0) == 0:
            yield f"flight {flid} is in the cache alone"
    for flid, flight in flights.items():
        entry = entries.get(flid)
        told = 0 if entry is None else entry.version
        # Of a deleted flight there need be nothing.
        behind = told < flight["STATE_VERSION"] and bool(flight["LIVE"] or told)
        if filled and behind and flight["STATE"] == "SUCCEEDED" and not flight["PENDING"]:
            yield f"flight {flid}: {told} in the cache, {flight['STATE_VERSION']} of a message that succeeded"
