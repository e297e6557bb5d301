"""Cache keys that the history sweep left to be changed: worked off before the next head (D-33)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import TracebackType

from attrs import define

from msgx_core.errors import Rejected
from msgx_core.model.change import FlightQuery
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports import Store, Telemetry
from msgx_core.ports.cache import Cache, CacheEntry, CacheGone, CachePut
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import flight_document, to_json

PAGE = 500


@define
class PendingKeys:
    """`CACHE_PENDING` of the store brought into the cache. Safe to call from several threads.

    `due` is set at start, at a takeover and by the sweep; while it is not, `settle` costs nothing. A key is
    written from the state that the store has now, so that the order of settling means nothing.
    """

    store: Store
    cache: Cache
    policy: Policy
    telemetry: Telemetry
    lock: AbstractContextManager[object]
    on_step: Callable[[str], None] = no_step
    due: bool = True

    def settle(self) -> int:
        """Work off all that is pending; how many keys. Raises `Transient`: then they stay pending.

        A key that the cache refuses stays pending until the next start or sweep and keeps no other.
        """
        if not self.due:
            return 0
        with self.lock:
            return self.settle_locked()

    def settle_locked(self) -> int:
        """The same for who holds the pipeline lock already."""
        done = 0
        while self.due and (pending := self.store.cache_pending(PAGE)):
            settled = self._write(pending)
            if settled:
                self.store.cache_settled(settled)
                self.on_step(Step.KEYS_SETTLED)
            done += len(settled)
            if len(settled) < len(pending):
                break
        self.due = False
        if done:
            self.telemetry.count("msgx.history.keys", done)
        return done

    def _write(self, pending: Mapping[int, int]) -> Sequence[int]:
        entries = self._entries(pending)
        try:
            self.cache.write(entries)
        except Rejected:
            entries = [entry for entry in entries if self._taken(entry)]
        else:
            self.on_step(Step.KEYS_WRITTEN)
        return [entry.flid for entry in entries]

    def _taken(self, entry: CacheEntry) -> bool:
        try:
            self.cache.write([entry])
        except Rejected as error:
            self.telemetry.count("msgx.history.keys.refused")
            self.telemetry.event("cache-key-refused", flid=entry.flid, reason=error.reason)
            return False
        self.on_step(Step.KEYS_WRITTEN)
        return True

    def _entries(self, pending: Mapping[int, int]) -> list[CacheEntry]:
        found = self.store.read(FlightQuery(flids=frozenset(pending))).flights
        entries: list[CacheEntry] = []
        for flid, version in pending.items():
            state = found.get(flid)
            if state is None:
                entries.append(CacheGone(flid, version, None))
            elif state.is_live:
                document = to_json(flight_document(state, self.policy))
                entries.append(CachePut(flid, state.version, state.operation_day, document))
            else:
                entries.append(CacheGone(flid, state.version, state.operation_day))
        return entries


@define
class KeysFirst:
    """The pipeline lock for who writes flights: what is pending comes first, even after a wait for it."""

    lock: AbstractContextManager[object]
    keys: PendingKeys

    def __enter__(self) -> None:
        """Take the lock and settle; the lock is given back when that fails."""
        self.lock.__enter__()
        try:
            self.keys.settle_locked()
        except BaseException as error:
            self.lock.__exit__(type(error), error, error.__traceback__)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the lock back."""
        self.lock.__exit__(kind, error, trace)
