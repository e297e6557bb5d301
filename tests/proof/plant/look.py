"""One look at everything: the store, the mailbox, the cache and the bus, after a step."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Any, Self

from attrs import frozen

from msgx_adapters.inbox_memory import Row as MailRow
from msgx_core.model.flight import FlightState
from msgx_core.model.message import Node
from msgx_core.model.request import Request
from msgx_core.model.schedule import Roster
from msgx_core.ports.cache import CacheEntry
from tests.proof.plant.airport import Plant

_MESSAGES = """
SELECT MSG_ID, STATE, ERROR_CODE, REASON, IDENTITY_KEY, ATTEMPTS, APPLY_NO, TRYING, FINISHED_AT, BACKFILL_AT,
    BACKFILL_NEXT_AT, BACKFILL_ATTEMPTS, BACKFILL_ABANDONED_REASON
FROM PROC_STATE
"""
_EVENTS = (
    "SELECT TARGET, EVENT_ID, FLID, STATE_VERSION, MSG_ID, STATUS, ATTEMPTS FROM MSG_EVENT ORDER BY EVENT_ID"
)
_ALERTS = "SELECT ALERT_ID, CODE, MSG_ID, ACKED_AT FROM OPS_ALERT ORDER BY ALERT_ID"


@frozen
class Look:
    """Messages by id, flights and cache by FLID, the payloads of notices by flight and version."""

    messages: dict[int, dict[str, Any]]
    flights: dict[int, FlightState]
    floors: dict[int, int]
    rosters: dict[date, Roster]
    events: list[dict[str, Any]]
    notices: dict[tuple[int, int], dict[str, Any]]
    requests: dict[int, Request]
    references: dict[str, dict[str, Node]]
    alerts: Counter[tuple[str, int | None]]
    open_alerts: list[int]
    mailbox: dict[int, MailRow]
    cache: dict[int, CacheEntry]

    @classmethod
    def at(cls, plant: Plant) -> Self:
        """Look now."""
        store = plant.people.port
        events = plant.books.rows(_EVENTS)
        alerts = plant.books.rows(_ALERTS)
        told = store.events(target="KAFKA:msg", limit=10_000)
        return cls(
            messages={row["MSG_ID"]: row for row in plant.books.rows(_MESSAGES)},
            flights={flight.flid: flight for flight in store.flights(limit=10_000)},
            floors={flid: version for flid, (version, _) in store.floors().items()},
            rosters={roster.day: roster for roster in store.rosters()},
            events=events,
            notices={(row["FLID"], row["STATE_VERSION"]): row["PAYLOAD"] for row in told},
            requests={request.request_id: request for request in store.requests(10_000)},
            references={
                rtype: {record.rkey: record.node for record in store.references(rtype)}
                for rtype in plant.oracle.references
            },
            alerts=Counter((row["CODE"], row["MSG_ID"]) for row in alerts),
            open_alerts=[row["ALERT_ID"] for row in alerts if row["ACKED_AT"] is None],
            mailbox={row.msg_id: row for row in plant.inbox.rows()},
            cache=plant.cache.entries(),
        )

    def version_of(self, flid: int) -> int:
        """The version of a flight that was there once; of one that has left, its floor (D-37)."""
        return self.flights[flid].version if flid in self.flights else self.floors[flid]

    @property
    def dead_events(self) -> list[dict[str, Any]]:
        """Outbox rows that wait for people."""
        return [row for row in self.events if row["STATUS"] == "DEAD"]

    def rows_of(self, target: str) -> list[dict[str, Any]]:
        """Outbox rows of one topic by `EVENT_ID`."""
        return [row for row in self.events if row["TARGET"] == target]
