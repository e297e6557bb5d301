"""Appending whole lines to a file that several processes may write, whatever crashes (R-355)."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_BLOCK = 65_536
_PAUSE_S = 0.005


def append(path: Path, lines: bytes, timeout_s: float) -> None:
    """Append complete lines and return when they are on disk; `OSError` when that is not certain.

    A half line that a crash left at the end is cut off first. After an error there is no half line either,
    as far as the disk lets us take it back.
    """
    with _locked(path, timeout_s) as (file, is_new):
        start = _cut_half_line(file)
        written = 0
        try:
            written = os.write(file, lines)
            if written != len(lines):
                raise OSError(f"only {written} of {len(lines)} bytes could be written")
            os.fsync(file)
        except OSError:
            if written != len(lines):
                os.ftruncate(file, start)
            raise
        if is_new:
            _sync_folder(path.parent)


def repair(path: Path, timeout_s: float) -> None:
    """Cut off the half line that a crash left at the end."""
    with _locked(path, timeout_s) as (file, _):
        _cut_half_line(file)


@contextmanager
def _locked(path: Path, timeout_s: float) -> Iterator[tuple[int, bool]]:
    """The file, made if it is missing, while no other process appends to it; and whether it is empty."""
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _lock(file, timeout_s)
        yield file, os.fstat(file).st_size == 0
    finally:
        os.close(file)


def _lock(file: int, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise TimeoutError(f"another process has locked the file for {timeout_s} s") from error
        time.sleep(_PAUSE_S)


def _cut_half_line(file: int) -> int:
    """Truncate to the last line end; returns the size."""
    size = os.fstat(file).st_size
    end = size
    while end > 0:
        start = max(0, end - _BLOCK)
        if end == size and os.pread(file, 1, size - 1) == b"\n":
            return size
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end != size:
        os.ftruncate(file, end)
    return end


def _sync_folder(folder: Path) -> None:
    """A new file's name is only as durable as its folder."""
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
