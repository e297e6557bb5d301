"""Messages about one flight: ADFT, FLOP, FDEL (IMP §12.2, §12.3, D-06 to D-08, D-17)."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import date, datetime

from attrs import frozen

from msgx_core.model.change import FlightPut, FlightSnapshot
from msgx_core.model.flight import DeleteReason, FlightState, FlightStatus
from msgx_core.rules.codeshare import Draft, delete_draft, spread
from msgx_core.rules.merge import FlopUpdate, apply_flop, merge_adft
from msgx_core.rules.operation_day import operation_day, sodt_instant
from msgx_core.rules.policy import MissingFlight, Policy
from msgx_core.rules.records import RecordValues
from msgx_core.rules.schedule import own_day
from msgx_core.rules.versions import step
from msgx_core.states.flight import FLIGHT, FlightEvent, FlightLife


class NoEffect(enum.Enum):
    """Why a message about one flight changes none; the value is its reason (D-06 to D-08, D-25)."""

    ALREADY_GONE = "already-gone"
    FLIGHT_DELETED = "flight-deleted"
    FLIGHT_ARCHIVED = "flight-archived"
    MISSING_FLIGHT = "missing-flight"


@frozen
class Step:
    """The parts that decide about one flight share."""

    snapshot: FlightSnapshot
    msg_id: int
    now: datetime
    policy: Policy

    def before(self, flid: int) -> FlightState | None:
        """The flight as it was read."""
        return self.snapshot.flights.get(flid)

    def puts(self, drafts: Mapping[int, Draft]) -> tuple[FlightPut, ...]:
        """Code share spread, versions stepped, events written."""
        family = spread(drafts, self.snapshot)
        return step(family, self.snapshot, msg_id=self.msg_id, now=self.now, policy=self.policy)


def life_of(flid: int, snapshot: FlightSnapshot) -> FlightLife:
    """How a message meets a flight."""
    state = snapshot.flights.get(flid)
    if state is not None:
        return FlightLife.ACTIVE if state.is_live else FlightLife.DELETED
    return FlightLife.ARCHIVED if flid in snapshot.floors else FlightLife.ABSENT


def wanted_day(values: RecordValues, policy: Policy) -> date | None:
    """The operation day that the `SODT` of a record asks for; None without one."""
    instant = sodt_instant(values.values, policy)
    return None if instant is None else operation_day(instant, policy)


def plan_adft(values: RecordValues, at: Step) -> tuple[FlightPut, ...]:
    """An ADFT sets; a deleted flight is rebuilt from empty (D-07, D-17).

    Changes no roster and no generation (R-204). Raises `Protocol` on a day conflict.
    """
    before = at.before(values.flid)
    live = before if before is not None and before.is_live else None
    fields = merge_adft({} if live is None else live.fields, values)
    day = own_day(values.flid, wanted_day(values, at.policy), before, record=0)
    # What was kept as raw XML belongs to the life that ended; a live flight's sections stay (D-39).
    raw_sections: dict[str, str] | None = {} if live is None else None
    draft = Draft(values.flid, before, FlightStatus.ACTIVE, day, fields, raw_sections=raw_sections)
    return at.puts({values.flid: draft})


def plan_flop(update: FlopUpdate, at: Step) -> tuple[FlightPut, ...] | NoEffect:
    """A `FLOP` changes what it names, never the day or a roster (D-08, D-18, R-213)."""
    life = life_of(update.flid, at.snapshot)
    if not FLIGHT.allows(life, FlightEvent.CHANGE):
        return NoEffect.FLIGHT_DELETED if life is FlightLife.DELETED else NoEffect.FLIGHT_ARCHIVED
    before = at.before(update.flid)
    if before is None and at.policy.missing_flight is MissingFlight.SKIP:
        return NoEffect.MISSING_FLIGHT
    fields = apply_flop({} if before is None else before.fields, update)
    day = None if before is None else before.operation_day
    return at.puts({update.flid: Draft(update.flid, before, FlightStatus.ACTIVE, day, fields)})


def plan_fdel(flid: int, at: Step) -> tuple[FlightPut, ...] | NoEffect:
    """Soft delete with cascade; a flight that is gone already is an idempotent success (D-06)."""
    before = at.before(flid)
    if before is None or not before.is_live:
        return NoEffect.ALREADY_GONE
    return at.puts({flid: delete_draft(before, DeleteReason.FDEL)})
