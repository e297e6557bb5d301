"""pgbench: PostgreSQL's own client for benchmarks."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from attrs import frozen

from services.base import binary

_RATE = re.compile(r"^tps = ([0-9.]+)", re.MULTILINE)
_FAILED = re.compile(r"^number of failed transactions: (\d+)", re.MULTILINE)
_LATENCY = re.compile(r"^latency average = ([0-9.]+) ms", re.MULTILINE)
_FOLDERS = tuple(f"/usr/lib/postgresql/{version}/bin" for version in range(18, 13, -1))


@frozen
class Run:
    """How often a script ran a second without the time for connecting, and how long it took on average."""

    rate: float
    latency_ms: float


def script(folder: Path, name: str, text: str) -> Path:
    """A script in a file."""
    path = folder / f"{name}.pgbench"
    path.write_text(text, encoding="utf-8")
    return path


def start(url: str, path: Path, *options: str) -> subprocess.Popen[str]:
    """Run a script with one client and prepared statements; the text of the result comes from its output."""
    parts = urlsplit(url)
    place = ["-h", parts.hostname or "", "-p", str(parts.port), "-U", parts.username or "", parts.path[1:]]
    command = [binary("pgbench", *_FOLDERS), "-n", "-c", "1", "-M", "prepared", "-f", str(path), *options]
    return subprocess.Popen([*command, *place], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str], timeout_s: float = 600.0) -> Run:
    """Wait for its end. Raises RuntimeError with pgbench's words when a transaction failed."""
    out, err = process.communicate(timeout=timeout_s)
    rate, latency, failed = _RATE.search(out), _LATENCY.search(out), _FAILED.search(out)
    if process.returncode or rate is None or (failed is not None and int(failed[1])):
        raise RuntimeError(f"pgbench: {err.strip()[-600:] or out.strip()[-600:]}")
    return Run(float(rate[1]), 0.0 if latency is None else float(latency[1]))


def times(url: str, path: Path, count: int, variables: Sequence[str] = ()) -> Run:
    """Run a script so many times."""
    options = ["-t", str(count), *(part for variable in variables for part in ("-D", variable))]
    return finish(start(url, path, *options))
