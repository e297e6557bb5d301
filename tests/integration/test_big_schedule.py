"""A 10 MB schedule of 4,000 flights through the real command line, and the memory it takes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from msgx_app.simulator import big_schedule

MAX_ABOVE_IDLE_MB = 200


def msgx(folder: Path, *args: str) -> float:
    """Run a command to success; its peak memory in MB."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MSGX_")}
    with (folder / "output.txt").open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "msgx_app", *args], cwd=folder, env=environment, stdout=output
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, (args, (folder / "output.txt").read_text())
    return usage.ru_maxrss / 1024


def count(folder: Path, *args: str) -> int:
    """How many rows a list command prints."""
    msgx(folder, *args, "--limit", "100000", "--json")
    return len(json.loads((folder / "output.txt").read_text()))


@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is in kilobytes on Linux only")
def test_new_and_again_within_memory(tmp_path: Path) -> None:
    """R-460, R-463: drains whole, new and as an update of all flights; peak above idle below 200 MB."""
    msgx(tmp_path, "init", "--airport", "KMG")
    idle_mb = msgx(tmp_path, "drain")
    raw = big_schedule()
    assert len(raw) > 10_000_000
    (tmp_path / "new.xml").write_bytes(raw)
    changed = raw.replace(b"<SEQN>1<", b"<SEQN>9<").replace(b"<GATE>B", b"<GATE>C")
    (tmp_path / "again.xml").write_bytes(changed)
    for name in ("new.xml", "again.xml"):
        msgx(tmp_path, "send", name)
        above_mb = msgx(tmp_path, "drain") - idle_mb
        print(f"{name}: {above_mb:.0f} MB above idle of {idle_mb:.0f} MB")
        assert above_mb < MAX_ABOVE_IDLE_MB, f"{name}: {above_mb:.0f} MB above idle"
    assert count(tmp_path, "messages", "--state", "SUCCEEDED") == 2
    assert count(tmp_path, "flights") == 4000
