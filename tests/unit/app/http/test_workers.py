"""Threads for blocking work: results, errors, more work than threads, and an end that waits for nobody."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from functools import partial

import pytest

from msgx_app.http.workers import Workers


def test_results_and_errors_come_to_who_waits() -> None:
    workers = Workers(2, "test-work")

    async def main() -> list[object]:
        def fail() -> None:
            raise ValueError("no")

        good = [workers.begin(partial(pow, n, 2)) for n in range(20)]
        found: list[object] = list(await asyncio.gather(*good))
        with pytest.raises(ValueError, match="no"):
            await workers.begin(fail)
        return found

    assert asyncio.run(main()) == [n * n for n in range(20)]
    assert workers.pending == 0
    assert len([t for t in threading.enumerate() if t.name.startswith("test-work")]) <= 2
    workers.stop()


def test_who_goes_away_leaves_nothing_behind() -> None:
    """A wait that was given up, or a loop that has ended: the work ends all the same."""
    workers = Workers(1, "test-gone")
    release = threading.Event()

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(workers.begin(lambda: release.wait(5.0)), 0.05)
        workers.begin(lambda: None)

    asyncio.run(main())
    assert workers.pending == 2
    release.set()
    deadline = time.monotonic() + 5.0
    while workers.pending and time.monotonic() < deadline:
        time.sleep(0.01)
    assert workers.pending == 0
    workers.stop()


def test_the_process_ends_while_work_hangs() -> None:
    """SIGTERM has to end in ten seconds, whatever a store does."""
    code = (
        "import asyncio, time\n"
        "from msgx_app.http.workers import Workers\n"
        "async def main():\n"
        "    Workers(1, 'x').begin(lambda: time.sleep(60))\n"
        "    await asyncio.sleep(0.05)\n"
        "asyncio.run(main())\n"
    )
    began_s = time.monotonic()
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
    assert time.monotonic() - began_s < 20
