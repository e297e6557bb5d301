"""The thread named http: listens, answers, and is stopped; never in the way of the pump."""

from __future__ import annotations

import asyncio
import socket
import threading
import traceback
from typing import Any

import uvicorn
from attrs import frozen

from msgx_app.backends import Metrics
from msgx_app.container import Container
from msgx_app.daemon.monitor import Monitor, Phase
from msgx_app.http.app import application
from msgx_app.http.budget import CpuBudget, ThreadMeter
from msgx_app.http.console.pulse import Pulse
from msgx_app.http.limits import App
from msgx_app.http.office import Office
from msgx_app.http.protocol import BoundedProtocol
from msgx_app.http.watch import Watch
from msgx_app.settings import Settings
from msgx_app.settings.network import Bind
from msgx_core.ports import Clock, Telemetry
from msgx_core.rules.retry import outage_pause_s

STOP_WITHIN_S = 0.8
"""Of the ten seconds that a daemon has to end, the pipeline has the others."""

BACKLOG = 128
_LATE_S = 1.5
"""An idle pump looks once a second."""

_ACTIVE_S, _QUIET_S = 0.005, 0.05


class Front:
    """The HTTP interface of one process. `start` and `stop` once each; a taken address is tried again.

    Nothing of it can end the daemon: what goes wrong is told and tried again.
    """

    def __init__(
        self,
        settings: Settings,
        bind: Bind,
        *,
        monitor: Monitor,
        metrics: Metrics,
        telemetry: Telemetry,
        clock: Clock,
        holder: str,
    ) -> None:
        self._bind = bind
        self._telemetry = telemetry
        self._budget = CpuBudget(clock, PumpActivity(monitor, clock).busy)
        self._office = Office(settings, clock, self._budget)
        self._watch = Watch.on(monitor, self._office, metrics, holder)
        self._pulse = Pulse(self._office, self._watch) if settings.http.console else None
        self._stopping = threading.Event()
        self._listening = threading.Event()
        self._address: tuple[str, int] | None = None
        self._server: uvicorn.Server | None = None
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def start(self) -> None:
        """Begin to listen, as soon as that can be."""
        self._thread.start()

    def opened(self, container: Container) -> None:
        """The pipeline's parts are open."""
        self._office.use(container)

    def stop(self) -> None:
        """End: what is being answered has a moment left. Idempotent."""
        self._stopping.set()
        if self._pulse is not None:
            self._pulse.close()
        server = self._server
        if server is not None:
            server.should_exit = True
        if self._thread.ident is not None:
            self._thread.join(STOP_WITHIN_S)
        self._office.close()

    def address(self, within_s: float = 0.0) -> tuple[str, int] | None:
        """Host and port where it listens; None when it does not yet, after so long."""
        self._listening.wait(within_s)
        return self._address

    def _run(self) -> None:
        app: App | None = None
        failures = 0
        while not self._stopping.is_set():
            try:
                app = app or self._app()
                with _listener(self._bind) as listener:
                    failures = 0
                    self._serve(app, listener)
            except OSError as error:
                failures += 1
                self._pause("http-unavailable", failures, address=str(self._bind), detail=str(error))
            except Exception as error:
                failures += 1
                self._pause("http-error", failures, error=repr(error), traceback=traceback.format_exc())

    def _app(self) -> App:
        return application(
            self._office,
            self._watch,
            self._telemetry,
            loopback=self._bind.is_loopback,
            pulse=self._pulse,
        )

    def _pause(self, event: str, failures: int, **fields: object) -> None:
        pause_s = outage_pause_s(failures)
        self._telemetry.event(event, **fields, pause_s=pause_s)
        self._stopping.wait(pause_s)

    def _serve(self, app: App, listener: socket.socket) -> None:
        host, port = listener.getsockname()[:2]
        config = uvicorn.Config(
            app,
            http=BoundedProtocol,
            ws="none",
            loop="asyncio",
            lifespan="on",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            backlog=BACKLOG,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        if self._stopping.is_set():
            return
        self._address = (host, port)
        self._telemetry.event("http-listening", address=f"{host}:{port}")
        self._listening.set()
        try:
            asyncio.run(self._main(self._server, listener))
        finally:
            self._listening.clear()
            self._address = None

    async def _main(self, server: uvicorn.Server, listener: socket.socket) -> None:
        asyncio.get_running_loop().set_exception_handler(self._told)
        governor = asyncio.ensure_future(_govern(self._budget))
        try:
            await server.serve(sockets=[listener])
        finally:
            governor.cancel()

    def _told(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        self._telemetry.event("http-error", detail=context.get("message"), error=repr(error))


@frozen
class PumpActivity:
    """Whether the pump has work: step follows step, or one takes long. Waiting is no work."""

    _monitor: Monitor
    _clock: Clock

    def busy(self) -> bool:
        """As of its last step."""
        beat = self._monitor.heartbeats.view().get("pump")
        if beat is None or beat.problem is not None or self._monitor.phase().phase is not Phase.ACTIVE:
            return False
        if beat.again or beat.last_success_at is None:
            return True
        return (self._clock.now() - beat.last_success_at).total_seconds() > _LATE_S


async def _govern(budget: CpuBudget) -> None:
    """Keep this thread within its budget: asleep, it answers nobody, and takes nothing from the pump."""
    meter = ThreadMeter(budget)
    while True:
        used_s = meter.tell()
        budget.rest()
        await asyncio.sleep(_ACTIVE_S if used_s > _ACTIVE_S / 10 else _QUIET_S)


def _listener(bind: Bind) -> socket.socket:
    family = socket.AF_INET6 if ":" in bind.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((bind.host, bind.port))
        # Before anybody is told of the address: until the server takes over, who connects waits.
        listener.listen(BACKLOG)
    except BaseException:
        listener.close()
        raise
    return listener
