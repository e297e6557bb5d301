"""The versions of a flight: the message behind each, what changed, and the values while they can be known.

The outbox has them while its events last; the rest is computed again from the archive.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from msgx_core.model.flight import FlightState
from msgx_core.pipeline.past import Past, ReadStore, flight_of, message_of
from msgx_core.pipeline.timeline import Timeline, floors_of
from msgx_core.pipeline.watching import EVER, Seen, Watched, seen_again
from msgx_core.ports.operations import Row


class Source(enum.Enum):
    """Where a version is known from."""

    OUTBOX = "outbox"
    ARCHIVE = "archive"


@frozen
class Version:
    """One version and its `msg` event, which has no `EVENT_ID` where it was computed from the archive.

    `before` and `after` are None where texts or events are lost.
    """

    event: Row
    message: Row
    before: FlightState | None = None
    after: FlightState | None = None
    source: Source = Source.OUTBOX


@frozen
class History:
    """The versions in order; `whole`: none is missing. `left_as`: the floor of a flight that is not here."""

    versions: tuple[Version, ...]
    whole: bool
    left_as: int | None = None


PastOn = Callable[[Watched], Past]
"""Makes the past on a world that notes the versions of a flight."""


def history_of(flid: int, store: ReadStore, few: PastOn, again: PastOn | None) -> History:
    """What outbox and archive know of a flight, one that has left or is deleted as well.

    `few` is for the messages that the outbox names. `again` has every step of the history sweep: all messages
    are computed once more when the outbox has not all versions, and only then. None: that takes too long.
    """
    here, floor = flight_of(store, flid), floors_of(store).get(flid)
    left_as = None if here is not None or floor is None else floor[0]
    now = left_as if here is None else here.version
    versions = tuple(versions_of(flid, store, few))
    if _is_whole([each.event for each in versions], now, left_as is not None, Timeline.of(store)):
        return History(versions, whole=True, left_as=left_as)
    seen = None if again is None else seen_again(flid, now, store, again)
    if seen is None or not _agree(versions, seen):
        return History(versions, whole=now is None and not versions, left_as=left_as)
    return History(_merged(versions, seen, store), whole=True, left_as=left_as)


def _is_whole(events: Sequence[Row], now: int | None, has_left: bool, timeline: Timeline) -> bool:
    """Whether every version up to `now` has its event; a deleted flight that leaves has none for that."""
    if not events or now is None:
        return False
    last, at = 0, None
    for event in events:
        missing = event["STATE_VERSION"] - last - 1
        if missing > 0 and (at is None or missing != timeline.raised(at, event["CREATED_AT"])):
            return False
        last, at = event["STATE_VERSION"], event["CREATED_AT"]
    payload = events[-1]["PAYLOAD"]
    silent = has_left and payload.get("KIND") == "DELETE" and payload.get("REASON") != "ARCHIVED"
    return at is not None and now - last - silent == timeline.raised(at, None)


def _agree(versions: Sequence[Version], seen: Sequence[Seen]) -> bool:
    """Whether no version is of another message by what was computed."""
    computed = {each.event["STATE_VERSION"]: each.event["MSG_ID"] for each in seen}
    told = ((each.event["STATE_VERSION"], each.event["MSG_ID"]) for each in versions)
    return all(computed.get(number, msg_id) == msg_id for number, msg_id in told)


def _merged(versions: Sequence[Version], seen: Sequence[Seen], store: ReadStore) -> tuple[Version, ...]:
    """Those of the outbox with the values that were computed, and the others."""
    computed = {each.event["STATE_VERSION"]: each for each in seen}
    found = []
    for version in versions:
        again = computed.get(version.event["STATE_VERSION"])
        if again is None or again.after is None:
            found.append(version)
        else:
            found.append(evolve(version, before=again.before, after=again.after))
    told = {version.event["STATE_VERSION"] for version in versions}
    for number, each in computed.items():
        if number not in told:
            message = message_of(store, each.event["MSG_ID"]) or {}
            found.append(Version(each.event, message, each.before, each.after, Source.ARCHIVE))
    return tuple(sorted(found, key=lambda each: int(each.event["STATE_VERSION"])))


Values = tuple[FlightState | None, FlightState]


def versions_of(flid: int, store: ReadStore, few: PastOn) -> Iterator[Version]:
    """The versions of the outbox in order; values where the computed version is the one of the event."""
    events = store.flight_events(flid)
    states = _states(flid, few) if events else {}
    messages: dict[int, Row] = {}
    for event in events:
        msg_id = event["MSG_ID"]
        if msg_id not in messages:
            messages[msg_id] = message_of(store, msg_id) or {}
        before, after = states.get(event["STATE_VERSION"], (None, None))
        # Where versions are lost, what is computed counts from 1 and is of another message.
        if after is None or after.last_msg_id != msg_id:
            before = after = None
        yield Version(event, messages[msg_id], before, after)


def _states(flid: int, few: PastOn) -> Mapping[int, Values]:
    """Before and after by version: of messages, and of sweeps that took shared flights away."""
    world = Watched(watched=flid)
    past = few(world)
    for _ in past.replayed(past.rows(past.family((flid,)))):
        pass
    past.until(None, EVER)
    return {each.event["STATE_VERSION"]: (each.before, each.after) for each in world.seen if each.after}
