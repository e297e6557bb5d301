"""The history sweep: ended flights are written away, confirmed, re-checked, removed (IMP §9.3, D-33)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from attrs import field, frozen

from msgx_core.errors import Conflict, MsgxError, Rejected
from msgx_core.model.change import FlightQuery
from msgx_core.model.flight import FlightState
from msgx_core.pipeline.evidence import Evidence
from msgx_core.pipeline.pending_keys import PendingKeys
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports import Archived, Clock, History, HistoryRecord, Store, Telemetry
from msgx_core.ports.archive import DepartureStep
from msgx_core.rules.ended import Ended, EndedWindows, ended
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import flight_document, to_json
from msgx_core.rules.sweep import plan_departure

PAGE = 200


@frozen
class SweepResult:
    """Flights seen, ended, left alone for an unfinished message, not confirmed, kept back, archived.

    `kept` are confirmed ones that changed meanwhile or that the store refused; they stay for the next sweep.
    """

    seen: int = 0
    ended: int = 0
    busy: int = 0
    unconfirmed: int = 0
    kept: int = 0
    archived: int = 0
    notified: int = 0


Tally = Counter[str]


@frozen
class HistorySweep:
    """Moves ended flights from the store to the history store.

    Without a history store nothing happens; what it does not confirm stays; what is unclear stays. Only
    the removal is under the pipeline lock, so that messages go on while history is written. `turn` lets one
    sweep at a time run. `forget` is called under the lock before flights are removed.
    """

    store: Store
    keys: PendingKeys
    clock: Clock
    telemetry: Telemetry
    policy: Policy
    windows: EndedWindows
    history: History | None = None
    lock: AbstractContextManager[object] = field(factory=nullcontext)
    on_step: Callable[[str], None] = no_step
    page: int = PAGE
    evidence: Evidence | None = None
    turn: AbstractContextManager[object] = field(factory=nullcontext)
    forget: Callable[[], None] = lambda: None

    def run(
        self,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[SweepResult], None] = lambda r: None,
    ) -> SweepResult:
        """One sweep over all flights; ends early, losing nothing, when `stop()` is true between pages.

        Raises `Transient` when history, store or cache do not answer, `Fenced` when another instance has
        taken over; what was archived until then stays archived.
        """
        tally: Tally = Counter()
        if self.history is None:
            return SweepResult(**tally)
        with self.turn:
            self.keys.settle()
            after = 0
            try:
                while not stop() and (states := self.store.flights_after(after, self.page)):
                    after = states[-1].flid
                    self._sweep(self.history, states, tally)
                    progress(SweepResult(**tally))
            finally:
                self._tell(tally)
        return SweepResult(**tally)

    def _sweep(self, history: History, states: Sequence[FlightState], tally: Tally) -> None:
        tally["seen"] += len(states)
        candidates = self._candidates(states, tally)
        records = {flid: r for flid, (s, e) in candidates.items() if (r := self._record(s, e)) is not None}
        if not records:
            tally["unconfirmed"] += len(candidates)
            return
        self.on_step(Step.HISTORY_SELECTED)
        kept = history.write(list(records.values()))
        self.on_step(Step.HISTORY_WRITTEN)
        # What was not asked for proves nothing.
        confirmed = {flid: records[flid].version for flid in sorted(records.keys() & set(kept))}
        tally["unconfirmed"] += len(candidates) - len(confirmed)
        if confirmed:
            self._remove(confirmed, tally)

    def _candidates(
        self, states: Sequence[FlightState], tally: Tally
    ) -> Mapping[int, tuple[FlightState, Ended]]:
        now = self.clock.now()
        found = {s.flid: (s, e) for s in states if (e := self._ended(s, now)) is not None}
        if not found:
            return found
        busy = set(self.store.unfinished_message_ids())
        free = {flid: pair for flid, pair in found.items() if pair[0].last_msg_id not in busy}
        tally["ended"] += len(found)
        tally["busy"] += len(found) - len(free)
        return free

    def _ended(self, state: FlightState, now: datetime) -> Ended | None:
        return ended(state, now, self.windows, self.policy)

    def _record(self, state: FlightState, why: Ended) -> HistoryRecord | None:
        """What is written of a flight; None where that fails: it stays and keeps no other."""
        try:
            document = flight_document(state, self.policy)
            raw = self.store.raw_sections(state.flid)
            if raw:
                document["RAW_SECTIONS"] = dict(raw)
            text = to_json(document | {"ENDED_BY": why.by.value})
            return HistoryRecord(state.flid, state.version, state.operation_day, why.at, text)
        except MsgxError:
            raise
        except Exception as error:
            self.telemetry.event("history-record-failed", flid=state.flid, error=repr(error))
            return None

    def _remove(self, confirmed: Mapping[int, int], tally: Tally) -> None:
        with self.lock:
            try:
                self._archive(confirmed, tally)
            except (Conflict, Rejected):
                # One of them is not as it was, or the store refuses it: the others go one by one.
                for flid, version in confirmed.items():
                    self._archive_alone(flid, version, tally)
            self.keys.settle_locked()

    def _archive_alone(self, flid: int, version: int, tally: Tally) -> None:
        try:
            self._archive({flid: version}, tally)
        except (Conflict, Rejected) as error:
            tally["kept"] += 1
            self.telemetry.event("history-removal-failed", flid=flid, error=str(error))

    def _archive(self, confirmed: Mapping[int, int], tally: Tally) -> None:
        """Remove what still is as it was confirmed; decided on what the store holds now, under the lock."""
        snapshot = self.store.read(FlightQuery(flids=frozenset(confirmed)))
        busy = set(self.store.unfinished_message_ids())
        now = self.clock.now()
        leaving = [
            flid
            for flid, version in confirmed.items()
            if (state := snapshot.flights.get(flid)) is not None
            and state.version == version
            and state.last_msg_id not in busy
            and self._ended(state, now) is not None
        ]
        if leaving:
            departure = plan_departure(leaving, snapshot, now=now, policy=self.policy)
            gone = [
                Archived(flid, confirmed[flid], snapshot.flights[flid].last_msg_id, tombstone)
                for flid, tombstone in departure.tombstones.items()
            ]
            # Before the commit: if we do not hear of it, the keys are pending all the same.
            self.keys.due = True
            self.forget()
            self.store.archive_flights(gone, departure.notified, now)
            self.on_step(Step.ARCHIVED)
            if self.evidence is not None:
                self.evidence.keep_step(DepartureStep(now, {a.flid: a.version + 1 for a in gone}))
                self.on_step(Step.DEPARTURE_KEPT)
            tally["notified"] += len(departure.notified)
        tally["archived"] += len(leaving)
        tally["kept"] += len(confirmed) - len(leaving)

    def _tell(self, tally: Tally) -> None:
        for name in ("ended", "busy", "unconfirmed", "kept", "archived", "notified"):
            self.telemetry.count(f"msgx.history.{name}", tally[name])
