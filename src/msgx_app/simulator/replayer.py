"""Paces a simulated day: gives out each message when its time has come, at any speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgx_app.simulator.plan import SimulatedMessage


def pace(
    messages: Iterable[SimulatedMessage], speed: float | None, clock_sleep: Callable[[float], bool]
) -> Iterator[SimulatedMessage]:
    """Yields every message at its `offset_s` / `speed`, counted from the first `next()`.

    `clock_sleep` waits so many seconds and returns True when it was asked to stop, which ends the stream
    (`Event.wait` does just that). It is called before every message, with 0.0 when nothing is to be waited
    for, so a stop is always noticed. `speed` 0 or None: as fast as possible. Raises ValueError at once for
    a negative speed.
    """
    if speed is not None and speed < 0:
        raise ValueError(f"speed must not be negative: {speed}")
    return _paced(messages, speed or 0.0, clock_sleep)


def _paced(
    messages: Iterable[SimulatedMessage], speed: float, clock_sleep: Callable[[float], bool]
) -> Iterator[SimulatedMessage]:
    now_s = 0.0
    for message in messages:
        wait_s = max(0.0, message.offset_s - now_s) / speed if speed else 0.0
        if clock_sleep(wait_s):
            return
        now_s = max(now_s, message.offset_s)
        yield message
