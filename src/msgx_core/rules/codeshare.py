"""Code share: `MAFL`, notices to main flights, cascade of a deleted main flight (IMP §11.4, D-21)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from attrs import frozen

from msgx_core.model.change import FlightSnapshot
from msgx_core.model.flight import Child, DeleteReason, Fields, FlightState, FlightStatus


@frozen
class Draft:
    """What a message makes of one flight, before version and events. `before` is what was read."""

    flid: int
    before: FlightState | None
    status: FlightStatus
    operation_day: date | None
    fields: Fields
    reason: DeleteReason | None = None
    raw_sections: Mapping[str, str] | None = None

    @property
    def main_flid(self) -> int | None:
        """Main flight after the message; a `MAID` naming itself is ignored."""
        maid = self.fields.get("MAID")
        return maid if isinstance(maid, int) and maid != self.flid else None

    @property
    def is_live(self) -> bool:
        """Whether the flight is live after the message."""
        return self.status is FlightStatus.ACTIVE


@frozen
class Family:
    """All flights touched, in order of their events, and the `MAFL` of each that may carry one."""

    drafts: Mapping[int, Draft]
    mafl: Mapping[int, tuple[Child, ...]]


def delete_draft(state: FlightState, reason: DeleteReason) -> Draft:
    """A live flight marked deleted; its fields stay (D-06)."""
    return Draft(
        state.flid, state, FlightStatus.DELETED, state.operation_day, state.fields, reason, raw_sections=None
    )


def spread(drafts: Mapping[int, Draft], snapshot: FlightSnapshot) -> Family:
    """Add cascaded deletions and notified main flights to what a message touches.

    Order: the given drafts, cascaded children by FLID, notified main flights by FLID. Children that the
    message itself contains are never cascaded.
    """
    touched = {**drafts, **_cascaded(drafts, snapshot)}
    children = _children(touched, snapshot)
    mafl: dict[int, tuple[Child, ...]] = {}
    notified: dict[int, Draft] = {}
    for flid in sorted(_affected(touched)):
        listed = tuple(children.get(flid, ())) if _carries(flid, touched, snapshot) else ()
        mafl[flid] = listed
        before = snapshot.flights.get(flid)
        if flid not in touched and before is not None and before.is_live and before.mafl != listed:
            notified[flid] = Draft(flid, before, before.status, before.operation_day, before.fields)
    return Family({**touched, **notified}, mafl)


def _cascaded(drafts: Mapping[int, Draft], snapshot: FlightSnapshot) -> dict[int, Draft]:
    mains = {
        d.flid
        for d in drafts.values()
        if not d.is_live and d.before is not None and d.before.is_live and d.before.main_flid is None
    }
    if not mains:
        return {}
    doomed = (
        f for f in snapshot.flights.values() if f.is_live and f.main_flid in mains and f.flid not in drafts
    )
    return {f.flid: delete_draft(f, DeleteReason.CASCADE) for f in sorted(doomed, key=lambda f: f.flid)}


def _affected(touched: Mapping[int, Draft]) -> set[int]:
    """Flights whose list may differ: the touched ones, their main flights before and after."""
    flids = set(touched)
    for draft in touched.values():
        if draft.before is not None and draft.before.is_live and draft.before.main_flid is not None:
            flids.add(draft.before.main_flid)
        if draft.is_live and draft.main_flid is not None:
            flids.add(draft.main_flid)
    return flids


def _children(touched: Mapping[int, Draft], snapshot: FlightSnapshot) -> dict[int, list[Child]]:
    """Live children by main flight after the message, by FLID."""
    found: dict[int, list[Child]] = {}
    for flid in sorted({*touched, *snapshot.flights}):
        draft = touched.get(flid)
        if draft is None:
            state = snapshot.flights[flid]
            main, live, child = state.main_flid, state.is_live, state.as_child
        else:
            main, live = draft.main_flid, draft.is_live
            flno = draft.fields.get("FLNO")
            child = Child(flid, flno if isinstance(flno, str) else None)
        if live and main is not None:
            found.setdefault(main, []).append(child)
    return found


def _carries(flid: int, touched: Mapping[int, Draft], snapshot: FlightSnapshot) -> bool:
    draft = touched.get(flid)
    if draft is not None:
        return draft.is_live and draft.main_flid is None
    state = snapshot.flights.get(flid)
    return state is not None and state.carries_mafl
