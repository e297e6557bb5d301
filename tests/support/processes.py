"""msgx as processes and as a daemon inside the test: folders, settings, starting, waiting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from attrs import define, field

import msgx_app
from msgx_app.container import Container, open_container
from msgx_app.daemon import Monitor, serve
from msgx_app.daemon.tally import Tally
from msgx_app.profiles import render_profile
from msgx_app.settings import Settings, load_settings
from msgx_core.ports import Telemetry

IN_MEMORY = {
    "msgx.airport.code": "KMG",
    "msgx.mailbox.url": "memory:",
    "msgx.store.url": "memory:",
    "msgx.cache.url": "memory:",
    "msgx.bus.url": "memory:",
    "msgx.archive.url": "off",
    "msgx.pipeline.poll-interval": "20ms",
    "msgx.pipeline.poll-interval-idle": "50ms",
    "msgx.pipeline.backfill-interval": "50ms",
    "msgx.schd.flush-interval": "50ms",
    "msgx.http.bind": "off",
}


def memory_settings(**more: str) -> Settings:
    """Everything in memory and quick; keyword `pipeline_claim_batch` is `msgx.pipeline.claim-batch`."""
    return load_settings(None, {}, {**IN_MEMORY, **more}).settings


def embedded_folder(path: Path, extra: str = "") -> Path:
    """A folder as `msgx init` makes it, mailbox and store included; returns the configuration file."""
    path.mkdir(parents=True)
    config = path / "msgx.toml"
    text = render_profile("embedded", "KMG").replace('whitelist = "baseline"', 'whitelist = "extended"')
    config.write_text(f"{text}\n{extra}", encoding="utf-8")
    with opened(config, create=True):
        pass
    return config


@contextmanager
def opened(config: Path, *, create: bool = False) -> Iterator[Container]:
    """The container of a configuration, silent."""
    settings = load_settings(config, {}, {}).settings
    from msgx_app.backends import system_clock

    clock = system_clock()
    with open_container(settings, create=create, clock=clock, telemetry=Tally(clock)) as container:
        yield container


def msgx(config: Path, *args: str, log: IO[str] | None = None) -> subprocess.Popen[str]:
    """Start a command on a configuration; what it tells goes to `log`, else into the pipe."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("MSGX_")}
    return subprocess.Popen(
        [sys.executable, "-m", "msgx_app", *args, "--config", str(config)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if log is None else log,
        text=True,
        env={**env, "MSGX_HTTP_BIND": "off", "PYTHONPATH": str(Path(msgx_app.__file__).parents[1])},
    )


@define
class Ended:
    """A command that has ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its JSON answer."""
        return json.loads(self.out)


def run_msgx(config: Path, *args: str, timeout_s: float = 60.0) -> Ended:
    """Run a command to its end."""
    process = msgx(config, *args)
    out, err = process.communicate(timeout=timeout_s)
    return Ended(process.returncode, out, err)


def wait_for(what: str, holds: Callable[[], object], *, within_s: float = 20.0) -> None:
    """Wait until `holds()` is true."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"not within {within_s} s: {what}"
        time.sleep(0.01)


@define
class Served:
    """A daemon in a thread of this process, with its parts to look at and to break."""

    container: Container
    tally: Tally
    holder: str = "test"
    stop: threading.Event = field(factory=threading.Event)
    monitor: Monitor = field(init=False)
    clean: bool | None = None
    problem: Exception | None = None
    _thread: threading.Thread = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.monitor = Monitor(self.container.clock)
        self._thread = threading.Thread(target=self._run, name="daemon", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def end(self, within_s: float = 10.0) -> None:
        """Stop; it must end in time."""
        self.stop.set()
        self._thread.join(within_s)
        assert not self._thread.is_alive(), "the daemon does not end"

    def told(self, name: str) -> list[Mapping[str, object]]:
        """Fields of the events of that name."""
        return [event.fields for event in self.tally.events() if event.name == name]

    def _run(self) -> None:
        try:
            self.clean = serve(self.container, self.stop, holder=self.holder, monitor=self.monitor)
        except Exception as error:
            self.problem = error


@contextmanager
def served(settings: Settings, behind: Telemetry | None = None) -> Iterator[Served]:
    """A daemon that is ended at the end, if it was started. `behind` is told what is counted, too."""
    from msgx_app.backends import system_clock

    clock = system_clock()
    tally = Tally(clock, behind, events=1000)
    with open_container(settings, create=True, clock=clock, telemetry=tally) as container:
        daemon = Served(container, tally)
        try:
            yield daemon
        finally:
            if daemon._thread.ident is not None:
                daemon.end()
