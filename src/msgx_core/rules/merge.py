"""Merging a message into the fields of a flight: complete record, ADFT, FLOP (IMP §12, D-14 to D-19)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from msgx_core.errors import Malformed
from msgx_core.model.flight import Fields, FieldValue, FlightState
from msgx_core.model.message import FlightRecord
from msgx_core.model.sis import FLOP_ROWS, MODEL_TAGS, FlopRow, OnEmpty
from msgx_core.rules.records import RecordValues, read_record
from msgx_core.rules.values import parse_flid

_ORDER = {tag: n for n, tag in enumerate(MODEL_TAGS)}


@frozen
class FlopUpdate:
    """What a `FLOP` sets and clears; tags it does not name stay."""

    flid: int
    sets: Mapping[str, FieldValue]
    clears: frozenset[str]
    truncated: int = 0


def merge_complete(values: RecordValues) -> Fields:
    """Fields after a complete record: what it carries and nothing else (C-6, D-14).

    >>> dict(merge_complete(RecordValues(7, {"FLNO": "QX1"}, frozenset({"STND"}))))
    {'FLNO': 'QX1'}
    """
    return in_order(values.values)


def merge_adft(fields: Fields, values: RecordValues) -> Fields:
    """Fields after an ADFT, which only sets (D-17).

    >>> dict(merge_adft({"ACFT": "73F"}, RecordValues(7, {"RENO": "B1"}, frozenset({"ACFT"}))))
    {'ACFT': '73F', 'RENO': 'B1'}
    """
    return in_order({**fields, **values.values})


def apply_flop(fields: Fields, update: FlopUpdate) -> Fields:
    """Fields after a `FLOP`: present replaces, empty clears, absent stays (D-18).

    >>> dict(apply_flop({"ESTT": "x", "STND": "2"}, FlopUpdate(7, {}, frozenset({"ESTT"}))))
    {'STND': '2'}
    """
    kept = {tag: value for tag, value in fields.items() if tag not in update.clears}
    return in_order({**kept, **update.sets})


def read_flop(styp: str, record: FlightRecord | None, *, max_points: int = 4) -> FlopUpdate:
    """Check a `FLOP` body against the row of its STYP; other tags are never parsed (D-18).

    Raises `Malformed` (`payload-missing:…`, `payload-empty:…`, `flid-invalid:…`, `bad-time:…`,
    `bad-number:…`) and `Protocol` (collections, length).
    """
    if record is None:
        raise Malformed("payload-missing:FLOP", tag="FLOP")
    flid = flop_flid(record)
    row = FLOP_ROWS[styp]
    if not record.tags.intersection(row.tags):
        raise Malformed(f"payload-missing:{styp}", flid=flid, record=0)
    read = read_record(record, flid, tags=row.tags, strict=True, max_points=max_points)
    clears = _clears(row, read)
    sets = {tag: value for tag, value in read.values.items() if tag not in clears}
    return FlopUpdate(flid, sets, clears, read.truncated)


def flop_flid(record: FlightRecord) -> int:
    """FLID of a `FLOP`, `FDEL` or `ADFT`; raises `Malformed` `flid-invalid:<text>`."""
    flid = parse_flid(record.flid or "")
    if flid is None:
        raise Malformed(
            f"flid-invalid:{(record.flid or '')[:40]}", tag="FLID", text=record.flid or "", record=0
        )
    return flid


def _clears(row: FlopRow, read: RecordValues) -> frozenset[str]:
    if not read.empty:
        return frozenset()
    match row.on_empty:
        case OnEmpty.MALFORMED:
            tag = min(read.empty)
            raise Malformed(f"payload-empty:{tag}", flid=read.flid, tag=tag, record=0)
        case OnEmpty.CLEAR_ALL_OF_ROW:
            return frozenset(row.tags)
        case OnEmpty.CLEAR:
            return read.empty


def in_order(fields: Mapping[str, FieldValue]) -> Fields:
    """The same fields in table order."""
    return dict(sorted(fields.items(), key=lambda item: _ORDER[item[0]]))


def changed_tags(before: Fields, after: Fields) -> tuple[str, ...]:
    """Tags whose value differs, in table order.

    >>> changed_tags({"FLNO": "1", "STND": "2"}, {"FLNO": "1", "GTDT": ({"GATE": "B"},)})
    ('STND', 'GTDT')
    """
    differing = [tag for tag in {**before, **after} if before.get(tag) != after.get(tag)]
    return tuple(sorted(differing, key=_ORDER.__getitem__))


def all_tags(state: FlightState) -> tuple[str, ...]:
    """All that a flight has, `MAFL` last: what changed for those who know nothing of it."""
    return (*changed_tags({}, state.fields), *(("MAFL",) if state.mafl else ()))
