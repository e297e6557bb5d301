"""Of what a difference says nothing: it began before the range, went on after it, or a text is lost."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import Any

from attrs import define, field

from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.pipeline.timeline import floors_of
from msgx_core.ports.inspection import Inspection

PAGE = 2000


@define
class Doubts:
    """What verification knows that it cannot know. Asks the store only when something differs.

    `whole`: every message since the beginning was computed; otherwise what began before `start` is left
    out (None: all of it did). `until` is the last `APPLY_NO` that was computed; `floors` are those of the
    start of the run: what changes after that is left out. `misplaced` numbers are none of what came
    later. `flids`, `days`, `rtypes` and `senders` are in doubt. `lost` counts messages of which neither
    text nor trace is left: each may have stepped any flight.
    """

    store: Inspection
    world: Recomputed
    floors: Mapping[int, tuple[int, datetime]]
    misplaced: frozenset[int] = frozenset()
    whole: bool = True
    start: datetime | None = None
    until: int = 0
    left_out: int = 0
    lost: int = 0
    flids: set[int] = field(factory=set)
    days: set[date] = field(factory=set)
    rtypes: set[str] = field(factory=set)
    senders: set[str] = field(factory=set)
    departures: set[datetime] = field(factory=set)
    _seen: int | None = field(default=None, init=False)

    def begin(self, at: datetime | None) -> None:
        """Nothing is known of what was before `at` (None: of all of it)."""
        self.whole, self.start, self.lost = False, at, 0
        for each in (self.flids, self.days, self.rtypes, self.senders):
            each.clear()

    def began_before(self, created_at: Any) -> bool:
        """Whether a flight of that `CREATED_AT` is older than the range; one that cannot be read may be."""
        if self.whole:
            return False
        return self.start is None or not isinstance(created_at, datetime) or created_at < self.start

    def lags(self, stored: Any, computed: int | None) -> bool:
        """Whether the messages that are lost may be why a version is ahead of the one computed."""
        if not self.lost or not isinstance(stored, int):
            return False
        return computed is None or 0 < stored - computed <= self.lost

    def refresh(self) -> None:
        """Look at what was applied, and what left, after what was computed."""
        self._seen = self.until if self._seen is None else self._seen
        while page := self.store.stored_applied(self._seen, PAGE):
            self._seen = page[-1]["APPLY_NO"]
            for row in page:
                if row["APPLY_NO"] not in self.misplaced:
                    self.rtypes.add(row["TYPE"])
                    self.senders.add(row["SNDR"])
        self.look_for_departures()

    def look_for_departures(self) -> None:
        """Look at what has left since the start of the run."""
        for flid, (_, at) in floors_of(self.store).items():
            if flid not in self.floors or at > self.floors[flid][1]:
                self.departures.add(at)
                self.leave(flid)

    def leave(self, flid: int) -> None:
        """A flight that left after what was computed: its main flight stepped with it."""
        self.flids.add(flid)
        state = self.world.flights.get(flid)
        if state is not None and state.main_flid is not None:
            self.flids.add(state.main_flid)

    def is_later(self, msg_id: Any) -> bool:
        """Whether a message was applied after those that were computed."""
        row = self.store.stored_message(msg_id) if isinstance(msg_id, int) else None
        number = None if row is None else row["APPLY_NO"]
        return isinstance(number, int) and number > self.until and number not in self.misplaced

    def about(self, flids: Collection[int], msg_id: Any = None) -> bool:
        """Whether one of these flights is in doubt, or went on after what was computed."""
        return not self.flids.isdisjoint(flids) or self.is_later(msg_id)
