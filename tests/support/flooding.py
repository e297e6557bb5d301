"""Traffic that means no good, from a process of its own and only to this machine: floods, large, slow."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

LONGEST_S = 60.0
_BIG = b"x" * 2**20


def main(port: int, seconds: float) -> None:
    """Everything at once, until time is up, on what the processors have left: as if it came from afar."""
    os.nice(19)
    ends_at = time.monotonic() + min(seconds, LONGEST_S)
    kinds = [_keep_asking] * 4 + [_connect_again] * 4 + [_send_much] * 2 + [_send_slowly] * 8
    kinds += [_reload_pages] * 4 + [_look_on] * 4
    threads = [threading.Thread(target=kind, args=(port, ends_at), daemon=True) for kind in kinds]
    for thread in threads:
        thread.start()
    print("at it", flush=True)
    for thread in threads:
        thread.join(max(0.0, ends_at - time.monotonic()) + 5.0)


def _open(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5.0)


def _keep_asking(port: int, ends_at: float) -> None:
    """Requests as fast as answers come, on one connection."""
    request = b"GET /api/v1/flights?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n"
    while time.monotonic() < ends_at:
        with suppress(OSError), _open(port) as on:
            while time.monotonic() < ends_at:
                on.sendall(request)
                if not on.recv(2**20):
                    break


def _reload_pages(port: int, ends_at: float) -> None:
    """Pages of the console, and one that is not there, as a browser asks for them."""
    paths = ("/console", "/console/messages", "/console/alerts", "/console/nothing")
    heads = [
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n".encode() for path in paths
    ]
    while time.monotonic() < ends_at:
        with suppress(OSError), _open(port) as on:
            for head in heads:
                on.sendall(head)
                if not on.recv(2**20):
                    break


def _look_on(port: int, ends_at: float) -> None:
    """The stream that refreshes pages, opened again and again."""
    while time.monotonic() < ends_at:
        with suppress(OSError), _open(port) as on:
            on.sendall(b"GET /console/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
            on.settimeout(1.0)
            while on.recv(65536):
                pass


def _connect_again(port: int, ends_at: float) -> None:
    """A new connection for each request."""
    while time.monotonic() < ends_at:
        with suppress(OSError), _open(port) as on:
            on.sendall(b"GET /api/v1/messages HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            while on.recv(2**20):
                pass


def _send_much(port: int, ends_at: float) -> None:
    """20 MiB without a declared length."""
    head = b"POST /cminmsgs/send HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%s\r\n" % (len(_BIG), _BIG)
    while time.monotonic() < ends_at:
        with suppress(OSError), _open(port) as on:
            on.sendall(head)
            for _ in range(20):
                on.sendall(chunk)
            on.recv(65536)


def _send_slowly(port: int, ends_at: float) -> None:
    """A byte now and then."""
    while time.monotonic() < ends_at:
        with suppress(OSError), _open(port) as on:
            on.sendall(b"POST /cminmsgs/send HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
            while time.monotonic() < ends_at:
                on.sendall(b"x")
                time.sleep(0.05)


@contextmanager
def flood(port: int, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """A flood for at most so long, ended at the end."""
    process = subprocess.Popen(
        [sys.executable, __file__, str(port), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "at it\n"
        yield process
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
