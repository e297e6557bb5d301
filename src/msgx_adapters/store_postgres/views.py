"""Reads for people: messages, flights, events, counts. None of them blocks the pump."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import attrs

from msgx_adapters.store_postgres.flights import whole
from msgx_adapters.store_postgres.session import Role
from msgx_adapters.store_sql import rows
from msgx_adapters.store_sql.documents import needle
from msgx_core.model.events import Target
from msgx_core.model.flight import FlightState
from msgx_core.model.reference import RefRecord
from msgx_core.model.request import Request
from msgx_core.model.schedule import Roster
from msgx_core.ports.operations import Counts, EventPlace, MessageFilter, Row

_STUCK = frozenset({"DEAD", "DISCARDED"})
_NOT_FOR_PEOPLE = frozenset({"TOUCHED"})


class ViewRole(Role):
    """`ports.operations.Views`."""

    def counts(self) -> Counts:
        """Sizes, one consistent read."""
        (row,) = self.read_rows("counts")
        messages: Counter[str] = Counter()
        codes: Counter[str] = Counter()
        for state, code, number in json.loads(row["UNSUCCESSFUL"] or "[]"):
            messages[state] += number
            if code is not None:
                codes[code] += number
        messages["SUCCEEDED"] = row["MESSAGES"] - messages.total()
        events = {"KAFKA:msg": {"SENT": row["ALL_MSG"]}, "KAFKA:schd": {"SENT": row["ALL_SCHD"]}}
        for target, status, number in json.loads(row["UNSENT"] or "[]"):
            events[target][status] = number
            events[target]["SENT"] -= number
        shown = {target: {s: n for s, n in statuses.items() if n} for target, statuses in events.items()}
        oldest = {"KAFKA:msg": row["OLDEST_MSG"], "KAFKA:schd": row["OLDEST_SCHD"]}
        return Counts(
            messages={state: number for state, number in messages.items() if number},
            codes=dict(codes),
            flights={state: number for state, number in json.loads(row["FLIGHTS"]) if number},
            writeback_pending=row["OWED"],
            writeback_abandoned=row["ABANDONED"],
            events={target: statuses for target, statuses in shown.items() if statuses},
            oldest_event_at={target: at for target, at in oldest.items() if at is not None},
            alerts_open=row["ALERTS"],
            requests_open=row["REQUESTS"],
        )

    def messages(self, where: MessageFilter) -> Sequence[Row]:
        """`PROC_STATE` rows by `MSG_ID`."""
        values = attrs.asdict(where, recurse=False)
        newest = values.pop("newest")
        end = rows.MOST if newest else rows.LEAST
        after = end if where.after is None else where.after
        statement = "messages_newest" if newest else "messages"
        return self._people(statement, **{**values, "after": after})

    def failures(self, limit: int = 100) -> Sequence[Row]:
        """`FAILED` and `DEAD` messages by state, code and kind of reason; the newest group first."""
        return self._people("failures", limit=limit)

    def message(self, msg_id: int) -> Row | None:
        """One row with all its columns."""
        found = self._people("message", msg_id=msg_id)
        return found[0] if found else None

    def message_events(self, msg_id: int) -> Sequence[Row]:
        """`msg` events that the message wrote, payload parsed."""
        return self._people("message_events", msg_id=msg_id)

    def flights(
        self, day: date | None = None, state: str | None = None, after: int = 0, limit: int = 100
    ) -> Sequence[FlightState]:
        """Whole flights by FLID."""
        name = "flights" if day is None else "flights_of_day"
        return whole(self.read_rows(name, day=day, state=state, after=after, limit=limit))

    def flight(self, flid: int) -> FlightState | None:
        """One whole flight, deleted ones included."""
        found = whole(self.read_rows("flight", flid=flid))
        return found[0] if found else None

    def raw_sections(self, flid: int) -> Mapping[str, str]:
        """`SRVT`/`VIPF` XML text of a flight (D-39)."""
        return {row["TAG"]: row["XML"] for row in self.read_rows("raw_sections", flid=flid)}

    def flight_events(self, flid: int, target: str = Target.MSG.value) -> Sequence[Row]:
        """Events of a flight in one topic by `EVENT_ID`, payload parsed."""
        statement = "flight_events" if target == Target.MSG.value else "flight_full_events"
        return self._people(statement, flid=flid)

    def references(self, rtype: str, rkey: str | None = None) -> Sequence[RefRecord]:
        """Records of a category by key."""
        return [rows.reference(row) for row in self.read_rows("references", rtype=rtype, rkey=rkey)]

    def reference_page(
        self, rtype: str, limit: int = 100, after: str | None = None, text: str | None = None
    ) -> Sequence[RefRecord]:
        """Some records of a category by key."""
        text = None if text is None else needle(text)
        values = {"rtype": rtype, "limit": limit, "after": after, "text": text}
        found = self.read_rows("reference_page", **values)
        return [rows.reference(row) for row in found]

    def reference_sizes(self) -> Sequence[Row]:
        """How many records each category has, and its last change."""
        return self._people("reference_sizes")

    def rosters(self, day: date | None = None) -> Sequence[Roster]:
        """Rosters by day."""
        found = self.read_rows("rosters", day=day)
        return [Roster(row["OPERATION_DAY"], row["VERSION"], frozenset(row["FLIDS"])) for row in found]

    def writebacks(
        self, abandoned: bool = False, limit: int = 100, after: int | None = None
    ) -> Sequence[Row]:
        """Owed (or abandoned) write-backs by `MSG_ID`."""
        statement = "writebacks_abandoned" if abandoned else "writebacks_owed"
        return self._people(statement, limit=limit, after=rows.LEAST if after is None else after)

    def events(
        self,
        status: str | None = None,
        target: str | None = None,
        limit: int = 100,
        after: EventPlace | None = None,
    ) -> Sequence[Row]:
        """Outbox rows by `EVENT_ID`, payload parsed."""
        statement = "events_stuck" if status in _STUCK else "events"
        event_id, topic = (rows.LEAST, "") if after is None else after
        return self._people(statement, status=status, target=target, limit=limit, after=event_id, topic=topic)

    def snapshots(
        self,
        limit: int = 100,
        after: int | None = None,
        msg_id: int | None = None,
        *,
        between: tuple[datetime, datetime] | None = None,
        flag: str | None = None,
    ) -> Sequence[Row]:
        """Schedule log, newest first."""
        before = rows.MOST if after is None else after
        start, end = (None, None) if between is None else between
        where = {"msg_id": msg_id, "flag": flag, "start": start, "end": end}
        return self._people("snapshots", limit=limit, before=before, **where)

    def alerts(
        self,
        acknowledged: bool = False,
        limit: int = 100,
        after: int | None = None,
        msg_id: int | None = None,
    ) -> Sequence[Row]:
        """Open alerts, or all; by id."""
        statement = "alerts_all" if acknowledged else "alerts_open"
        behind = rows.LEAST if after is None else after
        return self._people(statement, limit=limit, after=behind, msg_id=msg_id)

    def requests(self, limit: int = 100, after: int | None = None) -> Sequence[Request]:
        """Requests, newest first."""
        before = rows.MOST if after is None else after
        return [rows.request(row) for row in self.read_rows("requests", limit=limit, before=before)]

    def audit(self, limit: int = 100, after: int | None = None, target: int | None = None) -> Sequence[Row]:
        """Operator actions, newest first."""
        before = rows.MOST if after is None else after
        return self._people("audit", limit=limit, before=before, target=target)

    def _people(self, statement: str, /, **values: Any) -> list[dict[str, Any]]:
        found = self.read_rows(statement, **values)
        for row in found:
            for name in ("PAYLOAD", "FLAGS"):
                if row.get(name) is not None:
                    row[name] = rows.parsed(name, row[name])
        return [
            {name: value for name, value in rows.for_people(row).items() if name not in _NOT_FOR_PEOPLE}
            for row in found
        ]
