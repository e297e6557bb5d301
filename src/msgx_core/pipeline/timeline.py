"""What changed flights beside messages, in order: history sweeps and raised versions (D-31, D-33, D-37)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

from attrs import define, field, frozen

from msgx_core.pipeline.differences import Difference, unreadable
from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.inspection import AUDITS, FLOORS, Inspection, StoredRow
from msgx_core.ports.recovery import VERSIONS_RAISED
from msgx_core.rules.policy_text import raw_grounds


@frozen
class Raise:
    """Versions were raised after the message with that `APPLY_NO` (None: it is not known)."""

    at: datetime
    apply_no: int | None
    by: int


@frozen
class Departed:
    """Flights left in one transaction, and the floor of each then. `stepped`: the archive tells of it."""

    at: datetime
    floors: Mapping[int, int]
    stepped: bool = True


Event = Raise | Departed
_FROM_ARCHIVE = "from archive "


@frozen
class Hands:
    """What people have done to messages. Texts put back are known by a hash: they may be a million."""

    replayed: set[int] = field(factory=set)
    readmitted: set[int] = field(factory=set)
    put_back: set[int] = field(factory=set)

    def took(self, row: StoredRow) -> bool:
        """Whether an audit row is one of these."""
        if row["ACTION"] == "readmit":
            self.readmitted.add(row["TARGET"])
            return True
        if row["ACTION"] != "replay":
            return False
        self.replayed.add(row["TARGET"])
        detail = str(row["DETAIL"])
        if detail.startswith(_FROM_ARCHIVE):
            self.put_back.add(hash((row["TARGET"], detail.removeprefix(_FROM_ARCHIVE))))
        return True


@define
class Timeline:
    """Hands the events out one after the other, each once.

    `floors` are those of the store, (version, when set) by FLID. A floor knows the last departure of its
    flight alone; it stands for a step that is not there. `republished`: when events were last written
    once more. `replayed`, `readmitted`: messages that people have sent back to `PENDING`.
    """

    floors: Mapping[int, tuple[int, datetime]] = field(factory=dict)
    departures: frozenset[datetime] = frozenset()
    republished: datetime | None = None
    replayed: frozenset[int] = frozenset()
    readmitted: frozenset[int] = frozenset()
    _put_back: frozenset[int] = frozenset()
    _events: list[Event] = field(factory=list)
    _next: int = 0

    @classmethod
    def of(
        cls,
        store: Inspection,
        steps: Iterable[DepartureStep] = (),
        told: Callable[[Difference], None] = lambda difference: None,
    ) -> Timeline:
        """From the audit and the floors of a store, and the steps that the sweep has left in the archive.

        `told` gets what cannot be read of them.
        """
        audit, hands = [], Hands()
        for row in store.stored(AUDITS):
            if _is_whole(row, told) and not hands.took(row):
                audit.append(row)
        raises = [_raise(row) for row in audit if row["ACTION"] == VERSIONS_RAISED]
        floors = dict(_floors(store, told))
        departed = [Departed(step.at, step.floors) for step in _known(steps, told)]
        seen = {(flid, each.at) for each in departed for flid in each.floors}
        alone: dict[datetime, dict[int, int]] = {}
        for flid, (version, at) in floors.items():
            if (flid, at) not in seen:
                raised = sum(each.by for each in raises if each.at > at)
                alone.setdefault(at, {})[flid] = version - raised
        departed += [Departed(at, flids, stepped=False) for at, flids in alone.items()]
        return cls(
            floors,
            frozenset(each.at for each in departed),
            max((row["CREATED_AT"] for row in audit if row["ACTION"] == "republish"), default=None),
            frozenset(hands.replayed),
            frozenset(hands.readmitted),
            frozenset(hands.put_back),
            sorted((*raises, *departed), key=lambda event: event.at),
        )

    def was_put_back(self, msg_id: int, key: str) -> bool:
        """Whether people have put the text of a message back from that archive key."""
        return hash((msg_id, raw_grounds(key))) in self._put_back

    def raised(self, after: datetime, until: datetime | None) -> int:
        """By how much versions were raised behind that instant, and up to the other (None: now)."""
        raises = (event for event in self._events if isinstance(event, Raise))
        return sum(each.by for each in raises if each.at > after and (until is None or each.at <= until))

    def may_leave_again(self, flid: int, event: Departed) -> bool:
        """Whether what the flight left next is above what it would have come back with (D-37)."""
        events = (each for each in self._events if isinstance(each, Departed) and each.at > event.at)
        later = next((each for each in events if flid in each.floors), None)
        if later is None:
            return True
        raised = self.raised(event.at, later.at)
        return later.floors[flid] >= event.floors[flid] + raised + 2

    def before(self, apply_no: int | None, at: datetime) -> list[Event]:
        """What comes before that message applied at `at`; with None what is left until `at`."""
        found = []
        while self._next < len(self._events):
            event = self._events[self._next]
            if isinstance(event, Raise) and None not in (apply_no, event.apply_no):
                comes_first = (event.apply_no or 0) < (apply_no or 0)
            else:
                comes_first = event.at < at
            if not comes_first:
                break
            found.append(event)
            self._next += 1
        return found


def floors_of(store: Inspection) -> dict[int, tuple[int, datetime]]:
    """The floors that can be read."""
    return dict(_floors(store, lambda difference: None))


def _floors(
    store: Inspection, told: Callable[[Difference], None]
) -> Iterator[tuple[int, tuple[int, datetime]]]:
    for row in store.stored(FLOORS):
        found = list(unreadable("floor", FLOORS, row["FLID"], row))
        for each in found:
            told(each)
        if not found:
            yield row["FLID"], (row["STATE_VERSION"], row["UPDATED_AT"])


def _is_whole(row: StoredRow, told: Callable[[Difference], None]) -> bool:
    found = list(unreadable("audit", AUDITS, row["AUDIT_ID"], row))
    for each in found:
        told(each)
    return not found


def _raise(row: StoredRow) -> Raise:
    """The last word of `DETAIL` is the `APPLY_NO` before."""
    word = str(row["DETAIL"]).rpartition(" ")[2]
    number = int(word) if word.isascii() and word.isdigit() else None
    return Raise(row["CREATED_AT"], number, row["TARGET"])


def _known(steps: Iterable[DepartureStep], told: Callable[[Difference], None]) -> Iterator[DepartureStep]:
    for step in steps:
        if step.floors:
            yield step
        else:
            told(Difference("step", "", step.at.isoformat(), "step", "damaged", None))
