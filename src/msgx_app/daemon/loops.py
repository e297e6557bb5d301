"""The steps of the daemon's loops, and how long each waits for the next one (D-45)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta

from attrs import asdict, define, field, frozen

from msgx_app.container import Container
from msgx_app.daemon.loop import Step
from msgx_core.errors import Transient
from msgx_core.pipeline.pump import TickKind
from msgx_core.ports import LeaseGrant

JOBS_INTERVAL_S = 5.0
OPS_JOBS_INTERVAL_S = 1.0
ARCHIVE_INTERVAL_S = 3600.0
SWEEP_INTERVAL_S = 3600.0
RETENTION_INTERVAL_S = 3600.0
LONGEST_WAIT_S = 1.0
"""An idle pump and a waiting head are looked at this often: an operator's replay tells nobody."""

GATHERING_S = 0.02
"""How long notices gather while they come one by one."""

_LOCK_PATIENCE_S = 1.0
"""What else there is to do does not wait any longer for a schedule or a rebuild that holds the lock."""


@frozen
class Part:
    """A loop to be made: its name, its step, and the longest pause while a service is down.

    `needs` names the services beside the store that its step works with.
    """

    name: str
    step: Step
    longest_pause_s: float = 30.0
    needs: tuple[str, ...] = ()


def parts_of(
    container: Container,
    grant: LeaseGrant,
    *,
    news: Callable[[], None],
    notices: Callable[[], None] = lambda: None,
    stopping: Callable[[], bool],
) -> list[Part]:
    """The loops of one active time.

    `news` is called when the mailbox had something new, `notices` when the pump has come to the end of what
    there was and has left notices for the bus; `stopping()` ends a long scan between its pages.
    """
    settings, pipeline = container.settings, container.pipeline
    flow, lease = settings.pipeline, settings.lease
    poller = Poller(container, _s(flow.poll_interval), _s(flow.poll_interval_idle), news, stopping)
    flush_s = _s(settings.schd.flush_interval)
    notice_s = min(flush_s, _s(flow.poll_interval))
    parts = [
        # A renewal must not wait longer than usual for a store that may be back in time.
        Part("lease", lambda: _renew(container), _s(lease.renew)),
        Part("poller", poller.step, needs=("mailbox",)),
        Part("pump", PumpSteps(container, grant, stopping, notices).step, needs=("mailbox", "cache")),
        Part("relay-msg", lambda: _relay_notices(container, notice_s), needs=("bus",)),
        Part("relay-schd", lambda: 0.0 if pipeline.schd_relay.run_once().full else flush_s, needs=("bus",)),
        Part("jobs", lambda: _jobs(container), needs=("cache", "mailbox")),
        Part("ops-jobs", lambda: _ops_jobs(container, stopping), needs=("cache", "history")),
        Part("retention", lambda: _retention(container, stopping), needs=("history",)),
    ]
    if settings.history.url is not None:
        parts.append(Part("history", lambda: _sweep(container, stopping), needs=("history", "cache")))
    if container.archive is not None:
        parts.append(Part("archive", lambda: _clean_archive(container), needs=("archive",)))
    if settings.mailbox.write_enabled:
        interval_s = _s(flow.backfill_interval)
        parts.append(Part("write-back", lambda: _write_back(container, interval_s), needs=("mailbox",)))
    return parts


def needs_of(parts: Iterable[Part]) -> Mapping[str, frozenset[str]]:
    """By service, the loops that work with it."""
    found: dict[str, frozenset[str]] = {}
    for part in parts:
        for service in part.needs:
            found[service] = found.get(service, frozenset()) | {part.name}
    return found


@define
class Poller:
    """Scans the mailbox; the pause grows while nothing is new (D-35)."""

    _container: Container
    _shortest_s: float
    _longest_s: float
    _news: Callable[[], None]
    _stopping: Callable[[], bool]
    _pause_s: float = field(init=False, default=0.0)

    def step(self) -> float:
        """One scan."""
        if self._container.pipeline.intake.scan(self._stopping).new:
            self._pause_s = self._shortest_s
            self._news()
        else:
            longest_s = max(self._shortest_s, self._longest_s)
            self._pause_s = min(max(self._pause_s * 2, self._shortest_s), longest_s)
        return self._pause_s


@define
class PumpSteps:
    """Gets ready once after the takeover, then ticks."""

    _container: Container
    _grant: LeaseGrant
    _stopping: Callable[[], bool]
    _notices: Callable[[], None]
    _has_done: bool = field(init=False, default=False)
    _resumed: bool = field(init=False, default=False)
    _ready: bool = field(init=False, default=False)

    def step(self) -> float:
        """One burst, or the preparation for all of them."""
        pipeline = self._container.pipeline
        if not self._ready:
            self._prepare()
        tick = pipeline.pump.burst(self._stopping)
        self._has_done = self._has_done or tick.done > 0
        if tick.again:
            return 0.0
        if self._has_done:
            # Not after each message: while there are more, the relay takes many in one go.
            self._has_done = False
            self._notices()
        if tick.kind is not TickKind.WAITING or tick.until is None:
            return LONGEST_WAIT_S
        due_s = (tick.until - self._container.clock.now()).total_seconds()
        return min(max(due_s, 0.01), LONGEST_WAIT_S)

    def _prepare(self) -> None:
        pipeline = self._container.pipeline
        if not self._resumed:
            # Once: a second resume would not know any more that the end before was unclean (D-05).
            pipeline.pump.resume(unclean=self._grant.unclean)
            self._resumed = True
        _ensure_cache(self._container)
        self._ready = True


def _relay_notices(container: Container, idle_s: float) -> float:
    """One batch. After a small one a breath: what comes meanwhile goes together, in one commit."""
    result = container.pipeline.msg_relay.run_once()
    if not result.full:
        return idle_s
    return 0.0 if result.sent + result.refused >= container.settings.event.batch else GATHERING_S


def _write_back(container: Container, interval_s: float) -> float:
    with container.telemetry.stage("write-back"):
        return 0.0 if container.pipeline.writeback.sweep().full else interval_s


def _renew(container: Container) -> float:
    container.store.renew_lease(_s(container.settings.lease.expiry))
    return _s(container.settings.lease.renew)


def _jobs(container: Container) -> float:
    """Each job in turn: a service that is down holds up the job that needs it and no other."""
    outages = []
    for job in (_look_at_cache, _requests):
        try:
            job(container)
        except Transient as error:
            outages.append(error)
    if outages:
        raise outages[0]
    return JOBS_INTERVAL_S


def _ops_jobs(container: Container, stopping: Callable[[], bool]) -> float:
    container.pipeline.jobs.run(stopping)
    return OPS_JOBS_INTERVAL_S


def _requests(container: Container) -> None:
    container.pipeline.requests.run()


def _sweep(container: Container, stopping: Callable[[], bool]) -> float:
    with container.telemetry.stage("history"):
        result = container.pipeline.sweep.run(stopping)
    if result.ended:
        container.telemetry.event("history-swept", **asdict(result))
    return SWEEP_INTERVAL_S


def _retention(container: Container, stopping: Callable[[], bool]) -> float:
    with container.telemetry.stage("retention"):
        removed = {name: n for name, n in container.pipeline.retention.run(stopping).items() if n}
    if removed:
        container.telemetry.event("retention", **removed)
    return RETENTION_INTERVAL_S


def _clean_archive(container: Container) -> float:
    container.pipeline.evidence.remove_expired(container.settings.archive.retention)
    return ARCHIVE_INTERVAL_S


def _look_at_cache(container: Container) -> None:
    """`_ensure_cache`, unless something long has the lock: then the next round looks."""
    if container.lock.acquire(timeout=_LOCK_PATIENCE_S):
        try:
            _ensure_cache(container)
        finally:
            container.lock.release()


def _ensure_cache(container: Container) -> None:
    # Asked under the lock: a rebuild that is going on looks like a lost cache.
    with container.lock:
        flights = container.pipeline.cache_keeper.ensure()
    if flights is not None:
        container.telemetry.event("cache-rebuilt", flights=flights)


def _s(duration: timedelta) -> float:
    return duration.total_seconds()
