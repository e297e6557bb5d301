"""`--once`: the whole day at full speed, then a summary; what scripts use."""

from __future__ import annotations

import sys
import time
from typing import Literal

from msgx_app.cli.supervise import Interrupted, holder_name, lease_held, stop_on_signals
from msgx_app.container import Container, open_container
from msgx_app.demo.folder import make_folder
from msgx_app.demo.options import AIRPORT, Options
from msgx_app.demo.summary import summary
from msgx_app.simulator import simulate


def run_once(options: Options) -> int:
    """Send all, drain, tell; 0, or 130 when interrupted."""
    folder = make_folder(options.folder)
    plan = options.plan
    print(f"msgx demo: airport {AIRPORT}, {options.day}, {options.flights} flights, seed {options.seed}")
    with (
        stop_on_signals() as stop,
        open_container(folder.settings, create=True, log=_log()) as container,
    ):
        started_s = time.monotonic()
        sent = 0
        for message in simulate(plan):
            if stop.is_set():
                break
            container.inbox.send(message.raw)
            sent += 1
        sent_s = time.monotonic() - started_s
        print(f"sent        {sent} messages in {sent_s:.1f} s; now they go through ...", flush=True)
        container.pipeline.pin()
        try:
            with lease_held(container, holder_name("demo"), stop=stop) as grant:
                container.pipeline.prepare(grant)
                report = container.pipeline.drain(stop.is_set)
        except Interrupted:
            return 130
        _tell_speed(container, time.monotonic() - started_s - sent_s)
        print("\n".join(summary(container, folder)))
    return 130 if report.stopped else 0


def _log() -> Literal["json", "console"]:
    return "console" if sys.stderr.isatty() else "json"


def _tell_speed(container: Container, seconds: float) -> None:
    counts = container.store.counts().messages
    done = sum(n for state, n in counts.items() if state not in ("PENDING", "FAILED"))
    rate = done / seconds if seconds > 0 else 0.0
    print(f"processed   {done} messages in {seconds:.1f} s ({rate:.0f} a second), written back, events sent")
