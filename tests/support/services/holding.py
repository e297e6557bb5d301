"""Something between a client and a server that keeps what the client has sent, and lets it go later."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from attrs import define, field

_CHUNK = 65_536


@define
class HoldingProxy:
    """Passes bytes on both ways; from the first chunk of a client that has `marker` on, it keeps them."""

    host: str
    port: int
    marker: bytes | None = None
    caught: threading.Event = field(factory=threading.Event)
    let_go: threading.Event = field(factory=threading.Event)
    _listener: socket.socket = field(factory=socket.socket)
    _ends: list[socket.socket] = field(factory=list)

    def start(self) -> int:
        """Listen on a port of loopback; that port."""
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen()
        threading.Thread(target=self._accept, name="proxy", daemon=True).start()
        return int(self._listener.getsockname()[1])

    def hold(self, marker: bytes) -> None:
        """Keep the next chunk from a client with `marker` in it, and what that client sends after it."""
        self.marker = marker

    def release(self) -> None:
        """The server gets what was kept; nothing is kept any more."""
        self.marker = None
        self.let_go.set()

    def close(self) -> None:
        """Cut everything."""
        self.release()
        for end in (self._listener, *self._ends):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection((self.host, self.port))
                self._ends += [client, server]
                for ends in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass_on, args=ends, name="proxy", daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, from_client: bool) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK):
                if from_client and self.marker is not None and self.marker in chunk:
                    self.caught.set()
                    self.let_go.wait()
                target.sendall(chunk)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@contextmanager
def holding_proxy(host: str, port: int) -> Iterator[tuple[HoldingProxy, int]]:
    """A proxy to that server, and the port to come in by."""
    proxy = HoldingProxy(host, port)
    try:
        yield proxy, proxy.start()
    finally:
        proxy.close()
