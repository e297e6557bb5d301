"""Reference data inside a running ① (IMP §13.3, D-40)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgx_adapters.store_sql.documents import dump_node
from msgx_adapters.store_sqlite.connection import Connection
from msgx_adapters.store_sqlite.session import SQL
from msgx_adapters.store_sqlite.texts import stamp
from msgx_core.model.reference import PutRecord, RefChange, RefRecord, ReplaceCategory


def write(db: Connection, changes: Iterable[RefChange]) -> None:
    """Apply the changes in their order; a record that stays keeps its place in the list."""
    for change in changes:
        if isinstance(change, ReplaceCategory):
            db.run(SQL["clear_category"], {"rtype": change.rtype})
            numbered = enumerate(change.records, start=1)
            db.run_many(SQL["put_record"], (_values(record, ordinal) for ordinal, record in numbered))
        elif isinstance(change, PutRecord):
            ordinal = db.value(SQL["next_ordinal"], {"rtype": change.record.rtype})
            db.run(SQL["put_record"], _values(change.record, ordinal))
        else:
            db.run(SQL["remove_record"], {"rtype": change.rtype, "rkey": change.rkey})


def _values(record: RefRecord, ordinal: int) -> dict[str, Any]:
    return {
        "rtype": record.rtype,
        "rkey": record.rkey,
        "payload": dump_node(record.node),
        "ordinal": ordinal,
        "msg_id": record.msg_id,
        "updated_at": stamp(record.updated_at),
    }
