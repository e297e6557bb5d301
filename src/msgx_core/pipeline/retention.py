"""Retention: what is old enough and finished leaves; everything else stays (IMP §9.3, FST §8.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial

from attrs import frozen

from msgx_core.errors import Transient
from msgx_core.pipeline.evidence import Evidence
from msgx_core.pipeline.steps import Step, no_step
from msgx_core.ports import Clock, History, RetentionCutoffs, Store, Telemetry
from msgx_core.rules.operation_day import operation_day
from msgx_core.rules.policy import Policy

BATCH = 1000
HISTORY, ARCHIVE = "HISTORY", "ARCHIVE"
"""Names among the objects of what is not in the store; those of the store are in `ports.Retention`."""

UNKNOWN = "unknown"
Preview = Mapping[str, int | str]
"""`go`: how many would go; a reason: how many of that age stay for it; `unknown`: why nobody can say."""


@frozen
class RetentionPolicy:
    """Ages by object; None keeps for ever. `requests` is that of jobs too."""

    events: timedelta | None = timedelta(days=7)
    processed: timedelta | None = timedelta(days=90)
    snapshot_log: timedelta | None = timedelta(days=90)
    requests: timedelta | None = timedelta(days=90)
    ledger: timedelta | None = None
    history: timedelta | None = None
    archive: timedelta | None = None

    def cutoffs(self, now: datetime, policy: Policy) -> RetentionCutoffs:
        """The limits at an instant.

        The ledger's counts airport days back from today; a request never goes while it may be answered late.
        """
        late_since = now - policy.late_window
        requests = _before(now, self.requests)
        return RetentionCutoffs(
            events=_before(now, self.events),
            processed=_before(now, self.processed),
            snapshot_log=_before(now, self.snapshot_log),
            requests=None if requests is None else min(requests, late_since),
            requests_aged=requests,
            jobs=requests,
            ledger=None if self.ledger is None else operation_day(now, policy) - self.ledger,
            late_since=late_since,
        )


@frozen
class RetentionSweep:
    """Removes in batches, without the pipeline lock and without the lease (R-405).

    The archive only where its age and `evidence` are given: the daemon cleans it in a loop of its own.
    """

    store: Store
    clock: Clock
    telemetry: Telemetry
    policy: Policy
    ages: RetentionPolicy
    history: History | None = None
    on_step: Callable[[str], None] = no_step
    batch: int = BATCH
    evidence: Evidence | None = None

    def preview(self) -> Mapping[str, Preview]:
        """What would go and why the rest of that age stays, by object that has an age; nothing is removed.

        Raises `Transient` when the store does not answer. When history or archive do not, that is told.
        """
        now = self.clock.now()
        found: dict[str, Preview] = dict(self.store.retention_preview(self.ages.cutoffs(now, self.policy)))
        if self.history is not None and self.ages.history is not None:
            found[HISTORY] = _counted(partial(self.history.count_before, now - self.ages.history))
        if self.evidence is not None and self.ages.archive is not None:
            found[ARCHIVE] = _counted(partial(self.evidence.count_expired, self.ages.archive))
        return found

    def run(
        self,
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[Mapping[str, int]], None] = lambda removed: None,
    ) -> Mapping[str, int]:
        """Remove until nothing is left to go, or `stop()` between batches; how many by object.

        Raises `Transient` when store or history do not answer; what went until then is gone.
        """
        now = self.clock.now()
        cutoffs = self.ages.cutoffs(now, self.policy)
        removed: dict[str, int] = {}
        while not stop():
            went = self.store.remove_expired(cutoffs, self.batch)
            self.on_step(Step.EXPIRED_REMOVED)
            self._add(removed, went)
            progress(removed)
            if not any(n >= self.batch for n in went.values()):
                break
        if self.history is not None and self.ages.history is not None and not stop():
            old = self.history.remove_before(now - self.ages.history)
            self.on_step(Step.HISTORY_REMOVED)
            self._add(removed, {HISTORY: old})
        if self.evidence is not None and self.ages.archive is not None and not stop():
            removed[ARCHIVE] = self.evidence.remove_expired(self.ages.archive)
        return removed

    def _add(self, removed: dict[str, int], went: Mapping[str, int]) -> None:
        for name, n in went.items():
            removed[name] = removed.get(name, 0) + n
            self.telemetry.count("msgx.retention.removed", n, object=name)


def _counted(count: Callable[[], int]) -> Preview:
    try:
        return {"go": count()}
    except Transient as error:
        return {UNKNOWN: f"{error.service} does not answer: {error.detail}"}


def _before(now: datetime, age: timedelta | None) -> datetime | None:
    return None if age is None else now - age
