"""Recovery: what an operator does after a restored backup, a lost topic, a store begun anew (D-31)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from attrs import evolve, field, frozen

from msgx_core.model.change import FlightPut
from msgx_core.model.flight import DeleteReason, FlightState
from msgx_core.model.proc import NewMessage
from msgx_core.pipeline.cache_keeper import CacheKeeper
from msgx_core.pipeline.verify import ignore
from msgx_core.ports import Archive, Clock, Inbox, Raised, Store
from msgx_core.ports.operations import Audit
from msgx_core.rules.merge import all_tags
from msgx_core.rules.policy import Policy
from msgx_core.rules.policy_text import raw_grounds
from msgx_core.rules.render import put_documents

PAGE = 500


@frozen
class TakenIn:
    """Messages that are waiting now, and how many of them have their text in the archive alone.

    `left_before`: flights of the store, by FLID, of which the archive knows that they left for the history
    store: the backup is from before that. What brought one of them back for another day will be dead (D-10),
    unless the sweep takes it first.
    """

    new: int = 0
    from_archive: int = 0
    left_before: Sequence[int] = ()


@frozen
class RecoveryService:
    """Needs the lease, and so a pump that stands still. Everything is audited."""

    store: Store
    inbox: Inbox
    archive: Archive | None
    keeper: CacheKeeper
    clock: Clock
    policy: Policy
    progress: Callable[[int], None] = field(default=ignore)

    def raise_versions(self, by: int, audit: Audit) -> Raised:
        """Versions, floors and event counters above what consumers have seen; the cache made anew."""
        if by < 1:
            raise ValueError(f"versions only rise: {by}")
        raised = self.store.raise_versions(by, audit, self.clock.now())
        self.keeper.rebuild()
        return raised

    def republish(self, audit: Audit) -> int:
        """Every flight once more on both topics, a deleted one as its tombstone; how many flights.

        Versions stay: consumers that have them already take no notice.
        """
        generations = {roster.day: roster.version for roster in self.store.rosters()}
        done = 0
        for page in self._flights():
            puts = [self._put(state) for state in page]
            days = [put.state.operation_day for put in puts]
            told = [
                _documented(put, None if day is None else generations.get(day, 0), self.policy)
                for put, day in zip(puts, days, strict=True)
            ]
            self.store.republish(told, self.clock.now())
            done += len(page)
            self.progress(done)
        self.store.record("republish", done, f"{done} flights", audit, self.clock.now())
        return done

    def take_in(self, first: int, last: int, audit: Audit) -> TakenIn:
        """Messages of a range of ids that the store does not know, marked in the mailbox or not.

        What the mailbox has lost and the archive has is taken from there, in its order among the others.
        """
        new = archived = 0
        for start in range(first, last + 1, PAGE):
            ids = range(start, min(start + PAGE, last + 1))
            unknown = self.store.unknown(ids)
            received = self.inbox.received_at(unknown) if unknown else {}
            rows = [NewMessage(msg_id, received[msg_id]) for msg_id in unknown if msg_id in received]
            new += self.store.enqueue(rows, self.clock.now()) if rows else 0
        for rows, grounds in self._archived(first, last):
            new += self.store.enqueue(rows, self.clock.now())
            archived += len(self.store.replay_from_archive(grounds, audit, self.clock.now()))
        detail = f"{new} of {first}..{last}, {archived} from the archive alone"
        self.store.record("take_in", new, detail, audit, self.clock.now())
        return TakenIn(new, archived, self._left_before())

    def _flights(self) -> Iterator[Sequence[FlightState]]:
        after = 0
        while page := self.store.flights_after(after, PAGE):
            yield page
            after = page[-1].flid

    def _put(self, state: FlightState) -> FlightPut:
        if state.is_live:
            return FlightPut(state, state.version, changed=all_tags(state))
        told = [event["PAYLOAD"].get("REASON") for event in self.store.flight_events(state.flid)]
        reasons = [DeleteReason(reason) for reason in told if reason]
        return FlightPut(state, state.version, reason=reasons[-1] if reasons else DeleteReason.FDEL)

    def _left_before(self) -> list[int]:
        """Flights that are older than a departure of theirs, which cannot be unless they were put back."""
        left = {} if self.archive is None else _departures(self.archive)
        states = (self.store.flight(flid) for flid in sorted(left))
        return [state.flid for state in states if state is not None and state.created_at < left[state.flid]]

    def _archived(self, first: int, last: int) -> Iterator[tuple[list[NewMessage], dict[int, str]]]:
        """What the archive alone has, in portions; each id once, its newest text."""
        if self.archive is None:
            return
        newest: dict[int, str] = {}
        for one in self.archive.read():
            if first <= one.msg_id <= last:
                newest[one.msg_id] = one.key
        wanted = sorted(newest)
        for start in range(0, len(wanted), PAGE):
            unknown = self.store.unknown(wanted[start : start + PAGE])
            if unknown:
                rows = [NewMessage(msg_id, _filed(newest[msg_id])) for msg_id in unknown]
                yield rows, {msg_id: raw_grounds(newest[msg_id]) for msg_id in unknown}


def _departures(archive: Archive) -> dict[int, datetime]:
    """When each flight left last; steps come in order of time."""
    return {flid: step.at for step in archive.steps() for flid in step.floors}


def _filed(key: str) -> datetime:
    """The day of a key, so that the text is found under it again."""
    year, month, day, _ = key.split("/")
    return datetime(int(year), int(month), int(day), tzinfo=UTC)


def _documented(put: FlightPut, generation: int | None, policy: Policy) -> FlightPut:
    notice, document = put_documents(put, generation, policy)
    return evolve(put, notice=notice, document=document)
