"""What a kind of message is, and a pipeline over given parts that plays it, phase by phase."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from attrs import define, evolve, field, frozen

from embedded import SHANGHAI, SimulatedCrash
from msgx_adapters.codec_lxml import LxmlCodec
from msgx_core.pipeline.pipeline import Extras, Pipeline, PipelineConfig
from msgx_core.pipeline.steps import no_step
from msgx_core.ports import Archive, Bus, Cache, Codec, History, Inbox, Outbound, Store
from msgx_core.rules.policy import Policy
from msgx_core.testing.clock import ManualClock

BEGIN = datetime(2027, 3, 14, 0, 0, tzinfo=UTC)
RECOVERY = timedelta(minutes=2)
"""How long after a crash the next process goes on: claims and back-offs are over then."""

AIRPORT = PipelineConfig(policy=Policy(airport_zone=SHANGHAI, sis_zone=SHANGHAI))

Act = Callable[["Bench"], None]
Disguise = Callable[[Any, ManualClock], Any]
"""From a part to one with a fault, which may depend on the time alone: a new process has the same fault."""


@frozen
class Phase:
    """What happens `after` the phase before it; `quiet`: nothing crashes in it, and it happens once."""

    act: Act
    after: timedelta = timedelta(minutes=10)
    quiet: bool = False


@frozen
class Kind:
    """A kind of message or of work: what was there before, what then happens, and what is wrong meanwhile.

    A phase that was cut off is done again by the next process, as a daemon would, or an operator.
    """

    name: str
    phases: Sequence[Phase]
    before: Sequence[Phase]
    config: PipelineConfig = AIRPORT
    faults: dict[str, Disguise] = field(factory=dict)
    history: bool = False


class Owner(Protocol):
    """What the owners of the mailbox do to it."""

    def insert(self, msg_id: int, raw: bytes | None) -> None:
        """A row with an id of their choice."""
        ...

    def delete(self, msg_id: int) -> None:
        """A row goes."""
        ...

    def mark(self, msg_id: int) -> None:
        """A row is marked by somebody else."""
        ...


@define
class Parts:
    """The adapters of one process."""

    inbox: Inbox
    outbound: Outbound
    store: Store
    cache: Cache
    bus: Bus
    archive: Archive
    owner: Owner
    history: History | None = None


@define
class Bench:
    """A kind's pipeline in this process. `reopen` gives the parts of the next one."""

    kind: Kind
    parts: Parts
    reopen: Callable[[Bench, bool], Parts]
    clock: ManualClock = field(factory=lambda: ManualClock(BEGIN))
    on_step: Callable[[str], None] = no_step
    lease_s: float = 60.0
    pipeline: Pipeline = field(init=False)
    _starts: int = field(default=0, init=False)
    _started: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self.wire()

    @property
    def store(self) -> Store:
        """The store as it is, without faults."""
        return self.parts.store

    def wire(self) -> None:
        """A pipeline on the parts, disguised as the kind wants them."""
        parts, codec = self.parts, LxmlCodec()
        self.pipeline = Pipeline(
            inbox=self._disguised("inbox", parts.inbox),
            store=self._disguised("store", parts.store),
            cache=self._disguised("cache", parts.cache),
            bus=self._disguised("bus", parts.bus),
            codec=self._codec(codec),
            clock=self.clock,
            extras=Extras(outbound=parts.outbound, archive=parts.archive, history=parts.history),
            config=self.kind.config,
            on_step=self._step,
        )

    def _codec(self, codec: LxmlCodec) -> Codec:
        made: Codec = self._disguised("codec", codec)
        return made

    def _disguised(self, name: str, part: Any) -> Any:
        disguise = self.kind.faults.get(name)
        return part if disguise is None else disguise(part, self.clock)

    def _step(self, name: str) -> None:
        self.on_step(name)

    def ready(self) -> Pipeline:
        """The pipeline with the lease; waits for that of a process that is gone."""
        if not self._started:
            self._starts += 1
            holder = f"bench-{id(self)}-{self._starts}"
            for _ in range(2000):
                if self.pipeline.start(holder, self.lease_s).granted:
                    self._started = True
                    return self.pipeline
                time.sleep(0.005)
            raise AssertionError("the lease is not granted")
        return self.pipeline

    def restart(self, *, clean: bool) -> None:
        """The next process on the same data; not `clean`: the one before was killed."""
        if clean:
            self.store.release_lease()
        self.parts = self.reopen(self, clean)
        self._started = False
        self.wire()

    def drain(self) -> None:
        """Drain to the end."""
        self.ready().drain()

    def dies_at(self, step: str) -> None:
        """A process before this one was killed at its first such boundary."""
        hook, self.on_step = self.on_step, _dying(step)
        try:
            self.drain()
        except SimulatedCrash:
            self.on_step = hook
            self.restart(clean=False)
            return
        raise AssertionError(f"nothing passed {step}")

    def advance_to(self, at: datetime) -> None:
        """Let time pass until then, unless it is later already."""
        self.clock.advance(max(at - self.clock.now(), timedelta(0)))


def play(bench: Bench, first: int = 0, *, begun: Callable[[int], None] = lambda number: None) -> None:
    """What the kind is about, from that phase on; quiet phases tell `on_step` nothing.

    `begun` is told each phase that can crash as it begins.
    """
    hook = bench.on_step
    for number, phase in enumerate(bench.kind.phases):
        if number < first:
            continue
        bench.advance_to(time_of(bench.kind, number))
        bench.on_step = no_step if phase.quiet else hook
        if not phase.quiet:
            begun(number)
        try:
            phase.act(bench)
        finally:
            bench.on_step = hook


def prepare(bench: Bench) -> None:
    """What was there before; the process that did it has ended clean."""
    for phase in bench.kind.before:
        bench.clock.advance(phase.after)
        phase.act(bench)
    bench.restart(clean=True)


def time_of(kind: Kind, number: int) -> datetime:
    """When a phase begins in an undisturbed run."""
    waits = [*kind.before, *kind.phases[: number + 1]]
    return BEGIN + sum((phase.after for phase in waits), timedelta(0))


def _dying(step: str) -> Callable[[str], None]:
    def hook(name: str) -> None:
        if name == step:
            raise SimulatedCrash(name)

    return hook


def with_policy(**changes: Any) -> PipelineConfig:
    """The airport's configuration with other choices."""
    return evolve(AIRPORT, policy=evolve(AIRPORT.policy, **changes))
