"""Where a simulated day goes: a folder of files, or a mailbox through a `Sender`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from msgx_app.simulator.plan import SimulatedMessage
from msgx_core.errors import ConfigError


class Sender(Protocol):
    """Puts one raw message into a mailbox and returns its `MSG_ID`."""

    def send(self, raw: bytes) -> int:
        """Appends the message; the mailbox keeps the order of the calls."""
        ...


def write_folder(messages: Iterable[SimulatedMessage], directory: Path) -> int:
    """Writes one file `NAME.xml` per message, its bytes as they are, and returns how many.

    Sorted by name the files are in order. The directory is made if need be; ConfigError if it is not
    empty or not a directory, and then nothing is written.
    """
    if directory.exists() and not directory.is_dir():
        raise ConfigError([f"not a directory: {directory}"])
    if directory.exists() and any(directory.iterdir()):
        raise ConfigError([f"the directory is not empty, choose a new one: {directory}"])
    directory.mkdir(parents=True, exist_ok=True)
    written = 0
    for message in messages:
        (directory / f"{message.name}.xml").write_bytes(message.raw)
        written += 1
    return written


def send_all(messages: Iterable[SimulatedMessage], sender: Sender) -> int:
    """Sends the messages in order and returns how many."""
    sent = 0
    for message in messages:
        sender.send(message.raw)
        sent += 1
    return sent
