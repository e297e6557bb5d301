"""What changed flights beside messages, in order: history sweeps and raised versions (D-31, D-33, D-37)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from attrs import define, field, frozen

from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.operations import Row
from msgx_core.ports.recovery import VERSIONS_RAISED


@frozen
class Raise:
    """Versions were raised after the message with that `APPLY_NO`."""

    at: datetime
    apply_no: int
    by: int


@frozen
class Departed:
    """Flights left in one transaction; the floors that it wrote."""

    at: datetime
    floors: Mapping[int, int]


Event = Raise | Departed


@define
class Timeline:
    """Hands the events out one after the other, each once."""

    _events: list[Event] = field(factory=list)
    _next: int = 0

    @classmethod
    def of(
        cls,
        audit: Sequence[Row],
        floors: Mapping[int, tuple[int, datetime]],
        steps: Iterable[DepartureStep] = (),
    ) -> Timeline:
        """From the audit and the floors of a store, and the steps that the sweep has left in the archive.

        A floor knows the last departure of its flight alone; it stands for a step that is not there, and its
        version, less what was raised since, for that of the last step (0 where the floor is gone).
        """
        raises = [
            Raise(row["CREATED_AT"], int(str(row["DETAIL"]).split()[-1]), row["TARGET"])
            for row in audit
            if row["ACTION"] == VERSIONS_RAISED
        ]
        kept = {
            flid: (version - sum(each.by for each in raises if each.at > at), at)
            for flid, (version, at) in floors.items()
        }
        departures = [*_stepped(list(steps), kept)]
        known = {(flid, departed.at) for departed in departures for flid in departed.floors}
        left: dict[datetime, dict[int, int]] = {}
        for flid, (version, at) in kept.items():
            if (flid, at) not in known:
                left.setdefault(at, {})[flid] = version
        departures += [Departed(at, flids) for at, flids in left.items()]
        return cls(sorted((*raises, *departures), key=lambda event: event.at))

    def before(self, apply_no: int | None, at: datetime) -> list[Event]:
        """What comes before that message applied at `at`; with None what is left until `at`."""
        found = []
        while self._next < len(self._events):
            event = self._events[self._next]
            if isinstance(event, Raise) and apply_no is not None:
                comes_first = event.apply_no < apply_no
            else:
                comes_first = event.at < at
            if not comes_first:
                break
            found.append(event)
            self._next += 1
        return found


def _stepped(steps: Sequence[DepartureStep], kept: Mapping[int, tuple[int, datetime]]) -> Iterator[Departed]:
    last = {flid: number for number, step in enumerate(steps) for flid in step.floors}
    for number, step in enumerate(steps):
        floors = {
            flid: kept.get(flid, (0, step.at))[0] if last[flid] == number else version
            for flid, version in step.floors.items()
        }
        yield Departed(step.at, floors)
