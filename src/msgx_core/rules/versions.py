"""From touched flights to puts: one version step, one pair of events per flight and message (D-15)."""

from __future__ import annotations

from datetime import datetime

from attrs import evolve

from msgx_core.model.change import FlightPut, FlightSnapshot, RosterReplace
from msgx_core.model.flight import Child, FlightState
from msgx_core.rules.codeshare import Draft, Family
from msgx_core.rules.merge import changed_tags
from msgx_core.rules.operation_day import sodt_instant
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import put_documents


def step(
    family: Family,
    snapshot: FlightSnapshot,
    *,
    msg_id: int,
    now: datetime,
    policy: Policy,
    rosters: tuple[RosterReplace, ...] = (),
) -> tuple[FlightPut, ...]:
    """Puts in the order of the family, with the generation that each day has after this message."""
    generations = {**snapshot.generations, **{r.day: r.read_version + 1 for r in rosters}}
    puts = []
    for flid, draft in family.drafts.items():
        put = _put(draft, family.mafl.get(flid, ()), snapshot, msg_id, now, policy)
        day = put.state.operation_day
        notice, document = put_documents(put, None if day is None else generations.get(day, 0), policy)
        puts.append(evolve(put, notice=notice if put.advanced else None, document=document))
    return tuple(puts)


def _put(
    draft: Draft,
    mafl: tuple[Child, ...],
    snapshot: FlightSnapshot,
    msg_id: int,
    now: datetime,
    policy: Policy,
) -> FlightPut:
    before = draft.before
    listed = mafl if draft.is_live and draft.main_flid is None else ()
    changed = _changed(draft, listed)
    if before is not None and policy.suppress_unchanged and _is_same(draft, before, changed):
        state = evolve(before, last_msg_id=msg_id)
        return FlightPut(state, before.version, advanced=False, raw_sections=draft.raw_sections)
    state = FlightState(
        flid=draft.flid,
        status=draft.status,
        version=1 + (snapshot.floors.get(draft.flid, 0) if before is None else before.version),
        operation_day=draft.operation_day,
        fields=draft.fields,
        last_msg_id=msg_id,
        created_at=now if before is None else before.created_at,
        updated_at=now,
        sodt_at=sodt_instant(draft.fields, policy),
        mafl=listed,
    )
    return FlightPut(
        state,
        None if before is None else before.version,
        changed=changed,
        reason=draft.reason,
        raw_sections=draft.raw_sections,
    )


def _is_same(draft: Draft, before: FlightState, changed: tuple[str, ...]) -> bool:
    """Whether the full state of a live flight came out as it was."""
    lives_on = before.is_live and draft.is_live
    return lives_on and not changed and before.operation_day == draft.operation_day


def _changed(draft: Draft, mafl: tuple[Child, ...]) -> tuple[str, ...]:
    """Tags that differ; of a new or rebuilt flight all its tags; of a deleted one none."""
    if not draft.is_live:
        return ()
    live = draft.before if draft.before is not None and draft.before.is_live else None
    changed = changed_tags({} if live is None else live.fields, draft.fields)
    same_list = mafl == (() if live is None else live.mafl)
    return changed if same_list else (*changed, "MAFL")
