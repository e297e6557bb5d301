"""Files of whole lines that several processes may append to and replace, whatever crashes."""

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

    A half line that a crash left at the end is cut off first. After an error there is no half line either, as
    far as the disk lets us take it back.
    """
    with locked(path, timeout_s) as file:
        is_new = os.fstat(file).st_size == 0
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
            sync_folder(path.parent)


def replace(path: Path, lines: bytes) -> None:
    """Put a file in the place of a locked one; nothing to put removes it."""
    if not lines:
        path.unlink()
        sync_folder(path.parent)
        return
    fresh = path.with_suffix(".tmp")
    with fresh.open("wb") as file:
        file.write(lines)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)
    sync_folder(path.parent)


@contextmanager
def locked(path: Path, timeout_s: float) -> Iterator[int]:
    """The file, made if it is missing, while no other process changes it. `TimeoutError` after that time."""
    deadline = time.monotonic() + timeout_s
    while True:
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            _lock(file, deadline)
            if _is_at(file, path):
                yield file
                return
        finally:
            os.close(file)
        # Another process has replaced the file while we waited for it.


def _lock(file: int, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise TimeoutError("another process keeps the file locked") from error
        time.sleep(_PAUSE_S)


def _is_at(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False


def _cut_half_line(file: int) -> int:
    """Truncate to the last line end; returns the size."""
    size = end = os.fstat(file).st_size
    while end > 0:
        start = max(0, end - _BLOCK)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end != size:
        os.ftruncate(file, end)
    return end


def sync_folder(folder: Path) -> None:
    """A file's name is only as durable as its folder."""
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)
