"""Reads of the three steps: flights are loaded whole, in bulk, in one consistent read (R-464)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime

from msgx_adapters.store_sql import rows
from msgx_adapters.store_sql.documents import dump_list
from msgx_adapters.store_sqlite.connection import Connection, Row
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.model.change import FlightQuery, FlightSnapshot
from msgx_core.model.flight import Child, FlightState
from msgx_core.model.request import Request, RequestSlot
from msgx_core.model.schedule import Roster, SenderMark


class ReadingRole(Role):
    """The reads of `ports.store.Effects`."""

    def read(self, query: FlightQuery) -> FlightSnapshot:
        """What a decision needs."""
        with self.db.read():
            rosters = rosters_of(self.db, query.roster_days)
            in_interval = self._in_interval(query)
            members = frozenset[int]().union(*(roster.flids for roster in rosters.values()))
            asked = query.flids | members
            flights = self._family(asked | in_interval, query.maids)
            days = {state.operation_day for state in flights.values() if state.operation_day is not None}
            days |= query.days
            missing = asked - flights.keys()
            return FlightSnapshot(
                flights=flights,
                floors=self._floors(missing),
                rosters=rosters,
                generations={
                    **generations_of(self.db, days),
                    **{day: roster.version for day, roster in rosters.items()},
                },
                in_interval=in_interval,
                sender=self._sender_mark(query.sndr),
            )

    def touched_by(self, msg_id: int) -> Sequence[FlightState]:
        """Flights whose `LAST_MSG_ID` is this message, whole, by FLID."""
        with self.db.read():
            return whole(self.db, self.db.rows(SQL["touched_by"], {"msg_id": msg_id}))

    def live_flights(self, after: int, limit: int) -> Sequence[FlightState]:
        """Live flights with FLID above `after`, whole, by FLID."""
        with self.db.read():
            return whole(self.db, self.db.rows(SQL["live_flights"], {"after": after, "limit": limit}))

    def open_requests(self, slot: RequestSlot, expired_since: datetime | None = None) -> Sequence[Request]:
        """Open requests of the slot and those that expired unanswered since then; newest first."""
        values = {"slot": slot.value, "expired_since": stamp(expired_since)}
        with self.db.read():
            found = self.db.rows(SQL["open_requests"], values)
        return [rows.request(row) for row in found]

    def _in_interval(self, query: FlightQuery) -> frozenset[int]:
        if query.interval is None:
            return frozenset()
        first, last = query.interval
        found = self.db.rows(SQL["in_interval"], {"first": stamp(first), "last": stamp(last)})
        return frozenset(row["FLID"] for row in found)

    def _family(self, asked: frozenset[int], maids: frozenset[int]) -> Mapping[int, FlightState]:
        """What was asked for, its main flights, and every live child of any of these, whole."""
        if not asked and not maids:
            return {}
        values = {"asked": dump_list(sorted(asked)), "maids": dump_list(sorted(maids))}
        flights = rows.flights(self.db.rows(SQL["family"], values))
        children = [
            (state.main_flid, state.as_child)
            for state in flights
            if state.is_live and state.main_flid is not None
        ]
        return {state.flid: state for state in rows.with_mafl(flights, children)}

    def _floors(self, flids: Iterable[int]) -> Mapping[int, int]:
        wanted = sorted(flids)
        if not wanted:
            return {}
        found = self.db.rows(SQL["floors_of"], {"flids": dump_list(wanted)})
        return {row["FLID"]: row["STATE_VERSION"] for row in found}

    def _sender_mark(self, sndr: str | None) -> SenderMark | None:
        row = None if sndr is None else self.db.row(SQL["sender"], {"sndr": sndr})
        return None if row is None else rows.sender_mark(row)


def whole(db: Connection, found: Sequence[Row]) -> list[FlightState]:
    """Flights from their rows, with `MAFL` from their live children, in a running transaction."""
    flights = rows.flights(found)
    mains = [state.flid for state in flights if state.carries_mafl]
    if not mains:
        return flights
    children = db.rows(SQL["children_of"], {"flids": dump_list(mains)})
    return rows.with_mafl(flights, ((c["MAID"], Child(c["FLID"], c["FLNO"])) for c in children))


def generations_of(db: Connection, days: Iterable[date]) -> dict[date, int]:
    """The roster generation of each of these days; 0 where it was never covered."""
    wanted = sorted(days)
    if not wanted:
        return {}
    found = db.rows(SQL["generations_of"], {"days": dump_list([day.isoformat() for day in wanted])})
    return dict.fromkeys(wanted, 0) | {row["OPERATION_DAY"]: row["VERSION"] for row in found}


def rosters_of(db: Connection, days: Iterable[date]) -> dict[date, Roster]:
    """The roster of each of these days, empty ones too."""
    wanted = sorted(days)
    if not wanted:
        return {}
    members: defaultdict[date, set[int]] = defaultdict(set)
    for row in db.rows(SQL["rosters_of"], {"days": dump_list([day.isoformat() for day in wanted])}):
        members[row["OPERATION_DAY"]].add(row["FLID"])
    versions = generations_of(db, wanted)
    return {day: Roster(day, versions[day], frozenset(members[day])) for day in wanted}
