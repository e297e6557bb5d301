"""Small test values: say what matters to a test, the rest is filled in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

from msgx_core.model.change import Change, FlightPut
from msgx_core.model.flight import FieldValue, FlightState, FlightStatus
from msgx_core.model.proc import Binding, MessageState, NewMessage, Outcome
from msgx_core.model.request import Request, RequestSlot, RequestState
from msgx_core.ports import Store
from msgx_core.ports.operations import Audit

NOW = datetime(2027, 3, 14, 6, 30, 0, 123456, tzinfo=UTC)
DAY = date(2027, 3, 14)
NEXT_DAY = date(2027, 3, 15)
SUCCEEDED = Outcome(MessageState.SUCCEEDED)
AUDIT = Audit("alice", "because the night shift asked")


def later(seconds: float) -> datetime:
    """`NOW` and so many seconds."""
    return NOW + timedelta(seconds=seconds)


def binding(msg_id: int, seqn: str = "1", digest: str | None = None) -> Binding:
    """A `FLOP`/`GTDT` of sender AODB; the same `seqn` gives the same identity."""
    return Binding(
        msg_id=msg_id,
        identity_key=f"AODB|FLOP|GTDT|{seqn}",
        sndr="AODB",
        type="FLOP",
        styp="GTDT",
        seqn=seqn,
        dttm="20270314143000",
        raw_digest=f"digest-{msg_id}" if digest is None else digest,
    )


def dead(code: str = "PROTOCOL", reason: str = "recs-missing") -> Outcome:
    """An outcome `DEAD`."""
    return Outcome(MessageState.DEAD, code, reason)


def skipped(reason: str = "unsupported") -> Outcome:
    """An outcome `SKIPPED`."""
    return Outcome(MessageState.SKIPPED, None, reason)


def flight(
    flid: int,
    *,
    version: int = 1,
    msg_id: int = 1,
    day: date | None = DAY,
    sodt_at: datetime | None = None,
    deleted: bool = False,
    fields: dict[str, FieldValue] | None = None,
    **scalars: str | int,
) -> FlightState:
    """A flight; scalars by tag as keywords."""
    return FlightState(
        flid=flid,
        status=FlightStatus.DELETED if deleted else FlightStatus.ACTIVE,
        version=version,
        operation_day=day,
        fields={**scalars, **(fields or {})},
        last_msg_id=msg_id,
        created_at=NOW,
        updated_at=NOW,
        sodt_at=sodt_at,
    )


def put(state: FlightState, **more: Any) -> FlightPut:
    """The put that leads to `state` from the version before it (from nothing when it is the first)."""
    notice = json.dumps({"FLID": state.flid, "STATE_VERSION": state.version})
    document = json.dumps({"FLID": state.flid, "N": state.version}) if state.is_live else None
    before = state.version - 1 or None
    values: dict[str, Any] = {"read_version": before, "notice": notice, "document": document, **more}
    return FlightPut(state, **values)


def change(msg_id: int, *puts: FlightPut, **more: Any) -> Change:
    """A `Change` of a message that succeeds."""
    return Change(msg_id, **{"at": NOW, "outcome": SUCCEEDED, "flights": puts, **more})


def enqueue(store: Store, *ids: int) -> None:
    """Take messages in at `NOW`."""
    store.enqueue([NewMessage(msg_id, None) for msg_id in ids], NOW)


def apply(store: Store, msg_id: int, *puts: FlightPut, **more: Any) -> int:
    """Take a message in and apply it."""
    enqueue(store, msg_id)
    return store.apply(change(msg_id, *puts, **more))


def apply_states(store: Store, msg_id: int, states: Iterable[FlightState], **more: Any) -> int:
    """Take a message in that puts these flights."""
    return apply(store, msg_id, *[put(state) for state in states], **more)


def close(store: Store, outcome: Outcome, *ids: int) -> None:
    """Take messages in and close them unapplied at `NOW`."""
    enqueue(store, *ids)
    for msg_id in ids:
        assert store.close_unapplied(msg_id, outcome, [], NOW)


def request(slot: RequestSlot = RequestSlot.RQFD, **more: Any) -> Request:
    """A request to be created at `NOW`."""
    return Request(0, slot, RequestState.PENDING, NOW, **more)


def flids(states: Iterable[FlightState]) -> Sequence[int]:
    """Their FLIDs in order."""
    return [state.flid for state in states]
