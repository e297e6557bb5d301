"""The history sweep's side: flights leave, main flights step, cache keys are noted (D-33, D-37)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgx_adapters.store_postgres.flights import Flights, whole
from msgx_adapters.store_postgres.session import Role, json_of
from msgx_core.model.change import FlightPut
from msgx_core.model.flight import FlightState
from msgx_core.ports import Archived


class SweepingRole(Role):
    """`ports.Sweeping`."""

    def flights_after(self, after: int, limit: int) -> Sequence[FlightState]:
        """Whole flights in any state with FLID above `after`, by FLID."""
        return whole(self.read_rows("flights_after", after=after, limit=limit))

    def unfinished_message_ids(self) -> Sequence[int]:
        """Messages that are not finished and have been applied, by id."""
        return [row["MSG_ID"] for row in self.read_rows("unfinished_applied")]

    def archive_flights(self, gone: Sequence[Archived], notified: Sequence[FlightPut], now: datetime) -> None:
        """Remove flights and step main flights; `Conflict` when one is not at the version confirmed."""
        stepped = Flights.of(notified).parameters()
        notices: list[dict[str, Any]] = [
            _event(a.flid, a.version + 1, a.last_msg_id, a.tombstone) for a in gone if a.tombstone is not None
        ]
        notices += [_event_of(put, put.notice) for put in notified if put.notice is not None]
        documents = [_event_of(put, put.document) for put in notified if put.document is not None]
        self.fenced(
            "archive_flights",
            now=now,
            flids=[a.flid for a in gone],
            versions=[a.version for a in gone],
            old=stepped["old"],
            old_tags=stepped["old_tags"],
            notices=json_of(notices),
            documents=json_of(documents),
        )

    def cache_pending(self, limit: int) -> Mapping[int, int]:
        """FLIDs whose cache key must change, smallest first, and the version to leave there at least."""
        return {row["FLID"]: row["STATE_VERSION"] for row in self.read_rows("cache_pending", limit=limit)}

    def cache_settled(self, flids: Sequence[int]) -> None:
        """Those keys are done."""
        self.fenced("cache_settled", flids=list(flids))


def _event(flid: int, version: int, msg_id: int, payload: str | None) -> dict[str, Any]:
    return {"flid": flid, "version": version, "msg_id": msg_id, "payload": payload}


def _event_of(put: FlightPut, payload: str | None) -> dict[str, Any]:
    return _event(put.state.flid, put.state.version, put.state.last_msg_id, payload)
