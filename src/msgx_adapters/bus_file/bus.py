"""The event bus as a folder of JSON-lines files, one for each topic: the embedded set (IMP §8, D-28)."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgx_core.errors import ConfigError, Transient
from msgx_core.ports.bus import BusRecord, Delivery

from .appending import append, repair
from .lines import from_line, refusal, to_line

_SUFFIX = ".jsonl"


class FileBus:
    """Implements `Bus`. Safe to call from several threads and beside other processes.

    `<topic>.jsonl` has a line `{"key":…,"value":…}` for each record, in the order of publishing; the lines
    of one call stand together. Confirmed means on disk. Files are never rotated: move one away at any
    time, and the next record starts a new one.
    """

    def __init__(self, directory: str | Path, max_bytes: int = 1_000_000, *, timeout_s: float = 10.0) -> None:
        self.max_bytes = max_bytes
        self._directory = Path(directory).absolute()
        self._timeout_s = timeout_s
        self._guard = threading.Lock()
        self._closed = False
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            for path in self._directory.glob(f"*{_SUFFIX}"):
                repair(path, timeout_s)
        except OSError as error:
            raise ConfigError([f"the bus folder {self._directory} cannot be used: {error}"]) from error

    def publish(self, records: Sequence[BusRecord]) -> Sequence[Delivery]:
        """Append the records; results in their order.

        Refusals: `too-large`, `refused:not-json`, `refused:topic` (a topic that is no file name).
        """
        results: list[Delivery] = []
        batches: dict[str, list[bytes]] = {}
        for record in records:
            code = refusal(record, self.max_bytes)
            if code is None:
                try:
                    line = to_line(record)
                except ValueError:
                    code = "refused:not-json"
                else:
                    batches.setdefault(record.topic, []).append(line)
            results.append(Delivery(code))
        with self._guard:
            self._answer()
            for topic, lines in batches.items():
                self._append(topic, b"".join(lines))
        return results

    def read(self, topic: str) -> Iterator[BusRecord]:
        """The records of a topic in order; a half line at the end is not one."""
        path = self._path(topic)
        if not path.exists():
            return
        with path.open("rb") as file:
            for line in file:
                if line.endswith(b"\n"):
                    yield from_line(topic, line)

    def check_topics(self) -> None:
        """Topics make themselves here."""

    def ping(self) -> None:
        """Return when the folder is there and can be written, else raise `Transient`."""
        with self._guard:
            self._answer()
        if not os.access(self._directory, os.W_OK | os.X_OK):
            raise Transient("bus", f"{self._directory} is missing or cannot be written")

    def close(self) -> None:
        """Take no more records; nothing is held open. Idempotent."""
        with self._guard:
            self._closed = True

    def _answer(self) -> None:
        if self._closed:
            raise Transient("bus", "closed")

    def _append(self, topic: str, lines: bytes) -> None:
        try:
            append(self._path(topic), lines, self._timeout_s)
        except OSError as error:
            raise Transient("bus", f"{self._path(topic)}: {error}") from error

    def _path(self, topic: str) -> Path:
        return self._directory / f"{topic}{_SUFFIX}"
