"""The history sweep's side: flights leave, main flights step, cache keys are noted (D-33, D-37)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from msgx_adapters.store_sql.documents import dump_list
from msgx_adapters.store_sqlite import flights
from msgx_adapters.store_sqlite.reading import whole
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.errors import Conflict
from msgx_core.model.change import FlightPut
from msgx_core.model.flight import FlightState
from msgx_core.ports import Archived


class SweepingRole(Role):
    """`ports.Sweeping`."""

    def flights_after(self, after: int, limit: int) -> Sequence[FlightState]:
        """Whole flights in any state with FLID above `after`, by FLID."""
        with self.reader.read():
            found = self.reader.rows(SQL["flights_after"], {"after": after, "limit": limit})
            return whole(self.reader, found)

    def unfinished_message_ids(self) -> Sequence[int]:
        """Messages that are not finished and have been applied, by id."""
        with self.db.read():
            return [row["MSG_ID"] for row in self.db.rows(SQL["unfinished_applied"])]

    def archive_flights(self, gone: Sequence[Archived], notified: Sequence[FlightPut], now: datetime) -> None:
        """Remove flights and step main flights; `Conflict` when one is not at the version confirmed."""
        removed = [{"flid": a.flid, "version": a.version, "now": stamp(now)} for a in gone]
        with self.fenced() as epoch:
            if removed and self.db.run_many(SQL["remove_flight"], removed) != len(removed):
                raise Conflict(f"one of {len(removed)} flights is not at the version that was confirmed")
            flids = dump_list([a.flid for a in gone])
            self.db.run(SQL["drop_documents"], {"flids": flids})
            self.db.run(SQL["roster_remove"], {"flids": flids})
            self.db.run_many(SQL["put_floor"], removed)
            flights.advance(self.db, notified, epoch)
            self._events(gone, notified, now, epoch)
            keys = {a.flid: a.version + 1 for a in gone} | {p.state.flid: p.state.version for p in notified}
            pending = [{"flid": flid, "version": v, "now": stamp(now)} for flid, v in keys.items()]
            self.db.run_many(SQL["put_pending_key"], pending)

    def _events(
        self, gone: Sequence[Archived], notified: Sequence[FlightPut], now: datetime, epoch: int
    ) -> None:
        shared = {"now": stamp(now), "epoch": epoch}
        notices: list[dict[str, Any]] = [
            _event(a.flid, a.version + 1, a.last_msg_id, a.tombstone) for a in gone if a.tombstone is not None
        ]
        notices += [_event_of(put, put.notice) for put in notified if put.notice is not None]
        documents = [_event_of(put, put.document) for put in notified if put.document is not None]
        counts = {"event_msg": len(notices), "event_schd": len(documents)}
        counters = {row["NAME"]: row["VALUE"] for row in self.db.rows(SQL["count_more_events"], counts)}
        for statement, name, events in (
            ("insert_notice", "event_msg", notices),
            ("put_document", "event_schd", documents),
        ):
            first = counters[name] - len(events) + 1
            numbered = [{"event_id": n, **event, **shared} for n, event in enumerate(events, start=first)]
            self.db.run_many(SQL[statement], numbered)

    def cache_pending(self, limit: int) -> Mapping[int, int]:
        """FLIDs whose cache key must change, smallest first, and the version to leave there at least."""
        with self.db.read():
            found = self.db.rows(SQL["cache_pending"], {"limit": limit})
        return {row["FLID"]: row["STATE_VERSION"] for row in found}

    def cache_settled(self, flids: Sequence[int]) -> None:
        """Those keys are done."""
        with self.fenced():
            self.db.run(SQL["cache_settled"], {"flids": dump_list(list(flids))})


def _event(flid: int, version: int, msg_id: int, payload: str | None) -> dict[str, Any]:
    return {"flid": flid, "version": version, "msg_id": msg_id, "payload": payload}


def _event_of(put: FlightPut, payload: str | None) -> dict[str, Any]:
    return _event(put.state.flid, put.state.version, put.state.last_msg_id, payload)
