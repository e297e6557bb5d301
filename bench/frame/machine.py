"""What the ratios move with: the processor, the disk's time to make a write durable, the versions."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.frame.rounds import Spread

_PAGE = 8192
_IN_MEMORY = frozenset({"tmpfs", "ramfs"})


def fsync_us(folder: Path, times: int = 400) -> Spread:
    """How long each of so many writes of 8 KiB takes to be durable in this folder, in microseconds."""
    path = folder / "fsync-probe"
    taken = []
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR)
    try:
        os.write(descriptor, bytes(_PAGE))
        os.fdatasync(descriptor)
        for number in range(times):
            os.pwrite(descriptor, number.to_bytes(4) * (_PAGE // 4), 0)
            began = time.perf_counter()
            os.fdatasync(descriptor)
            taken.append((time.perf_counter() - began) * 1e6)
    finally:
        os.close(descriptor)
        path.unlink()
    return Spread.of(*taken)


def filesystem(folder: Path) -> str:
    """The type of the file system that a folder is on; empty where the system does not tell."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    found = [(Path(line.split()[1]), line.split()[2]) for line in mounts]
    over = [(len(place.parts), kind) for place, kind in found if folder.resolve().is_relative_to(place)]
    return max(over, default=(0, ""))[1]


def is_in_memory(folder: Path) -> bool:
    """Whether what is written there is durable in name only."""
    return filesystem(folder) in _IN_MEMORY


def processor() -> str:
    """Its name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def described(folder: Path) -> dict[str, Any]:
    """This machine as the report has it; `folder` is where the servers keep their data."""
    probe = fsync_us(folder)
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20,
        "load_at_start": round(os.getloadavg()[0], 2),
        "file_system": filesystem(folder),
        "fsync_us": {"median": round(probe.median, 1), "p99": round(probe.part(0.99), 1)},
        "kernel": platform.release(),
        "python": platform.python_version(),
        "msgx": version("msgx"),
        "commit": commit(),
        "drivers": {name: version(name) for name in ("psycopg", "redis", "lxml", "confluent-kafka")},
    }


def memory_mb(name: str, pid: int | str = "self") -> float:
    """Memory of a process: `VmRSS` what is resident, `VmHWM` the most that ever was."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    found = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
    if found is None:
        raise RuntimeError(f"process {pid} has no {name}")
    return int(found[1]) / 1024


def commit() -> str | None:
    """The commit that is measured, with a `+` when files differ from it; None outside a repository."""
    root = Path(__file__).resolve().parents[2]

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "bench")
        return git("rev-parse", "--short", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.SubprocessError):
        return None


def command(*arguments: str) -> list[str]:
    """A Python of this environment with these arguments."""
    return [sys.executable, *arguments]
