"""Puts the simulated day into the mailbox, at its speed, in a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from msgx_app.simulator import SimulatedMessage, pace
from msgx_core.errors import Transient
from msgx_core.ports import Inbox

LONGEST_WAIT_S = 2.0
"""Nights are quiet at this airport; nobody wants to watch that in real proportion."""


class Feeder:
    """`sent` messages so far, and `offset_s`, the simulated second of the last one. `over` after the last."""

    def __init__(self, messages: Sequence[SimulatedMessage], inbox: Inbox, speed: float) -> None:
        self.total = len(messages)
        self.sent = 0
        self.offset_s = 0.0
        self.over = threading.Event()
        self._messages = messages
        self._inbox = inbox
        self._speed = speed
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
            if not self._send(message.raw):
                return
            self.sent += 1
            self.offset_s = message.offset_s
        if self.sent == self.total:
            self.over.set()

    def _wait(self, seconds: float) -> bool:
        return self._stop.wait(min(seconds, LONGEST_WAIT_S))

    def _send(self, raw: bytes) -> bool:
        """Send once the mailbox answers; False when stopped before that."""
        while True:
            try:
                self._inbox.send(raw)
            except Transient:
                if self._stop.wait(1.0):
                    return False
            else:
                return True
