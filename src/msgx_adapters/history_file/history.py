"""`FileHistory`: `YYYY-MM-DD.jsonl` by the day (UTC) on which flights ended."""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

from msgx_adapters.history_file.files import append, locked, replace
from msgx_adapters.history_file.lines import from_line, to_line
from msgx_core.errors import ConfigError, Transient
from msgx_core.ports import HistoryRecord

_NAME = re.compile(r"\d{4}-\d\d-\d\d\.jsonl")


class FileHistory:
    """Implements `History`. Safe to call from several threads and beside other processes.

    Confirmed means on disk. A record that is written again is appended again; the last one of a FLID and
    version counts, and `read` yields it alone.
    """

    def __init__(self, directory: str | Path, *, timeout_s: float = 10.0) -> None:
        self._directory = Path(directory).absolute()
        self._timeout_s = timeout_s
        self._guard = threading.Lock()
        self._closed = False
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError([f"the history folder {self._directory} cannot be used: {error}"]) from error

    def write(self, records: Sequence[HistoryRecord]) -> Collection[int]:
        """Append; the FLIDs that are on disk. A document that is no JSON object is not among them."""
        days: defaultdict[date, list[tuple[int, bytes]]] = defaultdict(list)
        for record in records:
            try:
                days[_day(record.ended_at)].append((record.flid, to_line(record)))
            except (ValueError, UnicodeError):
                continue
        kept: set[int] = set()
        failed: OSError | None = None
        with self._guard:
            self._answer()
            for day, lines in days.items():
                try:
                    append(self._path(day), b"".join(line for _, line in lines), self._timeout_s)
                except OSError as error:
                    failed = error
                else:
                    kept.update(flid for flid, _ in lines)
        if failed is not None and not kept:
            raise Transient("history", f"{self._directory}: {failed}") from failed
        return kept

    def read(self) -> Iterator[HistoryRecord]:
        """All records by day, each FLID and version once, as it was written last; half lines are none."""
        last: dict[tuple[int, int], tuple[Path, int]] = {}
        for path, number, record in self._lines():
            last[record.flid, record.version] = (path, number)
        for path, number, record in self._lines():
            if last.get((record.flid, record.version)) == (path, number):
                yield record

    def remove_before(self, cutoff: datetime) -> int:
        """Remove records that ended before the cut-off; how many lines."""
        removed = 0
        with self._guard:
            self._answer()
            try:
                for path in self._files():
                    if date.fromisoformat(path.stem) <= _day(cutoff):
                        removed += self._thin_out(path, cutoff)
            except OSError as error:
                raise Transient("history", f"{self._directory}: {error}") from error
        return removed

    def count_before(self, cutoff: datetime) -> int:
        """How many lines ended before the cut-off."""
        with self._guard:
            self._answer()
            try:
                return sum(record.ended_at < cutoff for _, _, record in self._lines(_day(cutoff)))
            except OSError as error:
                raise Transient("history", f"{self._directory}: {error}") from error

    def ping(self) -> None:
        """Return when the folder is there and can be written, else raise `Transient`."""
        with self._guard:
            self._answer()
        if not os.access(self._directory, os.W_OK | os.X_OK):
            raise Transient("history", f"{self._directory} is missing or cannot be written")

    def close(self) -> None:
        """Take no more records; nothing is held open. Idempotent."""
        with self._guard:
            self._closed = True

    def _answer(self) -> None:
        if self._closed:
            raise Transient("history", "closed")

    def _path(self, day: date) -> Path:
        return self._directory / f"{day.isoformat()}.jsonl"

    def _files(self) -> list[Path]:
        return sorted(path for path in self._directory.iterdir() if _NAME.fullmatch(path.name))

    def _lines(self, last: date = date.max) -> Iterator[tuple[Path, int, HistoryRecord]]:
        for path in self._files():
            if date.fromisoformat(path.stem) > last:
                continue
            with path.open("rb") as file:
                for number, line in enumerate(file):
                    if line.endswith(b"\n"):
                        yield path, number, from_line(line)

    def _thin_out(self, path: Path, cutoff: datetime) -> int:
        with locked(path, self._timeout_s):
            lines = [line for line in path.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]
            stay = [line for line in lines if from_line(line).ended_at >= cutoff]
            if len(stay) < len(lines):
                replace(path, b"".join(stay))
        return len(lines) - len(stay)


def _day(at: datetime) -> date:
    return at.astimezone(UTC).date()
