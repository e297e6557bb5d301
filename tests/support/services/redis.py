"""Redis for tests: one that is found, private ones to freeze and to fill, and a cable to cut."""

from __future__ import annotations

import secrets
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import redis
from attrs import define, field, frozen
from redis.backoff import NoBackoff
from redis.retry import Retry

from services.base import Finder, PrivateServer, binary, free_port, private_folder


def client(url: str, **options: Any) -> redis.Redis:
    """A client that is not ours; gives up at once."""
    retry = Retry(NoBackoff(), 0)
    made: redis.Redis = redis.Redis.from_url(
        url, decode_responses=True, socket_timeout=5, retry=retry, **options
    )
    return made


def answers(url: str) -> None:
    """Raise when the server at `url` does not answer."""
    with client(url) as asked:
        asked.ping()


@frozen
class PrivateRedis:
    """A server of the test's own."""

    url: str
    port: int
    folder: Path
    server: PrivateServer

    def client(self) -> redis.Redis:
        """A client that is not ours."""
        return client(self.url)


@contextmanager
def private_redis(*options: str) -> Iterator[PrivateRedis]:
    """A new, empty server that keeps nothing on disk; `options` as on its command line."""
    program = binary("redis-server")
    port = free_port()
    url = f"redis://127.0.0.1:{port}/0"

    def ready() -> bool:
        try:
            with socket.create_connection(("127.0.0.1", port), 1) as asked:
                asked.sendall(b"PING\r\n")
                return asked.recv(8)[:1] in (b"+", b"-")
        except OSError:
            return False

    with private_folder() as folder:
        places = ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(folder)]
        command = [program, *places, "--save", "", "--appendonly", "no", *options]
        server = PrivateServer(command, folder, ready)
        server.start()
        try:
            yield PrivateRedis(url, port, folder, server)
        finally:
            server.stop()


@contextmanager
def _private() -> Iterator[str]:
    with private_redis() as made:
        yield made.url


REDIS = Finder("Redis", "MSGX_TEST_REDIS", "redis://127.0.0.1:6379/0", answers, _private)


@contextmanager
def own_prefix(url: str) -> Iterator[str]:
    """A prefix that nobody else uses; its keys are removed in the end."""
    prefix = f"msgx-test-{secrets.token_hex(6)}:"
    try:
        yield prefix
    finally:
        with client(url) as cleaner:
            clear(cleaner, prefix)


def clear(cleaner: redis.Redis, prefix: str) -> None:
    """Remove all keys with that prefix."""
    for key in list(cleaner.scan_iter(f"{prefix}*", count=1_000)):
        cleaner.unlink(key)


@define
class Cable:
    """A TCP cable to a server, to be cut: an outage of a server that is not the test's own."""

    host: str
    port: int
    near: int = field(init=False, default=0)
    _listener: socket.socket | None = field(init=False, default=None)
    _ends: list[socket.socket] = field(init=False, factory=list)

    def mend(self) -> None:
        """Connections go through, on one port all the time."""
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.near))
        listener.listen()
        self.near = listener.getsockname()[1]
        self._listener = listener
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def cut(self) -> None:
        """Connections end, new ones are refused."""
        assert self._listener is not None
        ends, self._ends = [self._listener, *self._ends], []
        self._listener = None
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listener.accept()
                far = socket.create_connection((self.host, self.port))
                self._ends += [near, far]
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._carry, args=pair, daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def cable_to(url: str) -> Iterator[tuple[Cable, str]]:
    """A cable to the server at `url`, and the URL through it."""
    parts = urlsplit(url)
    cable = Cable(parts.hostname or "127.0.0.1", parts.port or 6379)
    cable.mend()
    login, at, _ = parts.netloc.rpartition("@")
    try:
        yield cable, parts._replace(netloc=f"{login}{at}127.0.0.1:{cable.near}").geturl()
    finally:
        cable.cut()
