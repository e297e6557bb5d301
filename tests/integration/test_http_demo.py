"""`make demo` answers over HTTP: somebody who opens the address sees flights."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from msgx_app.demo.address import with_address
from msgx_app.settings.network import Bind
from msgx_cli import environment
from processes import memory_settings, wait_for


def test_the_demo_shows_flights_over_http(tmp_path: Path) -> None:
    """Within ten seconds on a quiet machine; the bound is for a busy one."""
    options = f"--flights 10 --speed 5000 --dir {tmp_path} --http 127.0.0.1:0".split()
    demo = subprocess.Popen(
        [sys.executable, "-m", "msgx_app.demo", *options],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert demo.stdout is not None
        found = next(filter(None, (re.search(r"http://[\d.:]+", line) for line in demo.stdout)))
        with httpx.Client(base_url=found[0], trust_env=False, timeout=20.0) as client:
            wait_for("flights", lambda: client.get("/api/v1/flights").json(), within_s=60.0)
            assert client.get("/health/ready").json()["STATUS"] == "ACTIVE"
            assert "msgx_terminal_total" in client.get("/metrics").text
            status = client.get("/api/v1/status").json()
            assert status["INSTANCE"]["HOLDER"] == status["LEASE"]["HOLDER"]
    finally:
        demo.send_signal(signal.SIGINT)
        demo.communicate(timeout=30)
    assert demo.returncode == 0


def test_a_taken_address_is_another_port() -> None:
    """A demo beside something that listens already."""
    import socket

    with socket.create_server(("127.0.0.1", 0)) as taken:
        bind = Bind("127.0.0.1", taken.getsockname()[1])
        assert with_address(memory_settings(), bind).http.bind == Bind("127.0.0.1", 0)
    assert with_address(memory_settings(), None).http.bind is None
