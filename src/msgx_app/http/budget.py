"""How much of a processor HTTP may use: a small share while messages wait for the pump.

All threads of the process share one interpreter lock, so a flood of requests would take half of it. What a
limit on requests cannot bound, since refusing costs too, is bounded here: by sleeping.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from msgx_core.ports import Clock

BUSY_SHARE = 0.1
"""Of what the rest of the process uses, while the pump has work."""

FLOOR_SHARE = 0.02
"""Of a processor, whatever the rest uses: health has to be answered."""

IDLE_SHARE = 0.8
"""Of a processor, while the pump has nothing to do."""

BURST_S = 0.1
WORST_S = -1.0
"""A longer debt than this is forgiven: one heavy question must not keep everybody out for long."""

LONGEST_SLEEP_S = 0.25


class CpuBudget:
    """A bucket of processor seconds, filled by the clocks, emptied by what HTTP's threads use. Thread-safe.

    `busy()` says whether the pump has work: then the bucket fills slowly, and the more slowly the less the
    pump itself gets of the machine.
    """

    def __init__(
        self,
        clock: Clock,
        busy: Callable[[], bool],
        *,
        used_s: Callable[[], float] = time.process_time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._clock = clock
        self._busy = busy
        self._used_s = used_s
        self._sleep = sleep
        self._guard = threading.Lock()
        self._left_s = BURST_S
        self._spent_s = 0.0
        self._seen = (clock.monotonic_s(), used_s(), 0.0)

    def spend(self, used_s: float) -> None:
        """So much processor time was used."""
        with self._guard:
            self._left_s -= used_s
            self._spent_s += used_s

    def pause_s(self) -> float:
        """About how long nothing more may be used; 0 while something is left."""
        busy = self._busy()
        with self._guard:
            now = (self._clock.monotonic_s(), self._used_s(), self._spent_s)
            passed_s, used_s, spent_s = (
                max(0.0, new - old) for new, old in zip(now, self._seen, strict=True)
            )
            self._seen = now
            filled_s = IDLE_SHARE * passed_s
            if busy:
                filled_s = FLOOR_SHARE * passed_s + BUSY_SHARE * max(0.0, used_s - spent_s)
            self._left_s = min(BURST_S, max(WORST_S, self._left_s) + filled_s)
            return max(0.0, -self._left_s / (BUSY_SHARE if busy else IDLE_SHARE))

    def rest(self) -> bool:
        """Sleep as long as nothing may be used, but not for long; whether something may be used then."""
        pause_s = self.pause_s()
        if pause_s > 0:
            self._sleep(min(pause_s, LONGEST_SLEEP_S))
        return pause_s <= LONGEST_SLEEP_S


class ThreadMeter:
    """The processor time of one thread, told to the budget."""

    def __init__(self, budget: CpuBudget) -> None:
        self._budget = budget
        self._seen_s = time.thread_time()

    def tell(self) -> float:
        """Spend what this thread has used since the last time; how much. To be called in that thread."""
        now_s = time.thread_time()
        used_s = now_s - self._seen_s
        self._budget.spend(used_s)
        self._seen_s = now_s
        return used_s
