"""Verification: flights and reference data computed from the archive, compared with the store (D-36)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from attrs import define, evolve, field, frozen

from msgx_core.pipeline.again import Again
from msgx_core.pipeline.checking import Checking
from msgx_core.pipeline.comparing import Comparing
from msgx_core.pipeline.comparing_outbox import ComparingOutbox
from msgx_core.pipeline.comparing_rest import ComparingRest
from msgx_core.pipeline.differences import Difference, unreadable
from msgx_core.pipeline.doubts import Doubts
from msgx_core.pipeline.fates import Fates
from msgx_core.pipeline.gaps import Gaps
from msgx_core.pipeline.misplaced import Misplaced, last_number
from msgx_core.pipeline.recompute import Policies, TextSource
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.pipeline.settings_kept import Settings
from msgx_core.pipeline.timeline import Timeline
from msgx_core.pipeline.witness import bears_witness
from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.codec import Codec
from msgx_core.ports.inspection import MESSAGES, Inspection, StoredRow

PAGE = 2000
_EVER = datetime(9999, 12, 31, tzinfo=UTC)
_LEAST = -(2**63)


@frozen
class Window:
    """Messages applied from `start` on and before `end`; None: no limit."""

    start: datetime | None = None
    end: datetime | None = None

    def holds(self, at: datetime) -> bool:
        """Whether that instant lies in it."""
        return (self.start is None or at >= self.start) and (self.end is None or at < self.end)


@frozen
class Report:
    """What was computed again. What is left out began before the range, or went on after it.

    `others` are messages without effects that were looked at. `whole`: computed from the first message on.
    """

    messages: int = 0
    others: int = 0
    flights: int = 0
    references: int = 0
    rosters: int = 0
    differences: int = 0
    left_out: int = 0
    policies_assumed: int = 0
    whole: bool = True

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return self.differences == 0

    @property
    def compared(self) -> bool:
        """Whether anything was: a range may hold nothing, and all may have begun before it."""
        states = self.flights + self.rosters + self.references
        return states > 0 or (not self.left_out and self.messages + self.others > 0)


def ignore(number: int) -> None:
    """The default progress."""


@define
class Verifier:
    """Reads the store, writes nothing. Memory holds flights and reference records, never messages.

    `found` gets each difference as it is found; `progress` the count of messages so far. `text` may look
    into the mailbox where the archive has a gap. Runs beside a pump: what is applied, or leaves for the
    history store, after its start is left out. `steps` are those of the history sweep that the archive has.
    `kept_since`: retention has taken no message that was applied since then (None: that is not known).
    """

    store: Inspection
    text: TextSource
    codec: Codec
    policies: Policies
    found: Callable[[Difference], None]
    progress: Callable[[int], None] = ignore
    steps: Callable[[], Iterable[DepartureStep]] = tuple
    world: Recomputed = field(factory=Recomputed)
    kept_since: datetime | None = None
    _gaps: Gaps = field(init=False)
    _misplaced: Misplaced = field(init=False)
    _checking: Checking | None = field(init=False)
    _again: Again = field(init=False)
    _rest: ComparingRest = field(init=False)
    _outbox: ComparingOutbox = field(init=False)
    _messages: int = field(default=0, init=False)
    _others: int = field(default=0, init=False)
    _differences: int = field(default=0, init=False)
    _begins: bool = field(default=True, init=False)

    def run(self, window: Window | None = None, until: int | None = None) -> Report:
        """Compute and compare; with `until` only messages up to that `APPLY_NO`, and nothing is compared.

        Raises `Transient` when store, archive or mailbox do not answer.
        """
        window = Window() if window is None else window
        self._prepare(compares=until is None)
        highest = last_number(self.store)
        self._recompute(window, until)
        if until is not None:
            return self._report()
        doubts = self._again.doubts
        self._end(window, highest)
        doubts.until = self._gaps.last
        flights = self._rest.flights.flights()
        rosters, references = self._rest.rosters(), self._rest.references()
        self._rest.senders()
        self._rest.floors()
        self._outbox.documents()
        self._rest.count("apply_no", self._gaps.last)
        self._rest.counters()
        self._apart(window)
        return evolve(self._report(), flights=flights, rosters=rosters, references=references)

    def damaged(self, key: str, why: str) -> None:
        """An archived text that cannot be read; where the mailbox has it, that one is taken."""
        self._found(Difference("archive", "", key, "text", "damaged", why))

    def pass_until(self, apply_no: int, at: datetime) -> None:
        """After `run` with `until`: let pass what was done behind that message, before another one."""
        self._again.between(apply_no, at)

    def _prepare(self, *, compares: bool) -> None:
        told = self._found if compares else lambda difference: None
        timeline = Timeline.of(self.store, self.steps(), told)
        self._misplaced = Misplaced.of(self.store, told)
        doubts = Doubts(self.store, self.world, timeline.floors, self._misplaced.numbers())
        by_day = Settings(self.store, self.policies, told).by_day()
        fates = Fates(self.policies)
        checking = Checking(self.store, doubts, timeline, self._found, fates, by_day)
        self._checking = checking if compares else None
        witnesses = self._witnesses(timeline) if compares and self.kept_since is not None else []
        self._gaps = Gaps(self.store, self.kept_since, witnesses)
        self._rest = ComparingRest(Comparing(self.store, self.world, doubts, self._found))
        self._outbox = ComparingOutbox(self._rest, timeline, self.policies)
        self._again = Again(
            self.store, self.text, self.codec, self.policies, self.world, doubts, timeline, self._checking
        )

    def _witnesses(self, timeline: Timeline) -> list[datetime]:
        """When messages that are not there wrote their events, as far as age cannot have taken them."""
        found = []
        for event in self.store.stored_orphans():
            at, msg_id = event["CREATED_AT"], event["MSG_ID"]
            own = isinstance(at, datetime) and at not in timeline.departures and bears_witness(event)
            if own and self.kept_since is not None and at >= self.kept_since:
                is_gone = isinstance(msg_id, int) and self.store.stored_message(msg_id) is None
                found += [at] if is_gone else []
        return found

    def _recompute(self, window: Window, until: int | None) -> None:
        after = _LEAST
        while page := self.store.stored_applied(after, PAGE):
            notices = self._notices(page, window) if until is None else {}
            for row in page:
                after = row["APPLY_NO"]
                if until is not None and after > until:
                    return
                at = row["APPLIED_AT"]
                if not isinstance(row["MSG_ID"], int):
                    self._rest.flights.tell(unreadable("message", MESSAGES, f"APPLY_NO {after}", row))
                    continue
                if after in self._again.doubts.misplaced:
                    continue
                if window.end is not None and isinstance(at, datetime) and at >= window.end:
                    return
                self._next(row, window, notices.get(row["MSG_ID"], ()), tells=until is None)
            self.progress(self._messages)

    def _next(self, row: StoredRow, window: Window, notices: Sequence[StoredRow], *, tells: bool) -> None:
        """One message in its order, behind those that are out of their places."""
        at = row["APPLIED_AT"]
        self._fill(row["APPLY_NO"], at if isinstance(at, datetime) else None, window)
        self._gap(row["APPLY_NO"], at if isinstance(at, datetime) else None, tells=tells)
        self._gaps.see(row)
        if self._is_in(row, window):
            self._step(row, notices)

    def _fill(self, number: int, at: datetime | None, window: Window) -> None:
        """Numbers that are missing before that one, and that messages out of their places had."""
        missing = self._gaps.before(number)
        if missing is None or not self._misplaced.rows:
            return
        rows = self._misplaced.fill(*missing, self._gaps.last_at, at)
        notices = self._notices(rows, window)
        for row in rows:
            self._gaps.see(row)
            if self._is_in(row, window):
                self._step(row, notices.get(row["MSG_ID"], ()))

    def _notices(self, page: Sequence[StoredRow], window: Window) -> dict[int, list[StoredRow]]:
        """The `msg` events of these messages, by message."""
        ids = [row["MSG_ID"] for row in page if self._is_in(row, window) and isinstance(row["MSG_ID"], int)]
        found: dict[int, list[StoredRow]] = {}
        for event in self.store.stored_notices(ids) if ids else ():
            self._rest.count("event_msg", event["EVENT_ID"])
            found.setdefault(event["MSG_ID"], []).append(event)
        return found

    @staticmethod
    def _is_in(row: StoredRow, window: Window) -> bool:
        """Whether a message is in the range; one whose time cannot be read may be."""
        at = row["APPLIED_AT"]
        return not isinstance(at, datetime) or window.holds(at)

    def _gap(self, number: int, at: datetime | None, *, tells: bool) -> None:
        """Numbers are missing before that one: what these messages did is not known."""
        missing = self._gaps.before(number)
        if missing is None:
            if tells and number == self._gaps.last:
                twice = f"APPLY_NO {number}"
                self._found(Difference("message", MESSAGES.name, twice, "APPLY_NO", number, "another number"))
            return
        self._begins = True
        if tells and self._gaps.by_hand(at):
            numbers = "-".join(map(str, sorted(set(missing))))
            self._found(
                Difference("message", MESSAGES.name, f"APPLY_NO {numbers}", "MSG_ID", None, "a message")
            )

    def _step(self, row: StoredRow, notices: Sequence[StoredRow]) -> None:
        at = row["APPLIED_AT"]
        begins = self._begins and row["APPLY_NO"] != 1
        if begins:
            self._again.begin(at if isinstance(at, datetime) else None)
        self._messages += 1
        self._again.message(row, notices)
        self._begins = begins and not isinstance(at, datetime)

    def _end(self, window: Window, highest: int) -> None:
        """After the last message of the range."""
        if window.end is not None:
            self._again.between(None, window.end)
            self._again.passed(_EVER)
        else:
            self._fill(highest + 1, None, window)
            if highest > self._gaps.last:
                self._gap(highest + 1, None, tells=True)
            self._again.between(None, _EVER)
        if self._begins and (self._gaps.last or highest or window != Window()):
            self._again.begin(None)

    def _apart(self, window: Window) -> None:
        """What hangs on no flight: messages without effects, rows out of place, the settings of then."""
        for row in self.store.stored_unapplied():
            at = row["FINISHED_AT"]
            if not isinstance(at, datetime) or window.holds(at):
                self._others += 1
                self._again.other(row)
        for stray in self.store.strays():
            self._found(Difference("stray", stray.table, stray.key, stray.column, stray.value, None))
        for event in self.store.stored_orphans():
            self._orphan(event, window)

    def _orphan(self, event: StoredRow, window: Window) -> None:
        """An event without an applied message, unless age can have taken that one."""
        doubts, at = self._again.doubts, event["CREATED_AT"]
        if self._checking is None or not isinstance(at, datetime) or not window.holds(at):
            return
        known = doubts.whole or (
            doubts.start is not None and at >= doubts.start and not self._checking.events.is_anothers(at)
        )
        if known and self._gaps.undisturbed():
            self._checking.events.orphan(event)

    def _report(self) -> Report:
        doubts = self._again.doubts
        return Report(
            messages=self._messages,
            others=self._others,
            differences=self._differences,
            left_out=doubts.left_out,
            policies_assumed=self.policies.assumed,
            whole=doubts.whole,
        )

    def _found(self, difference: Difference) -> None:
        self._differences += 1
        self.found(difference)
