"""The day as it goes by: the daemon's loops, the simulator and the board in one process."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable

from msgx_app import backends, outbounds
from msgx_app.beside import Beside, beside
from msgx_app.cli.supervise import holder_name, stop_on_signals
from msgx_app.container import Container, open_container
from msgx_app.daemon import serve
from msgx_app.daemon.tally import Tally
from msgx_app.demo.address import with_address
from msgx_app.demo.feed import Feeder
from msgx_app.demo.folder import DemoFolder, make_folder
from msgx_app.demo.look import Look, Watcher
from msgx_app.demo.options import AIRPORT, Options
from msgx_app.demo.summary import summary
from msgx_app.settings.network import Bind
from msgx_app.simulator import simulate

_REDRAW_S = 0.5
_LINE_EVERY_S = 5.0
_LISTENS_WITHIN_S = 5.0


def run_live(options: Options) -> int:
    """Run until someone stops it; without the console there is nothing to stay for once the day is over."""
    folder = make_folder(options.folder)
    on_screen = sys.stdout.isatty()
    # One name: that of the interface and that of the lease are the same instance.
    clock, holder = backends.system_clock(), holder_name("demo")
    # On a screen log lines would tear the board; what matters is on it.
    lines = Tally(clock, None if on_screen else backends.open_telemetry(clock, "json"))
    settings = with_address(folder.settings, options.http)
    with (
        stop_on_signals() as stop,
        beside(settings, clock, lines, holder=holder) as by,
        open_container(settings, create=True, clock=clock, telemetry=by.telemetry) as container,
    ):
        by.opened(container)
        day = Day(container, options, stop, by, holder)
        day.start()
        try:
            show = _on_screen if on_screen else _as_lines
            show(day, options, folder, stop)
        finally:
            ended = day.end()
        print("\n".join(summary(container, folder)))
    return 0 if ended else 1


class Day:
    """Daemon and simulator at work on one container."""

    def __init__(
        self, container: Container, options: Options, stop: threading.Event, by: Beside, holder: str
    ) -> None:
        self.problem: Exception | None = None
        monitor = by.monitor
        self._by = by
        self._feeder = Feeder(
            list(simulate(options.plan)), container.inbox, options.speed, outbounds.filler(container.inbox)
        )
        self._watcher = Watcher(container, options.plan, self._feeder, monitor)
        self._container = container
        self._holder = holder
        self._monitor = monitor
        self._asked = stop
        self._stop = threading.Event()
        self._daemon = threading.Thread(target=self._serve, name="daemon", daemon=True)

    def start(self) -> None:
        """Start both."""
        self._daemon.start()
        self._feeder.start()

    def look(self) -> Look:
        """How things are; raises what ended the daemon."""
        if self.problem is not None:
            raise self.problem
        return self._watcher.look()

    def address(self) -> str:
        """Where a browser finds it, or that it does not."""
        at = None if self._by.front is None else self._by.front.address(_LISTENS_WITHIN_S)
        return "nowhere over HTTP" if at is None else f"http://{Bind(*at)}/console"

    def gone_by(self, look: Look) -> bool:
        """Whether everything of the day has been sent and is done."""
        return self._feeder.over.is_set() and look.all_done

    def over(self, look: Look) -> bool:
        """Whether somebody stops it, or the day has gone by and there is no console to look at it."""
        return self._asked.is_set() or (self._by.front is None and self.gone_by(look))

    def end(self) -> bool:
        """Stop both; whether they have stopped."""
        self._feeder.stop()
        self._stop.set()
        self._daemon.join(10.0)
        return not self._daemon.is_alive()

    def _serve(self) -> None:
        try:
            serve(self._container, self._stop, holder=self._holder, monitor=self._monitor)
        except Exception as error:
            self.problem = error


Show = Callable[[Day, Options, DemoFolder, threading.Event], None]


def _on_screen(day: Day, options: Options, folder: DemoFolder, stop: threading.Event) -> None:
    from rich.console import Console
    from rich.live import Live

    from msgx_app.demo.view import Board

    title, past = (
        f"msgx demo  {AIRPORT}  {at}  {day.address()}" for at in (f"x{options.speed:g}", "day over")
    )
    console = Console()
    look = day.look()
    with Live(Board(look, title=title), console=console, screen=True, auto_refresh=False) as live:
        while not day.over(look):
            stop.wait(_REDRAW_S)
            look = day.look()
            live.update(Board(look, title=past if day.gone_by(look) else title), refresh=True)


def _as_lines(day: Day, options: Options, folder: DemoFolder, stop: threading.Event) -> None:
    print(f"msgx demo: airport {AIRPORT}, {options.day}, {options.flights} flights, x{options.speed:g}")
    print(f"console     {day.address()}")
    print(f"everything is in {folder.shown}; Ctrl-C ends", flush=True)
    look = day.look()
    told_s, told_end = 0.0, False
    while not day.over(look):
        stop.wait(_REDRAW_S)
        look = day.look()
        if told_end:
            continue
        if day.gone_by(look):
            told_end = True
            print(_line(look))
            print(f"the day is over; the console stays on {day.address()} until Ctrl-C", flush=True)
        elif time.monotonic() - told_s >= _LINE_EVERY_S:
            told_s = time.monotonic()
            print(_line(look), flush=True)


def _line(look: Look) -> str:
    states = ", ".join(f"{n} {state}" for state, n in sorted(look.counts.messages.items()))
    return (
        f"{look.now:%H:%M} at the airport: sent {look.sent} of {look.total}; {states or 'nothing taken in'};"
        f" {look.counts.writeback_pending} marks owed, {look.unsent} events due,"
        f" {look.counts.alerts_open} alerts"
    )
