"""How a test gets a server, whichever it is; one way for all of them.

Order: the URL in the environment (set but dead is a failure), one that answers on loopback, a private
instance from installed binaries, else a skip that says why, or a failure when `REQUIRE_SERVICES=1`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn

import pytest
from attrs import define, field, frozen


class NotHere(Exception):
    """A private instance cannot be made on this machine; the text says why."""


def free_port() -> int:
    """A TCP port on loopback that was free a moment ago."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def binary(name: str, *folders: str) -> str:
    """The path of an installed program; `NotHere` when there is none."""
    path = shutil.which(name, path=os.pathsep.join((*folders, os.environ.get("PATH", ""))))
    if path is None:
        raise NotHere(f"{name} is not installed")
    return path


def unavailable(service: str, why: str) -> NoReturn:
    """Skip by name, or fail where services are required."""
    if os.environ.get("REQUIRE_SERVICES") == "1":
        pytest.fail(f"{service} is required here: {why}")
    pytest.skip(f"no {service}: {why}")


def wait_until(ready: Callable[[], bool], what: str, timeout_s: float = 20.0) -> None:
    """Poll until true; `TimeoutError` names what did not happen."""
    end = time.monotonic() + timeout_s
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"{what} after {timeout_s} s")
        time.sleep(0.02)


@define
class PrivateServer:
    """A server process of the test's own: started, frozen, killed and started again by pid, on loopback."""

    command: Sequence[str]
    folder: Path
    ready: Callable[[], bool]
    user: str | None = None
    env: Mapping[str, str] | None = None
    _process: subprocess.Popen[bytes] | None = field(default=None, init=False)

    def start(self) -> None:
        """Start and wait until it answers."""
        if self._process is not None:
            return
        log: IO[bytes]
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                list(self.command),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                user=self.user,
                group=None if self.user is None else pwd.getpwnam(self.user).pw_gid,
                extra_groups=None if self.user is None else [],
                env=None if self.env is None else dict(self.env),
                start_new_session=True,
            )
        wait_until(self._answers, f"{self.command[0]} does not answer, see {self.folder}/server.log")

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            tail = (self.folder / "server.log").read_text(errors="replace")[-600:]
            raise RuntimeError(f"{self.command[0]} ended with {self._process.returncode}: {tail}")
        return self.ready()

    def freeze(self) -> None:
        """SIGSTOP: connections stay open and nothing answers."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self._signal(signal.SIGCONT)

    def kill(self) -> None:
        """SIGKILL, and gone."""
        self._signal(signal.SIGKILL)
        self._reap()

    def stop(self) -> None:
        """Stop in order; kill what does not."""
        if self._process is None:
            return
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGTERM)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._signal(signal.SIGKILL)
        self._reap()

    def _signal(self, number: int) -> None:
        """To the server and all it has started: PostgreSQL's children have process groups of their own."""
        assert self._process is not None
        for pid in [self._process.pid, *_descendants(self._process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def _reap(self) -> None:
        assert self._process is not None
        self._process.wait(10)
        self._process = None


def _descendants(pid: int) -> list[int]:
    """Children of a process, and theirs."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    found = [int(child) for child in children.split()]
    return [*found, *(deeper for child in found for deeper in _descendants(child))]


@contextmanager
def private_folder(user: str | None = None) -> Iterator[Path]:
    """A temporary folder that the server's user may write; short, because sockets have short names."""
    path = Path(tempfile.mkdtemp(prefix="msgx-"))
    try:
        if user is not None:
            entry = pwd.getpwnam(user)
            os.chown(path, entry.pw_uid, entry.pw_gid)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def unprivileged(user: str) -> str | None:
    """The user under whom a server that refuses to be root runs; None when we are not root."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(user)
    except KeyError as error:
        raise NotHere(f"there is no user {user} to run it as") from error
    return user


@frozen
class Finder:
    """One kind of server: its name, its variable, and how to ask and to start it.

    `answers` raises when the server at a URL does not answer. `private` gives the URL of a private instance
    while its context lasts and raises `NotHere` when it cannot be made.
    """

    service: str
    variable: str
    loopback: str | None
    answers: Callable[[str], Any]
    private: Callable[[], Any]

    @contextmanager
    def found(self) -> Iterator[str]:
        """The URL of a server that answers."""
        named = os.environ.get(self.variable)
        if named:
            try:
                self.answers(named)
            except Exception as error:
                pytest.fail(f"{self.variable}={named} does not answer: {error}")
            yield named
            return
        if self.loopback is not None and self._answers(self.loopback):
            yield self.loopback
            return
        try:
            context = self.private()
            url = context.__enter__()
        except NotHere as why:
            unavailable(self.service, str(why))
        try:
            yield url
        finally:
            context.__exit__(None, None, None)

    def _answers(self, url: str) -> bool:
        try:
            self.answers(url)
        except Exception:
            return False
        return True
