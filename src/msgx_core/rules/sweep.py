"""What leaves with ended flights: tombstones and notices to main flights; never a cascade (D-33, D-21)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from attrs import evolve, frozen

from msgx_core.model.change import FlightPut, FlightSnapshot
from msgx_core.model.flight import DeleteReason, FlightState, FlightStatus
from msgx_core.rules.codeshare import Draft, Family
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import notice_document, to_json
from msgx_core.rules.versions import step
from msgx_core.states.flight import FLIGHT, FlightEvent, FlightLife


@frozen
class Departure:
    """Flights that leave with their tombstones (None: not live any more), and main flights that step."""

    tombstones: Mapping[int, str | None]
    notified: tuple[FlightPut, ...]


def plan_departure(
    flids: Collection[int], snapshot: FlightSnapshot, *, now: datetime, policy: Policy
) -> Departure:
    """What becomes of `flids`, which must be in the snapshot with their code-share family (D-33).

    A flight leaves with version + 1; only one that was live has a tombstone, `ARCHIVED`. A live main flight
    that stays and loses children steps by one, with both events, and keeps its `LAST_MSG_ID`. Children that
    stay keep their `MAID`: archiving never cascades.
    """
    leaving = {flid: snapshot.flights[flid] for flid in sorted(flids)}
    tombstones = {flid: _tombstone(state, snapshot, now) for flid, state in leaving.items()}
    mains = {s.main_flid for s in leaving.values() if s.is_live and s.main_flid is not None}
    notified: list[FlightPut] = []
    for flid in sorted(mains - leaving.keys()):
        main = snapshot.flights.get(flid)
        if main is not None and main.carries_mafl:
            notified.extend(_notice(main, leaving, snapshot, now, policy))
    return Departure(tombstones, tuple(notified))


def _tombstone(state: FlightState, snapshot: FlightSnapshot, now: datetime) -> str | None:
    life = FlightLife.ACTIVE if state.is_live else FlightLife.DELETED
    FLIGHT.next(life, FlightEvent.ARCHIVE)
    if not state.is_live:
        return None
    gone = evolve(state, status=FlightStatus.DELETED, version=state.version + 1, updated_at=now, mafl=())
    day = state.operation_day
    generation = None if day is None else snapshot.generations.get(day, 0)
    return to_json(notice_document(gone, changed=(), generation=generation, reason=DeleteReason.ARCHIVED))


def _notice(
    main: FlightState,
    leaving: Mapping[int, FlightState],
    snapshot: FlightSnapshot,
    now: datetime,
    policy: Policy,
) -> tuple[FlightPut, ...]:
    listed = tuple(child for child in main.mafl if child.flid not in leaving)
    if listed == main.mafl:
        return ()
    draft = Draft(main.flid, main, main.status, main.operation_day, main.fields)
    family = Family({main.flid: draft}, {main.flid: listed})
    return step(family, snapshot, msg_id=main.last_msg_id, now=now, policy=policy)
