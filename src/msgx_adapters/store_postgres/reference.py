"""Reference data as JSON for `PUT_REFERENCE` (IMP §13.3, D-40)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgx_adapters.store_postgres.values import stamp
from msgx_core.model.message import Node
from msgx_core.model.reference import PutRecord, RefChange, RefRecord, ReplaceCategory


def reference_json(changes: Iterable[RefChange]) -> list[dict[str, Any]]:
    """The changes in their order."""
    return [_change(change) for change in changes]


def _change(change: RefChange) -> dict[str, Any]:
    if isinstance(change, ReplaceCategory):
        return {"rtype": change.rtype, "all": True, "records": [_record(r) for r in change.records]}
    if isinstance(change, PutRecord):
        return {"rtype": change.record.rtype, "records": [_record(change.record)]}
    return {"rtype": change.rtype, "remove": change.rkey}


def _record(record: RefRecord) -> dict[str, Any]:
    return {
        "rkey": record.rkey,
        "payload": tree(record.node),
        "msg_id": record.msg_id,
        "updated_at": stamp(record.updated_at),
    }


def tree(node: Node) -> list[Any]:
    """A record as nested arrays: tag, text, attributes, children."""
    return [node.tag, node.text, dict(node.attributes), [tree(child) for child in node.children]]
