"""Puts the simulated day into the mailbox, at its speed, in a thread of its own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice

from msgx_app.simulator import SimulatedMessage, pace
from msgx_core.errors import Transient
from msgx_core.ports import Inbox

LATE_FLOP = 3
"""The AODB writes the row of this update before its text, so that there is a dead letter to be repaired."""

LATE_BY_S = 4.0
LONGEST_WAIT_S = 2.0
"""Nights are quiet at this airport; nobody wants to watch that in real proportion."""


class Feeder:
    """`sent` messages so far, and `offset_s`, the simulated second of the last one. `over` after the last.

    With `fill` one row gets its text only after a while: the message is dead, and a replay mends it.
    """

    def __init__(
        self,
        messages: Sequence[SimulatedMessage],
        inbox: Inbox,
        speed: float,
        fill: Callable[[int, bytes], None] | None = None,
    ) -> None:
        self.total = len(messages)
        self.sent = 0
        self.offset_s = 0.0
        self.over = threading.Event()
        self._messages = messages
        self._inbox = inbox
        self._speed = speed
        self._fill = fill
        self._late = next(islice(filter(_is_plain_flop, messages), LATE_FLOP - 1, None), None)
        self._owed: tuple[float, int, bytes] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="simulator", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def stop(self) -> None:
        """Stop sending; returns when the message under way has been sent."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        for message in pace(self._messages, self._speed, self._wait):
            if not self._put(message):
                return
            self.sent += 1
            self.offset_s = message.offset_s
            self._pay()
        while self._owed is not None and not self._stop.wait(1.0):
            self._pay()
        if self.sent == self.total:
            self.over.set()

    def _put(self, message: SimulatedMessage) -> bool:
        if self._fill is None or message is not self._late:
            return self._send(message.raw) is not None
        msg_id = self._send(b"")
        if msg_id is not None:
            self._owed = (time.monotonic() + LATE_BY_S, msg_id, message.raw)
        return msg_id is not None

    def _pay(self) -> None:
        """The text that a row lacks still, once its time has come."""
        if self._fill is None or self._owed is None or time.monotonic() < self._owed[0]:
            return
        with suppress(Transient):
            self._fill(*self._owed[1:])
            self._owed = None

    def _wait(self, seconds: float) -> bool:
        return self._stop.wait(min(seconds, LONGEST_WAIT_S))

    def _send(self, raw: bytes) -> int | None:
        """Send once the mailbox answers; None when stopped before that."""
        while True:
            try:
                return self._inbox.send(raw)
            except Transient:
                if self._stop.wait(1.0):
                    return None


def _is_plain_flop(message: SimulatedMessage) -> bool:
    return not message.fault and "-flop-" in message.name
