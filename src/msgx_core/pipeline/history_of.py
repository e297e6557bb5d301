"""The versions of a flight: the message behind each, what changed, and the values while they can be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from attrs import frozen

from msgx_core.model.flight import FlightState
from msgx_core.pipeline.past import Past, message_of
from msgx_core.ports.operations import Row

_EVER = datetime(9999, 12, 31, tzinfo=UTC)


@frozen
class Version:
    """One version and its `msg` event. `before` and `after` are None where texts or events are lost."""

    event: Row
    message: Row
    before: FlightState | None = None
    after: FlightState | None = None


Values = tuple[FlightState | None, FlightState]


def versions_of(flid: int, past: Past) -> Iterator[Version]:
    """The remembered versions in order; values where the computed version is the one of the event."""
    events = past.store.flight_events(flid)
    states = _states(flid, past) if events else {}
    messages: dict[int, Row] = {}
    for event in events:
        msg_id = event["MSG_ID"]
        if msg_id not in messages:
            messages[msg_id] = message_of(past.store, msg_id) or {}
        before, after = states.get(event["STATE_VERSION"], (None, None))
        # Where versions are lost, what is computed counts from 1 and is of another message.
        if after is None or after.last_msg_id != msg_id:
            before = after = None
        yield Version(event, messages[msg_id], before, after)


def _states(flid: int, past: Past) -> Mapping[int, Values]:
    """Before and after by version: of messages, and of sweeps that took shared flights away."""
    found: dict[int, Values] = {}
    last: FlightState | None = None
    for decided in past.replayed(past.rows(past.family((flid,)))):
        last = _passed(flid, past, last, found)
        for put in decided.applied.change.flights:
            if put.state.flid == flid and put.advanced:
                found[put.state.version] = (last, put.state)
                last = put.state
    past.until(None, _EVER)
    _passed(flid, past, last, found)
    return found


def _passed(flid: int, past: Past, last: FlightState | None, found: dict[int, Values]) -> FlightState | None:
    """The flight now; a version that it got without a message is noted."""
    now = past.world.flights.get(flid)
    if now is not None and last is not None and now.version != last.version:
        found[now.version] = (last, now)
    return now
