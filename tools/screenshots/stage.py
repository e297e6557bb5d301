"""What the pictures show: the demonstration with a fixed seed, some way into its day."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import httpx

SEED: Final = 7
FLIGHTS: Final = 80
SPEED: Final = 900.0
"""Simulated seconds per second: the day takes a minute and a half."""

ENOUGH: Final = 320
"""Messages that have come to their end: by then there is something on every page."""

STARTS_WITHIN_S: Final = 60.0
ENOUGH_WITHIN_S: Final = 180.0


@contextmanager
def demo(folder: Path) -> Iterator[str]:
    """The address of a demonstration at work. It is ended as with Ctrl-C, and then killed if need be."""
    options = f"--flights {FLIGHTS} --seed {SEED} --speed {SPEED:g} --http 127.0.0.1:0".split()
    log = folder / "demo.log"
    with log.open("wb") as out:
        running = subprocess.Popen(
            [sys.executable, "-m", "msgx_app.demo", *options, "--dir", str(folder)],
            cwd=folder,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _address(log, running)
    finally:
        running.send_signal(signal.SIGINT)
        try:
            running.wait(30.0)
        except subprocess.TimeoutExpired:
            running.kill()
            running.wait()


def add_trouble(address: str) -> None:
    """What a quiet day lacks: requests to the AODB, and a schedule with a day conflict."""
    with httpx.Client(base_url=address, timeout=10.0, trust_env=False) as client:
        for asked in ({"schedule": "today"}, {"schedule": "today..today"}, {"ref": "GLST"}):
            why = {"reason": "the push of the night was late"}
            client.post("/api/v1/requests", json={**asked, **why}).raise_for_status()
        flight = client.get("/api/v1/flights", params={"limit": 1}).raise_for_status().json()[0]
        raw = _elsewhere(flight["FLID"], datetime.now(UTC) + timedelta(days=3))
        client.post("/cminmsgs/send", content=raw).raise_for_status()


def _elsewhere(flid: int, at: datetime) -> str:
    """A schedule that has a flight on another day."""
    meta = "<SNDR>AODB</SNDR><SEQN>999999</SEQN><TYPE>SCHD</TYPE><STYP>DNLD</STYP>"
    when = f"<DTTM>{at:%Y%m%d%H%M%S}</DTTM>"
    record = f"<FLTR><FLID>{flid}</FLID><FLNO>MU5701</FLNO><SODT>{at:%d%b%y%H%M}</SODT></FLTR>".upper()
    return f"<MSG><META>{meta}{when}</META><SCHD><RECS>1</RECS>{record}</SCHD></MSG>"


def finished(address: str) -> int:
    """How many messages have come to their end."""
    try:
        answer = httpx.get(f"{address}/api/v1/status", timeout=10.0, trust_env=False).raise_for_status()
    except httpx.TransportError as error:
        raise SystemExit(
            f"the demonstration has ended, its day is over: ask for fewer messages ({error})"
        ) from error
    counts: dict[str, Any] = answer.json()["MESSAGES"]
    return sum(int(n) for state, n in counts.items() if state not in ("PENDING", "FAILED"))


def _address(log: Path, running: subprocess.Popen[bytes]) -> str:
    ends_at_s = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < ends_at_s and running.poll() is None:
        found = re.search(r"(http://[\d.:]+)/console", log.read_text("utf-8", "replace"))
        if found is not None:
            return found[1]
        time.sleep(0.2)
    raise SystemExit(f"the demonstration did not start: {log.read_text('utf-8', 'replace')[-2000:]}")
