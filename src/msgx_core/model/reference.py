"""Reference data and resource status (IMP §13, D-40)."""

from __future__ import annotations

from datetime import datetime

from attrs import frozen

from msgx_core.model.message import Node


@frozen
class RefRecord:
    """One record of a category, kept whole. `rkey` is unique within `rtype`; RSTA: `RTYP/RSID`."""

    rtype: str
    rkey: str
    node: Node
    msg_id: int
    updated_at: datetime


@frozen
class ReplaceCategory:
    """Full list: everything else of the category goes (IMP §13.3)."""

    rtype: str
    records: tuple[RefRecord, ...]


@frozen
class PutRecord:
    """Whole record set, whether it was there or not."""

    record: RefRecord


@frozen
class RemoveRecord:
    """Record removed; missing is no error."""

    rtype: str
    rkey: str


RefChange = ReplaceCategory | PutRecord | RemoveRecord


@frozen
class ResourceStatus:
    """The stored status of one resource; `starts_at`/`ends_at` are instants, None: unbounded (H-76)."""

    rtyp: str
    rsid: str
    stat: str
    starts_at: datetime | None
    ends_at: datetime | None
    msg_id: int
