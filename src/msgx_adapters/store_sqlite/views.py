"""Reads for people: messages, flights, events, counts. On a file they do not block the pump."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

import attrs

from msgx_adapters.store_sql import rows
from msgx_adapters.store_sql.documents import needle
from msgx_adapters.store_sqlite.reading import rosters_of, whole
from msgx_adapters.store_sqlite.session import SQL, Role
from msgx_adapters.store_sqlite.texts import day_text, stamp
from msgx_core.model.events import Target
from msgx_core.model.flight import FlightState
from msgx_core.model.reference import RefRecord
from msgx_core.model.request import Request
from msgx_core.model.schedule import Roster
from msgx_core.ports.operations import Counts, EventPlace, MessageFilter, Row

_STUCK = frozenset({"DEAD", "DISCARDED"})


class ViewRole(Role):
    """`ports.operations.Views`."""

    def counts(self) -> Counts:
        """Sizes, one consistent read."""
        messages: Counter[str] = Counter()
        codes: Counter[str] = Counter()
        events: defaultdict[str, dict[str, int]] = defaultdict(dict)
        db = self.reader
        with db.read():
            for row in db.rows(SQL["count_messages"]):
                messages[row["STATE"]] += row["N"]
                if row["ERROR_CODE"] is not None:
                    codes[row["ERROR_CODE"]] += row["N"]
            for row in db.rows(SQL["count_events"]):
                events[row["TARGET"]][row["STATUS"]] = row["N"]
            return Counts(
                messages=dict(messages),
                codes=dict(codes),
                flights={row["STATE"]: row["N"] for row in db.rows(SQL["count_flights"]) if row["N"]},
                writeback_pending=db.value(SQL["count_owed"]),
                writeback_abandoned=db.value(SQL["count_abandoned"]),
                events=dict(events),
                oldest_event_at={row["TARGET"]: row["OLDEST_AT"] for row in db.rows(SQL["oldest_events"])},
                alerts_open=db.value(SQL["count_alerts"]),
                requests_open=db.value(SQL["count_requests"]),
            )

    def messages(self, where: MessageFilter) -> Sequence[Row]:
        """`PROC_STATE` rows by `MSG_ID`."""
        values = attrs.asdict(where, recurse=False)
        newest = values.pop("newest")
        end = rows.MOST if newest else rows.LEAST
        after = end if where.after is None else where.after
        statement = "messages_newest" if newest else "messages"
        return self._people(statement, **{**values, "since": stamp(where.since), "after": after})

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
        values = {"day": day_text(day), "state": state, "after": after, "limit": limit}
        with self.reader.read():
            return whole(self.reader, self.reader.rows(SQL["flights"], values))

    def flight(self, flid: int) -> FlightState | None:
        """One whole flight, deleted ones included."""
        with self.reader.read():
            found = whole(self.reader, self.reader.rows(SQL["flight"], {"flid": flid}))
        return found[0] if found else None

    def raw_sections(self, flid: int) -> Mapping[str, str]:
        """`SRVT`/`VIPF` XML text of a flight (D-39)."""
        return {row["TAG"]: row["XML"] for row in self._people("raw_sections", flid=flid)}

    def flight_events(self, flid: int, target: str = Target.MSG.value) -> Sequence[Row]:
        """Events of a flight in one topic by `EVENT_ID`, payload parsed."""
        statement = "flight_events" if target == Target.MSG.value else "flight_full_events"
        return self._people(statement, flid=flid)

    def references(self, rtype: str, rkey: str | None = None) -> Sequence[RefRecord]:
        """Records of a category by key."""
        with self.reader.read():
            found = self.reader.rows(SQL["references"], {"rtype": rtype, "rkey": rkey})
        return [rows.reference(row) for row in found]

    def reference_page(
        self, rtype: str, limit: int = 100, after: str | None = None, text: str | None = None
    ) -> Sequence[RefRecord]:
        """Some records of a category by key."""
        text = None if text is None else needle(text)
        values = {"rtype": rtype, "limit": limit, "after": after, "text": text}
        with self.reader.read():
            found = self.reader.rows(SQL["reference_page"], values)
        return [rows.reference(row) for row in found]

    def reference_sizes(self) -> Sequence[Row]:
        """How many records each category has, and its last change."""
        return self._people("reference_sizes")

    def rosters(self, day: date | None = None) -> Sequence[Roster]:
        """Rosters by day."""
        with self.reader.read():
            days = [row["OPERATION_DAY"] for row in self.reader.rows(SQL["roster_days"])]
            found = rosters_of(self.reader, [each for each in days if day in {None, each}])
        return list(found.values())

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
        where = {"msg_id": msg_id, "flag": flag, "start": stamp(start), "end": stamp(end)}
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
        with self.reader.read():
            found = self.reader.rows(SQL["requests"], {"limit": limit, "before": before})
        return [rows.request(row) for row in found]

    def audit(self, limit: int = 100, after: int | None = None, target: int | None = None) -> Sequence[Row]:
        """Operator actions, newest first."""
        before = rows.MOST if after is None else after
        return self._people("audit", limit=limit, before=before, target=target)

    def _people(self, statement: str, **values: Any) -> list[dict[str, Any]]:
        with self.reader.read():
            found = self.reader.rows(SQL[statement], values)
        for row in found:
            for name in ("PAYLOAD", "FLAGS"):
                if row.get(name) is not None:
                    row[name] = rows.parsed(name, row[name])
        return [rows.for_people(row) for row in found]
