"""The wired system on the embedded set, with everything a test may want to break."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from attrs import define, evolve, field

from msgx_adapters.bus_memory import MemoryBus
from msgx_adapters.cache_memory import MemoryCache
from msgx_adapters.codec_lxml import LxmlCodec
from msgx_adapters.inbox_memory import MemoryInbox
from msgx_adapters.outbound_memory import MemoryOutbound
from msgx_adapters.store_sqlite import SqliteStore
from msgx_core.pipeline.pipeline import DrainReport, Extras, Pipeline, PipelineConfig
from msgx_core.ports import Archive, Codec, History
from msgx_core.ports.operations import MessageFilter
from msgx_core.rules.policy import Policy
from msgx_core.rules.render import flight_document
from msgx_core.testing.clock import ManualClock

SHANGHAI = ZoneInfo("Asia/Shanghai")


class SimulatedCrash(BaseException):
    """The process is gone at this point; nothing may catch it."""


@define
class System:
    """One airport's parts. Mailbox, bus and store file outlive a `restart`; all else is made anew.

    Requests are sent with `sends` only. With `cache_outlives` the cache is a server of its own.
    """

    store_path: Path | None
    config: PipelineConfig = field(factory=PipelineConfig)
    clock: ManualClock = field(factory=lambda: ManualClock(datetime(2027, 3, 14, 0, 0, tzinfo=UTC)))
    zone: ZoneInfo = SHANGHAI
    codec: Codec = field(factory=LxmlCodec)
    on_step: Callable[[str], None] = field(default=lambda name: None)
    sends: bool = False
    archive: Archive | None = None
    history: History | None = None
    inbox: MemoryInbox = field(init=False)
    outbound: MemoryOutbound = field(init=False)
    bus: MemoryBus = field(init=False)
    cache: MemoryCache = field(init=False)
    store: SqliteStore = field(init=False)
    pipeline: Pipeline = field(init=False)
    cache_outlives: bool = False
    _starts: int = field(default=0, init=False)
    _started: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        policy = evolve(self.config.policy, airport_zone=self.zone, sis_zone=self.zone)
        self.config = evolve(self.config, policy=policy)
        self.inbox = MemoryInbox(zone=self.zone, clock=self.clock)
        self.outbound = MemoryOutbound(zone=self.zone, clock=self.clock)
        self.bus = MemoryBus()
        self.store = SqliteStore.open(self.store_path, create=True)
        self.cache = MemoryCache()
        self._wire()

    @property
    def policy(self) -> Policy:
        """The rules' choices."""
        return self.config.policy

    def _wire(self) -> None:
        self.pipeline = Pipeline(
            inbox=self.inbox,
            store=self.store,
            cache=self.cache,
            bus=self.bus,
            codec=self.codec,
            clock=self.clock,
            extras=Extras(
                outbound=self.outbound if self.sends else None,
                archive=self.archive,
                history=self.history,
            ),
            config=self.config,
            on_step=self._step,
        )

    def _step(self, name: str) -> None:
        """A step boundary; `on_step` may be changed at any time."""
        self.on_step(name)

    def restart(self, *, clean: bool = True) -> None:
        """A new process on the same data; not `clean`: the old one did not give its lease back."""
        if clean:
            self.store.release_lease()
        else:
            with self.store.connection.write():
                self.store.connection.run("UPDATE LEASE SET EXPIRES_UNIX = 0")
        self._started = False
        if self.store_path is None:
            self.store = SqliteStore(self.store.connection)
        else:
            self.store.close()
            self.store = SqliteStore.open(self.store_path, create=False)
        if not self.cache_outlives:
            self.cache = MemoryCache()
        self._wire()

    def start(self) -> None:
        """Take the lease as a new holder."""
        self._starts += 1
        grant = self.pipeline.start(f"test-{self._starts}", lease_expiry_s=60.0)
        assert grant.granted
        self._started = True

    def drain(self) -> DrainReport:
        """Start if needed and drain."""
        if not self._started:
            self.start()
        return self.pipeline.drain()

    def send(self, raws: Iterable[bytes]) -> list[int]:
        """Put messages in the mailbox."""
        return [self.inbox.send(raw) for raw in raws]

    def fates(self) -> dict[int, tuple[str, str | None, str | None]]:
        """State, error code and reason by message."""
        rows = self.store.messages(MessageFilter(limit=100_000))
        return {r["MSG_ID"]: (r["STATE"], r.get("ERROR_CODE"), r.get("REASON")) for r in rows}

    def document(self, flid: int) -> dict[str, Any]:
        """The full state of a flight as people see it."""
        state = self.store.flight(flid)
        assert state is not None, f"no flight {flid}"
        return flight_document(state, self.policy)

    def close(self) -> None:
        """Give the file, or the memory, back."""
        self.store.close()
        self.store.connection.close()


def closing_system(store_path: Path | None, **options: Any) -> closing[System]:
    """A system that is closed at the end of a `with`."""
    return closing(System(store_path, **options))
