"""A file system of a few megabytes, to fill; skips by name where nothing may be mounted."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import frozen

_BALLAST = "ballast"
_CHUNK = b"\0" * 4096


@frozen
class SmallDisk:
    """Mounted at `folder`."""

    folder: Path

    def fill(self) -> None:
        """Not one block is left."""
        with (self.folder / _BALLAST).open("ab", buffering=0) as ballast:
            while True:
                try:
                    ballast.write(_CHUNK)
                except OSError:
                    return

    def clear(self) -> None:
        """Somebody has made room."""
        (self.folder / _BALLAST).unlink(missing_ok=True)


@contextmanager
def small_disk(folder: Path, megabytes: int, owner: str | None = None) -> Iterator[SmallDisk]:
    """A tmpfs of that size; unmounted at the end."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("no small tmpfs: nothing may be mounted by this user")
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small tmpfs: nothing may be mounted here: {done.stderr.strip()}")
    try:
        if owner is not None:
            shutil.chown(folder, owner)
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
