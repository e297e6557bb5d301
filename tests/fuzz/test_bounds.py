"""Shapes that cost much for little: time and memory stay in bounds (R-460, D-25)."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from msgx_cli import environment
from tests.fuzz.hostile import MIB, SHAPES

pytestmark = pytest.mark.timeout(1200)  # deep runs are long
ROOT = Path(__file__).resolve().parents[2]
SECONDS_PER_MIB = 6.0


def told(size: int) -> dict[str, dict[str, float | str]]:
    """What a process of its own says, under a limit of memory and of processor time."""
    run = subprocess.run(
        [sys.executable, "-m", "tests.fuzz.hostile", str(size)],
        env=environment(),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=1100,
        check=False,
    )
    found = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == 0, f"ended behind {found[-1:]}: {run.stderr[-2000:]}"
    return {line["shape"]: line for line in found}


@pytest.mark.parametrize(
    "size",
    [
        pytest.param(MIB // 4, id="quarter-of-a-mebibyte"),
        pytest.param(10 * MIB, id="ten", marks=pytest.mark.deep),
    ],
)
def test_every_shape_is_judged_in_bounds(size: int) -> None:
    """R-460: seconds of processor time for each mebibyte, and 1.5 GiB of address space for everything."""
    lines = told(size)
    assert lines.keys() == SHAPES.keys()
    slow = {name: line for name, line in lines.items() if float(line["s"]) > SECONDS_PER_MIB * size / MIB}
    assert slow == {}
    assert {line["state"] for line in lines.values()} <= {"SUCCEEDED", "SKIPPED", "DEAD"}
