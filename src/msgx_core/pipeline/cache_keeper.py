"""Keeps the snapshot cache this store's own: notices a lost one and fills it again (D-31)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from attrs import field, frozen

from msgx_core.model.alert import Alert, AlertCode
from msgx_core.pipeline.desk import Desk
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports.cache import Cache, CachePut
from msgx_core.rules.render import flight_document, to_json

PAGE = 500


@frozen
class CacheKeeper:
    """`store_id` in the cache tells from which store it was filled."""

    cache: Cache
    desk: Desk
    lock: AbstractContextManager[object] = field(factory=nullcontext)
    on_step: Callable[[str], None] = no_step

    def ensure(self) -> int | None:
        """Rebuild a cache that is empty or of another store; how many flights, None: it was right.

        A cache that held data and lost it raises `CACHE_LOST`; one that starts empty by nature does not.
        """
        found = self.cache.store_id()
        if found == self.desk.store.store_id():
            return None
        if not self.cache.volatile and self.desk.store.live_flights(0, 1):
            detail = "no store id" if found is None else f"filled from store {found}"
            self.desk.store.raise_alert(Alert(AlertCode.CACHE_LOST, detail=detail), self.desk.clock.now())
            self.on_step(Step.CACHE_LOST)
        return self.rebuild()

    def rebuild(self, progress: Callable[[int], None] = lambda n: None) -> int:
        """Make the cache exactly the live flights of the store; returns how many.

        Under the pipeline lock, so that no message writes meanwhile; `progress` gets the count so far. Raises
        `Fenced` when another instance has taken over: it fills the cache then.
        """
        with self.lock:
            flights = self.cache.rebuild(self.desk.store.store_id(), self._pages(progress))
            self.on_step(Step.CACHE_REBUILT)
        return flights

    def _pages(self, progress: Callable[[int], None]) -> Iterator[Sequence[CachePut]]:
        after = done = 0
        # Before each page: what is read under the lease is what the cache is to have.
        while self.desk.store.extend_lease() and (states := self.desk.store.live_flights(after, PAGE)):
            after = states[-1].flid
            yield [
                CachePut(s.flid, s.version, s.operation_day, to_json(flight_document(s, self.desk.policy)))
                for s in states
            ]
            self.on_step(Step.CACHE_PAGE)
            done += len(states)
            progress(done)
