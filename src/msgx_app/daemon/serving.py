"""Standby, active, stepping down: the life of an instance on an open container (D-34)."""

from __future__ import annotations

import threading
from contextlib import suppress

from msgx_app.container import Container
from msgx_app.daemon.bounded import finishes_within
from msgx_app.daemon.crew import Crew
from msgx_app.daemon.monitor import Monitor, Phase
from msgx_core.errors import MsgxError, Transient
from msgx_core.ports import LeaseGrant
from msgx_core.rules.retry import outage_pause_s

STOP_WITHIN_S = 6.0
"""The current step of each loop gets this long; release and close have the rest of the ten seconds."""

RELEASE_WITHIN_S = 1.5
_GLANCE_S = 0.1
_LEAST_WAIT_S = 0.05


def serve(
    container: Container, stop: threading.Event, *, holder: str, monitor: Monitor | None = None
) -> bool:
    """Wait for the lease, run the loops, and again after stepping down, until `stop` is set.

    True: every loop has ended and the lease is given up. False: a step was still running when time was
    up; then the container must not be closed, and the lease runs out by itself. Raises `ConfigError` when the
    store was started with another identity algorithm.
    """
    monitor = Monitor(container.clock) if monitor is None else monitor
    while not stop.is_set():
        grant = _lease(container, stop, holder, monitor)
        if grant is None:
            break
        if not _active(container, grant, stop, monitor):
            return False
    monitor.enter(Phase.STOPPING)
    return True


def _lease(container: Container, stop: threading.Event, holder: str, monitor: Monitor) -> LeaseGrant | None:
    """The lease, however long that takes; None when stopped."""
    failures = 0
    while not stop.is_set():
        try:
            grant, wait_s = _try(container, holder, monitor)
            failures = 0
        except Transient as error:
            failures += 1
            grant, wait_s = None, outage_pause_s(failures)
            container.pipeline.outages.failed(error)
            monitor.enter(Phase.WAITING, error.service)
            container.telemetry.event(
                "waiting-for", service=error.service, detail=error.detail, pause_s=wait_s
            )
        if grant is not None:
            container.pipeline.outages.leased()
            container.telemetry.event(
                "lease-taken", holder=holder, epoch=grant.view.epoch, unclean=grant.unclean
            )
            return grant
        stop.wait(wait_s)
    return None


def _try(container: Container, holder: str, monitor: Monitor) -> tuple[LeaseGrant | None, float]:
    """The lease if it can be had now, else how long to wait."""
    renew_s = container.settings.lease.renew.total_seconds()
    # Looking is free; asking takes the write lock that a running ① may hold.
    view = container.store.lease()
    if view.holder in (None, holder) or view.expires_in_s <= 0:
        container.pipeline.pin()
        grant = container.store.acquire_lease(holder, container.settings.lease.expiry.total_seconds())
        if grant.granted:
            return grant, 0.0
        view = grant.view
    container.pipeline.outages.forget()
    if monitor.enter(Phase.STANDBY, view.holder or ""):
        container.telemetry.event("standby", holder=view.holder, expires_in_s=round(view.expires_in_s, 3))
    return None, min(max(view.expires_in_s, _LEAST_WAIT_S), renew_s)


def _active(container: Container, grant: LeaseGrant, stop: threading.Event, monitor: Monitor) -> bool:
    """The loops, from takeover to stop or stepping down; whether all of them have ended."""
    crew = Crew(container, grant, monitor)
    monitor.enter(Phase.ACTIVE)
    crew.start()
    try:
        while not crew.ended.wait(_GLANCE_S) and not stop.is_set():
            pass
    finally:
        crew.stop()
    # A loop that outlives a step-down would write under the next lease: wait for it, unless told to stop.
    while crew.ended.is_set() and crew.join(_GLANCE_S) and not stop.is_set():
        pass
    monitor.enter(Phase.STOPPING)
    running = crew.join(STOP_WITHIN_S)
    if running:
        container.telemetry.event("stop-forced", loops=running)
        return False
    if crew.fenced is not None:
        return True
    return finishes_within(RELEASE_WITHIN_S, lambda: _release(container))


def _release(container: Container) -> None:
    with suppress(MsgxError):
        container.store.release_lease()
        container.telemetry.event("lease-released")
