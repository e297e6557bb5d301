"""What long commands share: the lease for their time, and signals that ask instead of breaking (D-34)."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from msgx_core.errors import Fenced, MsgxError

if TYPE_CHECKING:
    from msgx_app.container import Container
    from msgx_core.ports import LeaseGrant

_LEAST_WAIT_S = 0.02
_LONGEST_WAIT_S = 0.5
_GRACE_S = 0.1


class LeaseBusy(MsgxError):
    """Another instance holds the lease and keeps it."""

    def __init__(self, holder: str, expires_in_s: float, remedy: str = "") -> None:
        told = f"{holder} holds the lease (for {max(0.0, expires_in_s):.1f} s, and renews it)"
        super().__init__(f"{told}; {remedy}" if remedy else told)
        self.holder = holder
        self.expires_in_s = expires_in_s


class Interrupted(MsgxError):
    """Asked to stop before there was anything to stop."""


def holder_name(command: str) -> str:
    """How this process appears as holder: `host:pid:command:` and a random part.

    Containers may share host name and pid; a lease is only its holder's if no other has its name (D-34).
    """
    return f"{socket.gethostname()}:{os.getpid()}:{command}:{secrets.token_hex(3)}"


@contextmanager
def lease_held(
    container: Container,
    holder: str,
    *,
    stop: threading.Event | None = None,
    waiting: Callable[[str], None] = lambda holder: None,
    remedy: str = "",
) -> Iterator[LeaseGrant]:
    """Hold the lease for the time of a one-shot command; renewed in the background, released at the end.

    When another holds it, `waiting` gets its name and one lease expiry is waited for, because a killed one
    leaves its lease. Raises `LeaseBusy` after that, with `remedy` behind its words; `Interrupted` when `stop`
    is set meanwhile.
    """
    stop = threading.Event() if stop is None else stop
    expiry_s = container.settings.lease.expiry.total_seconds()
    try:
        grant = _acquire(container, holder, expiry_s, stop, waiting)
    except LeaseBusy as busy:
        raise LeaseBusy(busy.holder, busy.expires_in_s, remedy) from None
    done = threading.Event()
    renewer = threading.Thread(target=_renew, args=(container, done, expiry_s), name="lease", daemon=True)
    renewer.start()
    try:
        yield grant
    finally:
        done.set()
        renewer.join(expiry_s)
        # A store that is down lets it run out; the error that brought us here says more.
        with suppress(MsgxError):
            container.store.release_lease()


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set; a second signal ends the process at once.

    In a thread other than the main one signals are left alone.
    """
    stop = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def ask(number: int, frame: FrameType | None) -> None:
        stop.set()
        # Nothing is lost by being killed, so whoever insists is obeyed.
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _acquire(
    container: Container,
    holder: str,
    expiry_s: float,
    stop: threading.Event,
    waiting: Callable[[str], None],
) -> LeaseGrant:
    deadline = time.monotonic() + expiry_s + _GRACE_S
    told = False
    while True:
        grant = container.store.acquire_lease(holder, expiry_s)
        if grant.granted:
            return grant
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise LeaseBusy(grant.view.holder or "?", grant.view.expires_in_s)
        if not told:
            waiting(grant.view.holder or "?")
            told = True
        pause_s = min(max(grant.view.expires_in_s, _LEAST_WAIT_S), _LONGEST_WAIT_S, left_s)
        if stop.wait(pause_s):
            raise Interrupted("stopped while waiting for the lease")


def _renew(container: Container, done: threading.Event, expiry_s: float) -> None:
    renew_s = container.settings.lease.renew.total_seconds()
    while not done.wait(renew_s):
        try:
            container.store.renew_lease(expiry_s)
        except Fenced:
            return  # the command meets it at its next write
        except MsgxError:
            continue
