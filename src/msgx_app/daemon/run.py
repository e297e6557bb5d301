"""The daemon from nothing: opens the container, serves, and closes in time."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from typing import Literal

from attrs import frozen

from msgx_app import backends
from msgx_app.container import Container, open_container
from msgx_app.daemon.bounded import finishes_within
from msgx_app.daemon.monitor import Monitor, Phase
from msgx_app.daemon.serving import serve
from msgx_app.settings import Settings
from msgx_core.errors import Transient
from msgx_core.ports import Clock, Telemetry
from msgx_core.rules.retry import outage_pause_s

CLOSE_WITHIN_S = 1.5


@frozen
class DaemonEnd:
    """How the daemon ended. Not `clean`: something is still at work; leave with `os._exit`.

    `left_open` keeps the container from being closed, which would wait for that work.
    """

    clean: bool
    left_open: ExitStack | None = None


def run_daemon(
    settings: Settings,
    stop: threading.Event,
    *,
    holder: str,
    log: Literal["json", "console"] = "json",
    clock: Clock | None = None,
    telemetry: Telemetry | None = None,
    monitor: Monitor | None = None,
    on_open: Callable[[Container], None] = lambda container: None,
) -> DaemonEnd:
    """Run until `stop` is set; within ten seconds after that it returns.

    `on_open` is told the container when it is open. While a service that is needed to open does not answer
    it says so and tries again. Raises `ConfigError` for what waiting cannot mend.
    """
    clock = backends.system_clock() if clock is None else clock
    telemetry = backends.open_telemetry(clock, log) if telemetry is None else telemetry
    monitor = Monitor(clock) if monitor is None else monitor
    opened = ExitStack()
    try:
        container = _open(opened, settings, stop, clock, telemetry, monitor)
        if container is not None:
            on_open(container)
        clean = container is None or serve(container, stop, holder=holder, monitor=monitor)
    except BaseException:
        opened.close()
        raise
    clean = clean and finishes_within(CLOSE_WITHIN_S, opened.close)
    telemetry.event("stopped", holder=holder, clean=clean)
    return DaemonEnd(clean, None if clean else opened)


def _check_topics(container: Container) -> None:
    """Wrong topics end the start; a bus that is down does not: events wait, messages go on (D-28)."""
    try:
        container.bus.check_topics()
    except Transient as error:
        container.telemetry.event("topics-unchecked", detail=error.detail)


def _check_rights(container: Container) -> None:
    """Rights on the mailbox that are missing end the start; a mailbox that is down by now does not."""
    try:
        container.pipeline.check_rights()
    except Transient as error:
        container.telemetry.event("rights-unchecked", detail=error.detail)


def _open(
    opened: ExitStack,
    settings: Settings,
    stop: threading.Event,
    clock: Clock,
    telemetry: Telemetry,
    monitor: Monitor,
) -> Container | None:
    """The open container; None when stopped before that."""
    failures: Counter[str] = Counter()
    missed: dict[str, tuple[datetime, str]] = {}
    while not stop.is_set():
        try:
            container = opened.enter_context(open_container(settings, clock=clock, telemetry=telemetry))
            for service, (since, detail) in missed.items():
                # Told by whoever gets the lease; they could not be written before (D-04).
                container.pipeline.outages.missed(service, since, detail)
            _check_topics(container)
            _check_rights(container)
            return container
        except Transient as error:
            failures[error.service] += 1
            missed.setdefault(error.service, (clock.now(), error.detail))
            pause_s = outage_pause_s(failures[error.service])
            monitor.enter(Phase.WAITING, error.service)
            telemetry.event("waiting-for", service=error.service, detail=error.detail, pause_s=pause_s)
        stop.wait(pause_s)
    return None
