"""The state before a message: from the few messages behind its flights, else from all, else today's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from attrs import define

from msgx_core.model.schedule import Nothing
from msgx_core.pipeline.past import Past, ReadStore, flight_of
from msgx_core.pipeline.recompute import Policies, TextSource, coverage_of
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.pipeline.timeline import Timeline
from msgx_core.pipeline.verify import Verifier
from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.codec import Codec
from msgx_core.ports.inspection import StoredRow
from msgx_core.ports.operations import Row

EXACT = "the state before it, computed again from the messages behind it"
NOW = "the state of now: it waits, and has not been decided yet"
TODAY = "today's state: what was before it cannot be computed any more, so before and after may differ"

LOST_LIST = "its text alone: the list that was there before cannot be computed any more"


@define
class Bases:
    """Finds the world on which a message is decided again."""

    store: ReadStore
    text: TextSource
    codec: Codec
    policies: Policies
    progress: Callable[[int], None]
    steps: Callable[[], Iterable[DepartureStep]]

    def of(self, row: Row, flids: set[int], at: datetime) -> tuple[Recomputed, str]:
        """The state before a message that names these flights, and what kind of basis that is."""
        versions: dict[int, int] = {}
        for event in self.store.stored_notices([row["MSG_ID"]]):
            # The first is the message's own; others come from a republish.
            versions.setdefault(event["FLID"], event["STATE_VERSION"])
        concerned = {*versions, *flids}
        if row.get("APPLIED_AT") is None and row.get("FINISHED_AT") is None:
            return self._today(concerned, None), NOW
        number = row.get("APPLY_NO") or self._number_at(at)
        if isinstance(coverage_of(row.get("COVERAGE")), Nothing):
            # Floors know the last departure of each flight, which does for most: steps are many objects.
            for steps in (tuple, self.steps):
                past = Past(self.store, self.text, self.codec, self.policies, steps)
                if self._few(past, concerned, versions, number, at):
                    return past.world, EXACT
        world = self._all(versions, number, at)
        if world is not None:
            return world, EXACT
        return self._today(concerned, at), TODAY

    def _few(
        self, past: Past, flids: set[int], versions: Mapping[int, int], number: int, at: datetime
    ) -> bool:
        """Whether the few messages behind these flights lead to the versions that they had."""
        family = past.family(flids)
        for _ in past.replayed(past.rows(family, number)):
            pass
        past.until(number, at)
        return all(
            _held(past.world, flid) == self._version_before(past.timeline, flid, versions, number, at)
            for flid in family
        )

    def _all(self, versions: Mapping[int, int], number: int, at: datetime) -> Recomputed | None:
        first = next(iter(self.store.stored_applied(0, 1)), None)
        if first is None or first["APPLY_NO"] != 1:
            return None
        verifier = Verifier(
            self.store, self.text, self.codec, self.policies, lambda each: None, self.progress, self.steps
        )
        report = verifier.run(until=number - 1)
        verifier.pass_until(number, at)
        fits = all(_held(verifier.world, flid) == version - 1 for flid, version in versions.items())
        return verifier.world if report.whole and fits else None

    def _version_before(
        self, timeline: Timeline, flid: int, versions: Mapping[int, int], number: int, at: datetime
    ) -> int | None:
        """The version that a flight had, or left, before the message; 0: none, None: nobody knows.

        What events before it say must fit to what is known of after it: events may be lost between.
        """
        if flid in versions:
            return versions[flid] - 1
        before = after = None
        for event in self.store.stored_versions(flid):
            if not isinstance(event["CREATED_AT"], datetime):
                return None
            if self._is_before(event, timeline, number, at):
                before = event
            elif after is None:
                after = event
        upper = self._upper(timeline, flid, after, at)
        if before is None:
            return upper
        lower = int(before["STATE_VERSION"]) + timeline.raised(before["CREATED_AT"], at)
        return lower if lower == upper else None

    def _upper(self, timeline: Timeline, flid: int, after: StoredRow | None, at: datetime) -> int:
        """The version before the first thing that is known of after the message."""
        if after is not None:
            return int(after["STATE_VERSION"]) - 1 - timeline.raised(at, after["CREATED_AT"])
        state = flight_of(self.store, flid)
        if state is not None and state.created_at <= at:
            return state.version - timeline.raised(at, None)
        version, left_at = timeline.floors.get(flid, (0, at))
        if version == 0:
            return 0
        return version - timeline.raised(at, None) - (left_at >= at)

    def _is_before(self, event: StoredRow, timeline: Timeline, number: int, at: datetime) -> bool:
        if event["CREATED_AT"] in timeline.departures:
            return bool(event["CREATED_AT"] < at)
        row = self.store.stored_message(event["MSG_ID"])
        apply_no = None if row is None else row["APPLY_NO"]
        if not isinstance(apply_no, int):
            return bool(event["CREATED_AT"] < at)
        return apply_no < number and bool(event["CREATED_AT"] <= at)

    def _number_at(self, at: datetime) -> int:
        """The `APPLY_NO` that a message without effects, finished then, would have had."""
        low, high = 0, 1
        while self._applied_until(high, at):
            low, high = high, 2 * high
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if self._applied_until(middle, at) else (low, middle)
        return high

    def _applied_until(self, number: int, at: datetime) -> bool:
        """Whether the message with that `APPLY_NO`, or the next one that is there, was applied by then."""
        for row in self.store.stored_applied(number - 1, 1):
            return isinstance(row["APPLIED_AT"], datetime) and row["APPLIED_AT"] <= at
        return False

    def _today(self, flids: set[int], at: datetime | None) -> Recomputed:
        """The flights as they are now, and their families; not what came, or left, after `at`."""
        world = Recomputed()
        waiting, seen = set(flids), set[int]()
        while waiting:
            flid = waiting.pop()
            seen.add(flid)
            state = flight_of(self.store, flid)
            if state is None or (at is not None and state.created_at > at):
                continue
            world.hold(state)
            waiting |= {flid for flid in (state.main_flid, *(c.flid for c in state.mafl)) if flid} - seen
        floors = Timeline.of(self.store).floors
        world.floors.update({f: floor for f, floor in floors.items() if at is None or floor[1] < at})
        return world


def _held(world: Recomputed, flid: int) -> int:
    state = world.flights.get(flid)
    return world.floors.get(flid, (0, None))[0] if state is None else state.version
