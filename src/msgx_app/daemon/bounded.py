"""Work that must not keep the process from ending."""

from __future__ import annotations

import threading
from collections.abc import Callable


def finishes_within(seconds: float, work: Callable[[], object]) -> bool:
    """Run `work` in a thread of its own; whether it ended in time, well or not.

    What has not ended goes on in the background and dies with the process.
    """
    thread = threading.Thread(target=work, name="closing", daemon=True)
    thread.start()
    thread.join(seconds)
    return not thread.is_alive()
