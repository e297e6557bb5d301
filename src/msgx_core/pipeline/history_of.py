"""The versions of a flight: the message behind each, what changed, and the values while they can be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import frozen

from msgx_core.model.flight import FlightState
from msgx_core.pipeline.past import Past
from msgx_core.ports.operations import Row


@frozen
class Version:
    """One version and its `msg` event. `before` and `after` are None where texts or events are lost."""

    event: Row
    message: Row
    before: FlightState | None = None
    after: FlightState | None = None


def versions_of(flid: int, past: Past) -> Iterator[Version]:
    """The remembered versions in order; values where the computed version is the one of the event."""
    events = past.store.flight_events(flid)
    states: Mapping[int, tuple[FlightState | None, FlightState]] = {}
    messages: dict[int, Row] = {}
    if events and events[0]["STATE_VERSION"] == 1:
        states = _states(flid, past)
    for event in events:
        msg_id = event["MSG_ID"]
        if msg_id not in messages:
            messages[msg_id] = past.store.message(msg_id) or {}
        before, after = states.get(msg_id, (None, None))
        if after is None or after.version != event["STATE_VERSION"]:
            before = after = None
        yield Version(event, messages[msg_id], before, after)


def _states(flid: int, past: Past) -> Mapping[int, tuple[FlightState | None, FlightState]]:
    """Before and after by message."""
    found: dict[int, tuple[FlightState | None, FlightState]] = {}
    for decided in past.replayed(past.rows(past.family((flid,)))):
        for put in decided.applied.change.flights:
            if put.state.flid == flid and put.advanced:
                found[decided.row["MSG_ID"]] = (past.world.flights.get(flid), put.state)
    return found
