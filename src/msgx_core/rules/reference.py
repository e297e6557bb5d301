"""Reference data and resource status (IMP §13, D-40, H-72 to H-76)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from msgx_core.errors import Malformed, Protocol
from msgx_core.model.message import Meta, Node, ReferencePackage
from msgx_core.model.reference import (
    PutRecord,
    RefChange,
    RefRecord,
    RemoveRecord,
    ReplaceCategory,
    ResourceStatus,
)
from msgx_core.model.sis import CATEGORIES, MAX_KEY_CHARS, MAX_VALUE_CHARS, RSTA, RSTA_STATUSES, RSTA_TYPES
from msgx_core.rules.coverage import check_count
from msgx_core.rules.operation_day import instant_of
from msgx_core.rules.policy import Policy
from msgx_core.rules.values import parse_time

MAX_REF_RECS = 999_999_999


def plan_reference(
    meta: Meta, package: ReferencePackage, *, msg_id: int, now: datetime, policy: Policy
) -> tuple[RefChange, ...]:
    """Changes of one of the 13 categories: full list, or records put or removed in order.

    Raises `Protocol` for counts, keys, a repeated key in a full list, and an empty full list unless allowed;
    `Malformed` when an increment carries no record.
    """
    check_count(package.recs, len(package.records), largest=MAX_REF_RECS)
    key_tag = CATEGORIES[meta.type].key
    records = [
        RefRecord(meta.type, _key(node, key_tag, index), node, msg_id, now)
        for index, node in enumerate(package.records)
    ]
    if meta.styp in ("DNLD", "RESP"):
        return (_full_list(meta.type, records, policy),)
    if not records:
        raise Malformed(f"payload-missing:{meta.type}", tag=meta.type)
    if meta.styp == "DEL":
        return tuple(RemoveRecord(r.rtype, r.rkey) for r in records)
    return tuple(PutRecord(r) for r in records)


def _full_list(rtype: str, records: list[RefRecord], policy: Policy) -> ReplaceCategory:
    if not records and not policy.ref_allow_empty:
        raise Protocol("empty-full-list", tag=rtype)
    seen: set[str] = set()
    for index, record in enumerate(records):
        if record.rkey in seen:
            raise Protocol(f"duplicate-key:{record.rkey}", tag=CATEGORIES[rtype].key, record=index)
        seen.add(record.rkey)
    return ReplaceCategory(rtype, tuple(records))


def _key(node: Node, tag: str, index: int) -> str:
    key = node.value(tag)
    if not key:
        raise Protocol(f"key-missing:{tag}", tag=tag, record=index)
    if len(key) > MAX_KEY_CHARS:
        raise Protocol(f"value-too-long:{tag}", tag=tag, text=key, record=index)
    _check_length(node, index)
    return key


def _check_length(node: Node, index: int) -> None:
    if any(len(text) > MAX_VALUE_CHARS for text in (node.text, *node.attributes.values())):
        raise Protocol(f"value-too-long:{node.tag}", tag=node.tag, record=index)
    for child in node.children:
        _check_length(child, index)


def plan_resource_status(
    meta: Meta, package: ReferencePackage, *, msg_id: int, now: datetime, policy: Policy
) -> tuple[RefChange, ...]:
    """`RSTA`: each record overwrites its resource; absence removes nothing (R-425).

    A `DNLD` has one record at most; an empty one changes nothing (D-40).
    """
    check_count(package.recs, len(package.records), largest=MAX_REF_RECS)
    if meta.styp == "DNLD" and len(package.records) > 1:
        raise Protocol(f"rsta-records:{len(package.records)}", tag=RSTA)
    changes = []
    for index, node in enumerate(package.records):
        _check_status(node, index, policy)
        key = f"{node.value('RTYP')}/{_key(node, 'RSID', index)}"
        changes.append(PutRecord(RefRecord(RSTA, key, node, msg_id, now)))
    return tuple(changes)


def _check_status(node: Node, index: int, policy: Policy) -> None:
    for tag, legal in (("RTYP", RSTA_TYPES), ("STAT", RSTA_STATUSES)):
        text = node.value(tag) or ""
        if text not in legal:
            raise Protocol(f"rsta-invalid:{tag}", tag=tag, text=text, record=index)
    for tag in ("STRT", "ENDT"):
        text = node.value(tag) or ""
        if text and parse_time(text) is None:
            raise Protocol(f"rsta-invalid:{tag}", tag=tag, text=text, record=index)
    starts_at, ends_at = _instant(node, "STRT", policy), _instant(node, "ENDT", policy)
    if starts_at is not None and ends_at is not None and ends_at <= starts_at:
        raise Protocol("rsta-invalid:ENDT", tag="ENDT", text=node.value("ENDT"), record=index)


def resource_status(record: RefRecord, policy: Policy) -> ResourceStatus:
    """The stored status behind an `RSTA` record, its window as instants."""
    return ResourceStatus(
        rtyp=record.node.value("RTYP") or "",
        rsid=record.node.value("RSID") or "",
        stat=record.node.value("STAT") or "",
        starts_at=_instant(record.node, "STRT", policy),
        ends_at=_instant(record.node, "ENDT", policy),
        msg_id=record.msg_id,
    )


def _instant(node: Node, tag: str, policy: Policy) -> datetime | None:
    local = parse_time(node.value(tag) or "")
    return None if local is None else instant_of(local, policy)


def is_available(status: ResourceStatus | None, at: datetime) -> bool:
    """Whether a resource is available at an instant: computed when read, no timer (D-40).

    Available by default; disabled from start (inclusive) to end (exclusive); without an end until a new
    message says otherwise (R-428 to R-430).
    """
    if status is None or status.stat != "D":
        return True
    if status.starts_at is not None and at < status.starts_at:
        return True
    return status.ends_at is not None and at >= status.ends_at


def statuses(records: Iterable[RefRecord], policy: Policy) -> tuple[ResourceStatus, ...]:
    """All stored statuses, in the given order."""
    return tuple(resource_status(record, policy) for record in records)
