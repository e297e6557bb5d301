"""What a value on the wire is worth, in the oracle's own words: it shares the tag tables with the product.

`None` is a value that is there and empty, `BAD` one that is not of its kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from msgx_core.model.sis import COLLECTIONS, FLOP_ROWS, MODEL_TAGS, SCALARS, Kind, OnEmpty
from msgx_core.testing.wire import PlainRecord, PlainValue

LOCAL = timedelta(hours=8)
"""The airport is in Shanghai: no summer time."""

BAD = object()
_LOOKS = {
    Kind.TEXT: r".*",
    Kind.DURATION: r"\d\d[0-5]\d",
    Kind.INTEGER: r"-?[0-9]{1,18}",
    Kind.DECIMAL: r"-?[0-9]{1,18}([.][0-9]{1,9})?",
    Kind.FLID: r"0*[1-9][0-9]*",
}


def local_time(text: Any) -> datetime | None:
    """The naive local time of `14MAR270805` (wire: Times)."""
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{2}[A-Z]{3}[0-9]{6}", text):
        return None
    try:
        return datetime.strptime(text.title(), "%d%b%y%H%M").replace(year=2000 + int(text[5:7]))
    except ValueError:
        return None


def instant(text: Any) -> datetime | None:
    """The instant of a local time of the airport."""
    local = local_time(text)
    return None if local is None else (local - LOCAL).replace(tzinfo=UTC)


def day_of(at: datetime | None, cutover: time) -> date | None:
    """D-09: the airport's day at an instant; it begins at the cut-over."""
    if at is None:
        return None
    began = timedelta(hours=cutover.hour, minutes=cutover.minute)
    return (at + LOCAL - began).date()


def day_start(day: date, cutover: time) -> datetime:
    """The first instant of a day."""
    return datetime.combine(day, cutover, UTC) - LOCAL


def day_end(at: datetime, cutover: time) -> datetime:
    """When the operation day of an instant is over."""
    began = timedelta(hours=cutover.hour, minutes=cutover.minute)
    return day_start((at + LOCAL - began).date() + timedelta(days=1), cutover)


def is_of(kind: Kind, text: str) -> bool:
    """Whether a text that is not empty is a value of that kind."""
    if kind is Kind.TIME:
        return local_time(text) is not None
    digits = len(text) <= 12 if kind is Kind.FLID else True
    return digits and re.fullmatch(_LOOKS[kind], text, re.DOTALL) is not None


def flid_of(record: PlainRecord) -> int:
    """The flight that a legal record names: compared by value."""
    return int(str(record["FLID"]))


def value_of(tag: str, sent: PlainValue) -> Any:
    """What would be stored of a tag; `None` where it is empty, `BAD` where it is no value (wire, D-14)."""
    if isinstance(sent, str):
        kind = SCALARS[tag].kind
        if not sent:
            return None
        if not is_of(kind, sent):
            return BAD
        return int(sent) if kind is Kind.FLID else sent
    if isinstance(sent, Mapping):
        said = {key: text for key, text in sent.items() if text}
        cleared = sent.get("DDES") == "" if tag == "FDIV" else "TEXT" not in said
        return None if cleared else said or None
    row = COLLECTIONS[tag]
    elements = [{key: text for key, text in element.items() if text} for element in sent]
    return tuple(elements[:4] if row.truncated else elements) or None


def worth(record: PlainRecord, among: Iterable[str] = MODEL_TAGS) -> dict[str, Any]:
    """Every tag of the model in a record, with what it is worth."""
    tags = set(among)
    return {tag: value_of(tag, sent) for tag, sent in record.items() if tag in tags}


def complete(record: PlainRecord) -> dict[str, Any]:
    """D-14: a complete record replaces; absent, empty and bad all mean that there is nothing."""
    return in_order({t: v for t, v in worth(record).items() if v is not None and v is not BAD})


def added(held: Mapping[str, Any], record: PlainRecord) -> dict[str, Any]:
    """D-17: an ADFT only sets."""
    return in_order({**held, **complete(record)})


def changed(held: Mapping[str, Any], styp: str, record: PlainRecord) -> dict[str, Any]:
    """D-18: a `FLOP` changes the tags of its row and no other; empty clears, or clears the whole row."""
    row = FLOP_ROWS[styp]
    said = worth(record, row.tags)
    cleared = {tag for tag, value in said.items() if value is None}
    if cleared and row.on_empty is OnEmpty.CLEAR_ALL_OF_ROW:
        cleared = set(row.tags)
    after = {**held, **said}
    return in_order({tag: value for tag, value in after.items() if tag not in cleared})


def bad_tags(record: PlainRecord) -> list[str]:
    """Tags of a complete record whose value is taken as absent (D-14)."""
    return [tag for tag, value in worth(record).items() if value is BAD]


def in_order(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Fields in the order of the tables."""
    return {tag: fields[tag] for tag in MODEL_TAGS if tag in fields}


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Tags whose value differs, in the order of the tables (D-28)."""
    return [tag for tag in MODEL_TAGS if before.get(tag) != after.get(tag)]
