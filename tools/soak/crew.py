"""Two daemons on one bench: which is which, and how to kill, freeze and start them."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import IO

from attrs import define, field

from msgx_cli import environment
from services.base import free_port
from soak.bench import Bench


@define
class Daemon:
    """`msgx run` as a process; starts counted."""

    name: str
    bench: Bench
    starts: int = 0
    frozen: bool = False
    process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> None:
        """Start it unless it runs."""
        if self.process is not None and self.process.poll() is None:
            return
        self.starts += 1
        log: IO[bytes]
        with (self.bench.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "msgx_app", "run", "--json"],
                cwd=self.bench.folder,
                env=environment(**self.bench.env, MSGX_HTTP_BIND=f"127.0.0.1:{free_port()}"),
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def kill(self) -> None:
        """SIGKILL, and gone."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(10)
            self.frozen = False

    def end(self, within_s: float = 20.0) -> int | None:
        """SIGTERM; the exit code, None when it did not end in time (then it is killed)."""
        if self.process is None:
            return 0
        self.thaw()
        self.process.terminate()
        try:
            return self.process.wait(within_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def freeze(self) -> None:
        """SIGSTOP."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)
            self.frozen = True

    def thaw(self) -> None:
        """SIGCONT."""
        if self.process is not None and self.frozen:
            self.process.send_signal(signal.SIGCONT)
            self.frozen = False

    @property
    def pid(self) -> int | None:
        """The process, while it runs."""
        return None if self.process is None or self.process.poll() is not None else self.process.pid


@define
class Crew:
    """All daemons; the one that holds the lease, as the store says."""

    bench: Bench
    daemons: tuple[Daemon, ...]

    @classmethod
    def of(cls, bench: Bench, size: int = 2) -> Crew:
        """Not started yet."""
        return cls(bench, tuple(Daemon(f"daemon-{n}", bench) for n in range(1, size + 1)))

    def start(self) -> None:
        """Start those that do not run."""
        for daemon in self.daemons:
            daemon.start()

    def leader(self) -> Daemon:
        """Who holds the lease; the first one while the store does not say."""
        try:
            holder = str(self.bench.rows("SELECT HOLDER FROM LEASE")[0]["HOLDER"])
        except Exception:
            return self.daemons[0]
        named = [daemon for daemon in self.daemons if daemon.pid and f":{daemon.pid}:" in f":{holder}:"]
        return named[0] if named else self.daemons[0]

    def kill(self) -> None:
        """Leave no process behind."""
        for daemon in self.daemons:
            daemon.kill()

    def end(self) -> list[str]:
        """End all in order; what was not as it should."""
        codes = {daemon.name: daemon.end() for daemon in self.daemons}
        return [f"{name} ended with {code}" for name, code in codes.items() if code != 0]
