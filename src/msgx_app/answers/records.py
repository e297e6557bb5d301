"""What a message does to reference data, record by record and tag by tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgx_core.model.message import Node
from msgx_core.model.reference import PutRecord, RefChange, RefRecord, RemoveRecord, ReplaceCategory
from msgx_core.pipeline.ref_lists import RefLists


def record_changes(change: RefChange, before: RefLists) -> list[dict[str, Any]]:
    """Every tag of a record that differs, with its text before and after; no key: there is none."""
    return [
        {"RKEY": rkey, "TAG": tag, "BEFORE": old.get(tag), "AFTER": new.get(tag)}
        for rkey, old, new in _records(change, before)
        for tag in {**new, **old}
        if old.get(tag) != new.get(tag)
    ]


def _records(
    change: RefChange, before: RefLists
) -> Iterator[tuple[str, Mapping[str, str], Mapping[str, str]]]:
    rtype = change.record.rtype if isinstance(change, PutRecord) else change.rtype
    held = before.records.get(rtype, {})
    match change:
        case ReplaceCategory(records=records):
            new = {record.rkey: record for record in records}
        case PutRecord(record):
            new, held = {record.rkey: record}, _only(held, record.rkey)
        case RemoveRecord(rkey=rkey):
            new, held = {}, _only(held, rkey)
    for key in {**new, **held}:
        yield key, _tags(held.get(key)), _tags(new.get(key))


def _only(records: Mapping[str, RefRecord], rkey: str) -> dict[str, RefRecord]:
    return {rkey: records[rkey]} if rkey in records else {}


def _tags(record: RefRecord | None) -> dict[str, str]:
    """The texts of a record by their path below it; `[2]`: the second of that tag; `@`: an attribute."""
    return {} if record is None else dict(_texts(record.node, ""))


def _texts(node: Node, path: str) -> Iterator[tuple[str, str]]:
    for name, value in node.attributes.items():
        yield f"{path}@{name}", value
    if path and (node.text or not (node.children or node.attributes)):
        yield path, node.text
    seen: Counter[str] = Counter()
    for child in node.children:
        seen[child.tag] += 1
        place = child.tag if seen[child.tag] == 1 else f"{child.tag}[{seen[child.tag]}]"
        yield from _texts(child, f"{path}/{place}" if path else place)
