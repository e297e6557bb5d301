"""The current state of a flight (FST §3.3): scalars, single-value elements, collections, MAFL."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import date, datetime

from attrs import frozen

from msgx_core.model.message import Element

FieldValue = str | int | Element | tuple[Element, ...]
"""Scalar text (a number for FLID kinds), a single-value element, or a collection."""

Fields = Mapping[str, FieldValue]
"""Values by SIS tag; a tag without a value is absent, an empty collection too."""


class FlightStatus(enum.Enum):
    """`ACTIVE → DELETED → ACTIVE` (D-06, D-07)."""

    ACTIVE = "ACTIVE"
    DELETED = "DELETED"


class DeleteReason(enum.Enum):
    """Why a tombstone was written (D-28)."""

    FDEL = "FDEL"
    SNAPSHOT_ABSENT = "SNAPSHOT_ABSENT"
    CASCADE = "CASCADE"
    ARCHIVED = "ARCHIVED"


@frozen
class Child:
    """An entry of `MAFL`: a live code-share child (D-21)."""

    flid: int
    flno: str | None


@frozen
class FlightState:
    """One flight. `operation_day` never changes once set; `version` only rises (D-10, D-15).

    `sodt_at` is the instant of `SODT`, `mafl` is derived from the live children and ordered by FLID.
    Datetimes are aware.
    """

    flid: int
    status: FlightStatus
    version: int
    operation_day: date | None
    fields: Fields
    last_msg_id: int
    created_at: datetime
    updated_at: datetime
    sodt_at: datetime | None = None
    mafl: tuple[Child, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether the flight is `ACTIVE`."""
        return self.status is FlightStatus.ACTIVE

    @property
    def main_flid(self) -> int | None:
        """FLID of the main flight; a `MAID` that names the flight itself is ignored (D-21)."""
        maid = self.fields.get("MAID")
        return maid if isinstance(maid, int) and maid != self.flid else None

    @property
    def carries_mafl(self) -> bool:
        """Only a live flight without a main flight carries `MAFL` (D-21)."""
        return self.is_live and self.main_flid is None

    @property
    def as_child(self) -> Child:
        """This flight as an entry of its main flight's `MAFL`."""
        flno = self.fields.get("FLNO")
        return Child(self.flid, flno if isinstance(flno, str) else None)
