"""The plain values of the oracle: settings, flights, and what one message does to them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from attrs import define, field, frozen

from tests.proof.oracle import values as worth


class Wrong(Exception):
    """The message breaks the protocol; nothing of it is written."""


@frozen
class Choices:
    """The settings that decisions depend on."""

    dnld: str = "window"
    whitelist: str = "baseline"
    create_missing: bool = True
    suppress_unchanged: bool = False
    identity_with_day: bool = False
    cutover: time = time(0, 0)


@frozen
class Flight:
    """One flight as the store holds it; `mafl` are its shared flights: `(FLID, FLNO)`."""

    flid: int
    live: bool
    version: int
    day: date | None
    fields: Mapping[str, Any]
    last_msg: int
    updated_at: datetime
    mafl: tuple[tuple[int, str | None], ...] = ()

    @property
    def main(self) -> int | None:
        """The flight that this one shares; a `MAID` naming itself is ignored (D-21)."""
        maid = self.fields.get("MAID")
        return None if maid == self.flid else maid

    @property
    def sodt(self) -> datetime | None:
        """The instant of its plan."""
        return worth.instant(self.fields.get("SODT"))


@frozen
class Step:
    """One flight takes one step: its event on the topic `msg`, and its state after it (D-15, D-28)."""

    flight: Flight
    changed: tuple[str, ...] = ()
    why_deleted: str | None = None
    generation: int | None = None


@define
class Deed:
    """All that one message does to flights. `touched` bear its id without a step (D-15)."""

    steps: list[Step] = field(factory=list)
    touched: list[Flight] = field(factory=list)
    rosters: dict[date, set[int]] = field(factory=dict)
    joins: dict[int, date] = field(factory=dict)
    alerts: list[str] = field(factory=list)
    covered_days: frozenset[date] = frozenset()
    covered_time: tuple[datetime, datetime] | None = None
    reason: str | None = None
