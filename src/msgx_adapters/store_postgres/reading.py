"""Reads of the three steps: flights are loaded whole, in bulk, by one statement (R-464)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime

from msgx_adapters.store_postgres.flights import Row, states_of, whole
from msgx_adapters.store_postgres.session import Role
from msgx_adapters.store_sql import rows
from msgx_core.model.change import FlightQuery, FlightSnapshot
from msgx_core.model.flight import FlightState
from msgx_core.model.request import Request, RequestSlot
from msgx_core.model.schedule import Roster


class ReadingRole(Role):
    """The reads of `ports.store.Effects`."""

    def read(self, query: FlightQuery) -> FlightSnapshot:
        """What a decision needs."""
        first, last = (None, None) if query.interval is None else query.interval
        found = self.read_rows(
            "read",
            flids=sorted(query.flids),
            maids=sorted(query.maids),
            roster_days=sorted(query.roster_days) or None,
            days=sorted(query.days | query.roster_days) or None,
            first=first,
            last=last,
            sndr=query.sndr,
        )
        return _snapshot(query, found)

    def touched_by(self, msg_id: int) -> Sequence[FlightState]:
        """Flights whose `LAST_MSG_ID` is this message, whole, by FLID."""
        return whole(self.read_rows("touched_by", msg_id=msg_id))

    def live_flights(self, after: int, limit: int) -> Sequence[FlightState]:
        """Live flights with FLID above `after`, whole, by FLID."""
        return whole(self.read_rows("live_flights", after=after, limit=limit))

    def open_requests(self, slot: RequestSlot, expired_since: datetime | None = None) -> Sequence[Request]:
        """Open requests of the slot and those that expired unanswered since then; newest first."""
        found = self.read_rows("open_requests", slot=slot.value, expired_since=expired_since)
        return [rows.request(row) for row in found]


def _snapshot(query: FlightQuery, found: Sequence[Row]) -> FlightSnapshot:
    parts: defaultdict[str, list[Row]] = defaultdict(list)
    for row in found:
        parts[row["PART"]].append(row)
    flights = sorted(states_of(parts["flight"]), key=lambda state: state.flid)
    children = [
        (state.main_flid, state.as_child)
        for state in flights
        if state.is_live and state.main_flid is not None
    ]
    generations: dict[date, int] = dict.fromkeys(query.days | query.roster_days, 0)
    for row in (*parts["flight"], *parts["generation"]):
        if row["OPERATION_DAY"] is not None:
            generations[row["OPERATION_DAY"]] = row["GENERATION"] or 0
    members: defaultdict[date, set[int]] = defaultdict(set)
    for row in parts["member"]:
        members[row["OPERATION_DAY"]].add(row["FLID"])
    sender = [rows.sender_mark(_upper(json.loads(row["CONTENT"]))) for row in parts["sender"]]
    return FlightSnapshot(
        flights={state.flid: state for state in rows.with_mafl(flights, children)},
        floors={row["FLID"]: row["STATE_VERSION"] for row in parts["floor"]},
        rosters={day: Roster(day, generations[day], frozenset(members[day])) for day in query.roster_days},
        generations=generations,
        in_interval=frozenset(row["FLID"] for row in parts["interval"]),
        sender=sender[0] if sender else None,
    )


def _upper(row: Row) -> Row:
    return {name.upper(): value for name, value in row.items()}
