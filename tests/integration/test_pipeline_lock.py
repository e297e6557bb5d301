"""Who holds the pipeline lock, and between which steps (IMP §5.2, §5.3, D-01)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import TracebackType

import pytest
from attrs import Factory, define

from embedded import System
from msgx_adapters.history_file import FileHistory
from msgx_core.pipeline.pipeline import Extras, Pipeline
from msgx_core.pipeline.steps import Step
from wire import fdel, flop, fltr, gate, reference, schedule

IN_ORDER = [Step.FETCHED, Step.BOUND, Step.DECIDED, Step.APPLIED, Step.CACHED, Step.FINISHED]


@define
class WatchedLock:
    """A lock for one thread that knows whether it is held and how often it was taken."""

    held: bool = False
    taken: int = 0

    def __enter__(self) -> None:
        assert not self.held, "it is taken once at a time"
        self.held, self.taken = True, self.taken + 1

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.held = False


@define
class Watched:
    """A system whose steps are written down, each with whether the lock was held."""

    system: System
    history: FileHistory
    lock: WatchedLock = Factory(WatchedLock)
    steps: list[tuple[str, bool]] = Factory(list)

    def pipeline(self) -> Pipeline:
        """The wired pipeline under the watched lock."""
        parts = self.system
        made = Pipeline(
            inbox=parts.inbox,
            store=parts.store,
            cache=parts.cache,
            bus=parts.bus,
            codec=parts.codec,
            clock=parts.clock,
            extras=Extras(history=self.history),
            config=parts.config,
            lock=self.lock,
            on_step=lambda name: self.steps.append((name, self.lock.held)),
        )
        assert made.start("test", lease_expiry_s=60.0).granted
        made.pump.tick()  # what a start owes
        self.steps.clear()
        self.lock.taken = 0
        return made


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Watched]:
    with closing(System(None)) as system:
        yield Watched(system, FileHistory(tmp_path / "history"))


def under_lock(watched: Watched) -> set[str]:
    return {name for name, held in watched.steps if held}


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(schedule("DNLD", [fltr(1), fltr(2)]), id="SCHD"),
        pytest.param(flop(1, "GTDT", gate("B1")), id="FLOP"),
        pytest.param(reference("GLST", "ADD", ["<GCOD>B07</GCOD>"]), id="reference"),
        pytest.param(fdel(3), id="FDEL"),
    ],
)
def test_a_message_goes_its_way_in_one_order_under_one_lock(watched: Watched, raw: bytes) -> None:
    """R-083, R-087, R-104, R-172: the lock is taken once, before the decision, and given back after ③;
    each step comes once, the decision inside."""
    pipeline = watched.pipeline()
    watched.system.send([raw])
    pipeline.intake.scan()
    watched.steps.clear()
    pipeline.pump.tick()
    assert [name for name, _ in watched.steps if name in IN_ORDER] == IN_ORDER
    assert watched.lock.taken == 1
    assert {Step.DECIDED, Step.APPLIED, Step.CACHED, Step.FINISHED} <= under_lock(watched)


def test_what_has_no_second_writer_takes_no_lock(watched: Watched) -> None:
    """R-034, R-039, R-089, R-092, R-098, R-154: intake, fetching, binding, write-back and relays do not
    wait for a message, and no message for them."""
    pipeline = watched.pipeline()
    watched.system.send([schedule("DNLD", [fltr(1)])])
    pipeline.intake.scan()
    assert watched.lock.taken == 0
    pipeline.pump.tick()
    assert not under_lock(watched) & {Step.SCANNED, Step.ENQUEUED, Step.FETCHED, Step.BOUND}
    taken = watched.lock.taken
    assert pipeline.writeback.sweep().done == 1
    assert pipeline.msg_relay.run_once().sent == 1
    assert pipeline.schd_relay.run_once().sent == 1
    assert watched.lock.taken == taken


def test_the_history_sweep_removes_under_the_same_lock(watched: Watched) -> None:
    """R-088, R-097: so it never comes between the steps of a message; history is written outside it."""
    pipeline = watched.pipeline()
    watched.system.send([schedule("DNLD", [fltr(1)])])
    pipeline.drain()
    watched.system.clock.advance(10 * 86_400)
    watched.steps.clear()
    assert pipeline.sweep.run().archived == 1
    held = dict(watched.steps)
    assert (held[Step.HISTORY_WRITTEN], held[Step.ARCHIVED]) == (False, True)
