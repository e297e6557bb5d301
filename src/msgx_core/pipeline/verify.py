"""Verification: flights and reference data computed from the archive, compared with the store (D-36)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from attrs import define, evolve, field, frozen

from msgx_core.errors import MessageError
from msgx_core.pipeline.comparing import Comparing, Difference
from msgx_core.pipeline.desk import Apply
from msgx_core.pipeline.heads import digest_of
from msgx_core.pipeline.recompute import Policies, TextSource, decide_again
from msgx_core.pipeline.recomputed import Recomputed
from msgx_core.pipeline.timeline import Raise, Timeline
from msgx_core.ports.archive import DepartureStep
from msgx_core.ports.codec import Codec
from msgx_core.ports.operations import Row, Views
from msgx_core.rules.policy import Policy

PAGE = 500
_ALL = 1_000_000_000
_EVER = datetime(9999, 12, 31, tzinfo=UTC)


@frozen
class Window:
    """Messages applied from `start` on and before `end`; None: no limit."""

    start: datetime | None = None
    end: datetime | None = None


@frozen
class Report:
    """What was computed again. Flights left out began before the range, or went on after it."""

    messages: int = 0
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


def ignore(number: int) -> None:
    """The default progress."""


@define
class Verifier:
    """Reads the store, writes nothing. Memory holds flights and reference records, never messages.

    `found` gets each difference as it is found; `progress` the count of messages so far. `text` may look
    into the mailbox where the archive has a gap. Runs beside a pump: what is applied after its start is
    left out. `steps` are those of the history sweep that the archive has.
    """

    store: Views
    text: TextSource
    codec: Codec
    policies: Policies
    found: Callable[[Difference], None]
    progress: Callable[[int], None] = ignore
    steps: Callable[[], Iterable[DepartureStep]] = tuple
    world: Recomputed = field(factory=Recomputed)
    _scope: Comparing = field(init=False)
    _messages: int = field(default=0, init=False)
    _last: Row | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._scope = Comparing(self.store, self.world, self._found)

    _differences: int = field(default=0, init=False)

    def run(self, window: Window | None = None, until: int | None = None) -> Report:
        """Compute and compare; with `until` only messages up to that `APPLY_NO`, and nothing is compared.

        Raises `Transient` when store, archive or mailbox do not answer.
        """
        window = Window() if window is None else window
        timeline = Timeline.of(self.store.audit(_ALL), self.store.floors(), self.steps())
        self._recompute(window, timeline, until)
        if until is not None:
            return self._report()
        last = self._last
        scope = self._scope
        if last is not None and window.end is not None:
            self._pass(timeline, None, window.end)
            self._pass_over(timeline)
        self._pass(timeline, None, _EVER)
        scope.last_apply_no = 0 if last is None else last["APPLY_NO"]
        flights, rosters, references = scope.flights(), scope.rosters(), scope.references()
        return evolve(self._report(), flights=flights, rosters=rosters, references=references)

    def _report(self) -> Report:
        return Report(
            messages=self._messages,
            differences=self._differences,
            left_out=self._scope.left_out,
            policies_assumed=self.policies.assumed,
            whole=self._scope.whole,
        )

    def _recompute(self, window: Window, timeline: Timeline, until: int | None) -> None:
        after = 0
        while page := self.store.applied(after, PAGE):
            for row in page:
                after = row["APPLY_NO"]
                if until is not None and after > until:
                    return
                if window.end is not None and row["APPLIED_AT"] >= window.end:
                    return
                if window.start is None or row["APPLIED_AT"] >= window.start:
                    self._step(row, timeline)
            self.progress(self._messages)

    def _step(self, row: Row, timeline: Timeline) -> None:
        if self._last is None and row["APPLY_NO"] > 1:
            self._scope.whole = False
            self._scope.start = row["APPLIED_AT"]
        self._last = row
        self._messages += 1
        policy = self.policies.of(row.get("COVERAGE"))
        self._pass(timeline, row, row["APPLIED_AT"])
        self._decide(row, policy)

    def _pass(self, timeline: Timeline, row: Row | None, at: datetime) -> None:
        """Let pass what was done between messages."""
        for event in timeline.before(None if row is None else row["APPLY_NO"], at):
            if isinstance(event, Raise):
                self.world.raise_versions(event.by)
                continue
            low = self.world.depart(event.floors, event.at, self.policies.today)
            for flid, least in low.items():
                self._found(Difference("floor", str(flid), "STATE_VERSION", event.floors[flid], least))

    def _pass_over(self, timeline: Timeline) -> None:
        """What left after the range says nothing about it; versions raised since are in the store."""
        for event in timeline.before(None, _EVER):
            if isinstance(event, Raise):
                self.world.raise_versions(event.by)
                continue
            gone = [self.world.flights[flid] for flid in event.floors if flid in self.world.flights]
            self._scope.unknown |= {flid for s in gone for flid in (s.flid, s.main_flid) if flid is not None}

    def _decide(self, row: Row, policy: Policy) -> None:
        msg_id = row["MSG_ID"]
        raw = self.text(row)
        if raw is None:
            self._scope.unknown |= {event["FLID"] for event in self.store.message_events(msg_id)}
            self._found(Difference("message", str(msg_id), "RAW", "applied", "no text is left of it"))
            return
        digest = digest_of(raw)
        if row.get("RAW_DIGEST") not in (None, digest):
            self._found(Difference("message", str(msg_id), "RAW_DIGEST", row["RAW_DIGEST"], digest))
        try:
            _, decision = decide_again(row, raw, self.world, self.codec, policy, row["APPLIED_AT"])
        except MessageError as error:
            self._found(Difference("message", str(msg_id), "STATE", "applied", f"DEAD {error.reason}"))
            return
        if isinstance(decision, Apply):
            self.world.commit(decision.change)
        elif decision is not None and self._scope.whole:
            reason = decision.outcome.reason
            self._found(Difference("message", str(msg_id), "STATE", "applied", f"SKIPPED {reason}"))

    def _found(self, difference: Difference) -> None:
        self._differences += 1
        self.found(difference)
