"""Intake: mailbox rows without a processing time become `PENDING` (IMP §4.1, D-35)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from attrs import frozen

from msgx_core.model.proc import NewMessage
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports.clock import Clock
from msgx_core.ports.inbox import Inbox
from msgx_core.ports.store import PipelineStore
from msgx_core.ports.telemetry import Telemetry


@frozen
class ScanResult:
    """Rows seen without a mark, and how many of them were new."""

    seen: int
    new: int


@frozen
class Intake:
    """Scans from the lowest unmarked id, page by page to the end.

    No position is kept between scans: a smaller id that commits late is found by the next one (R-031), and
    rows that wait for their write-back hide nothing, however many there are. After a scan to the end
    `on_end` is told when that scan began: what was in the mailbox then has been taken in.
    """

    inbox: Inbox
    store: PipelineStore
    clock: Clock
    telemetry: Telemetry
    page_size: int = 200
    on_step: Callable[[str], None] = no_step
    on_end: Callable[[datetime], None] = lambda began_at: None

    def scan(self, stop: Callable[[], bool] = lambda: False) -> ScanResult:
        """One full scan; ends early, losing nothing, when `stop()` is true between pages."""
        with self.telemetry.stage("intake"):
            return self._scan(stop)

    def _scan(self, stop: Callable[[], bool]) -> ScanResult:
        began_at = self.clock.now()
        seen = new = after = 0
        while not stop():
            ids = self.inbox.scan(after, self.page_size)
            if ids:
                after = ids[-1]
                seen += len(ids)
                new += self._take_in(ids)
            if len(ids) < self.page_size:
                self.on_end(began_at)
                break
        self.telemetry.count("msgx.intake.scanned", seen)
        self.telemetry.count("msgx.intake.inserted", new)
        return ScanResult(seen, new)

    def _take_in(self, ids: Sequence[int]) -> int:
        unknown = self.store.unknown(ids)
        if not unknown:
            return 0
        received = self.inbox.received_at(unknown)
        self.on_step(Step.SCANNED)
        new = self.store.enqueue([NewMessage(i, received.get(i)) for i in unknown], self.clock.now())
        self.on_step(Step.ENQUEUED)
        return new
