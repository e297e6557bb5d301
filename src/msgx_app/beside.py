"""What runs beside the pipeline and may be missing: the HTTP interface, metrics, traces."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import frozen

from msgx_app import backends
from msgx_app.container import Container
from msgx_app.daemon.monitor import Monitor
from msgx_app.settings import Settings
from msgx_app.telemetries import Telemetries
from msgx_core.ports import Clock, Telemetry

if TYPE_CHECKING:
    from msgx_app.http.front import Front


@frozen
class Beside:
    """`telemetry` tells everybody; `front` None: there is no HTTP interface."""

    telemetry: Telemetry
    monitor: Monitor
    front: Front | None = None

    def opened(self, container: Container) -> None:
        """The pipeline's parts are open."""
        if self.front is not None:
            self.front.opened(container)


@contextmanager
def beside(settings: Settings, clock: Clock, lines: Telemetry, *, holder: str) -> Iterator[Beside]:
    """Everything that the settings ask for and that is installed, from now until the end.

    Raises `ConfigError` when traces are wanted and their package is missing; a missing HTTP package is told.
    """
    traces = backends.open_traces(settings, holder)
    told = [lines] if traces is None else [lines, traces]
    monitor = Monitor(clock)
    try:
        if settings.http.bind is None:
            yield Beside(_all(told), monitor)
            return
        try:
            from msgx_app.http.front import Front

            metrics = backends.open_metrics(clock)
        except ModuleNotFoundError as error:
            remedy = "pip install 'msgx[http]', or set msgx.http.bind = off"
            lines.event("http-missing", package=error.name, remedy=remedy)
            yield Beside(_all(told), monitor)
            return
        telemetry = _all([*told, metrics])
        front = Front(
            settings,
            settings.http.bind,
            monitor=monitor,
            metrics=metrics,
            telemetry=telemetry,
            clock=clock,
            holder=holder,
        )
        front.start()
        try:
            yield Beside(telemetry, monitor, front)
        finally:
            front.stop()
    finally:
        if traces is not None:
            traces.close()


def _all(told: list[Telemetry]) -> Telemetry:
    return told[0] if len(told) == 1 else Telemetries(*told)
