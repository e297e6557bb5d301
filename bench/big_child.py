"""The process that takes one large schedule from the mailbox to its end: how long, how much memory."""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from pathlib import Path

from bench.frame.machine import memory_mb
from bench.frame.product import in_process
from msgx_core.model.proc import MessageState


def main() -> None:
    """Settings come in the environment; one message waits in the mailbox. Prints JSON."""
    settings = {name: value for name, value in os.environ.items() if name.startswith("MSGX_")}
    with in_process(settings) as container:
        container.pipeline.pump.tick()
        gc.collect()
        # From here on the peak is counted anew.
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        idle_mb = memory_mb("VmRSS")
        began = time.perf_counter()
        container.pipeline.intake.scan()
        tick = container.pipeline.pump.tick()
        seconds = time.perf_counter() - began
        if tick.state is not MessageState.SUCCEEDED:
            sys.exit(f"the schedule ended {tick.state}")
        print(json.dumps({"seconds": seconds, "above_idle_mb": memory_mb("VmHWM") - idle_mb}))


if __name__ == "__main__":
    main()
