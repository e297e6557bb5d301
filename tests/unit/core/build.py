"""Builders of core values for tests: short to write, nothing random."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from msgx_core.model.flight import Child, FieldValue, FlightState, FlightStatus
from msgx_core.model.message import FlightRecord, Meta, Node, SchedulePackage
from msgx_core.rules.merge import in_order
from msgx_core.rules.operation_day import sodt_instant
from msgx_core.rules.policy import Policy
from msgx_core.rules.values import format_time
from msgx_core.testing.wire import PlainValue, flight_record

SHANGHAI = ZoneInfo("Asia/Shanghai")
POLICY = Policy(airport_zone=SHANGHAI, sis_zone=SHANGHAI)
NOW = datetime(2027, 3, 14, 6, 0, tzinfo=UTC)
DAY = date(2027, 3, 14)
NEXT_DAY = date(2027, 3, 15)

Tag = PlainValue


def sodt(day: date = DAY, hour: int = 12, minute: int = 0) -> str:
    """A `SODT` on the wire: that local time of that day."""
    return format_time(datetime.combine(day, time(hour, minute)))


def at(day: date = DAY, hour: int = 12, minute: int = 0) -> datetime:
    """The instant of `sodt(day, hour, minute)` in Shanghai."""
    return datetime.combine(day, time(hour, minute), SHANGHAI).astimezone(UTC)


def record(flid: int | str | None = 7, /, **tags: Tag) -> FlightRecord:
    """A record as the codec gives it: text is a scalar, a mapping one element, a sequence several."""
    return flight_record(tags, flid)


def package(*records: FlightRecord, recs: str | None = "right") -> SchedulePackage:
    """A schedule body; `RECS` is right unless given (None: no tag)."""
    return SchedulePackage(str(len(records)) if recs == "right" else recs, records)


def flight(
    flid: int = 7,
    *,
    day: date | None = DAY,
    version: int = 1,
    live: bool = True,
    mafl: Sequence[Child] = (),
    **fields: FieldValue,
) -> FlightState:
    """A stored flight, last written by message 1."""
    return FlightState(
        flid=flid,
        status=FlightStatus.ACTIVE if live else FlightStatus.DELETED,
        version=version,
        operation_day=day,
        fields=in_order(fields),
        last_msg_id=1,
        created_at=NOW,
        updated_at=NOW,
        sodt_at=sodt_instant(fields, POLICY),
        mafl=tuple(mafl),
    )


def meta(type_: str = "SCHD", styp: str = "DNLD", seqn: str = "8", dttm: str = "20270314060000") -> Meta:
    """Metadata from `AODB`."""
    return Meta("AODB", seqn, dttm, type_, styp)


def node(tag: str, **children: str | Sequence[str]) -> Node:
    """A reference record of text children; a sequence repeats its tag."""
    parts = [
        Node(name, text)
        for name, texts in children.items()
        for text in ((texts,) if isinstance(texts, str) else texts)
    ]
    return Node(tag, children=tuple(parts))
