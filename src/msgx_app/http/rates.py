"""How often a client may ask: a bucket of requests for each, and only so many clients are remembered."""

from __future__ import annotations

from collections import OrderedDict

from attrs import define

from msgx_core.ports import Clock

MAX_CLIENTS = 1024
BURST = 4.0
"""A client that was quiet may make so many seconds' worth of requests at once: a page asks for several."""


@define
class _Bucket:
    left: float
    at_s: float
    active: int = 0


class Rates:
    """Of one event loop; not thread-safe. A client that was long quiet is forgotten, which harms nobody."""

    def __init__(self, clock: Clock, per_s: float) -> None:
        self._clock = clock
        self._per_s = per_s
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait_s(self, client: str) -> float:
        """Take one request; 0, or how long this client has to wait for the next one."""
        bucket = self._bucket(client)
        if bucket.left >= 1.0:
            bucket.left -= 1.0
            return 0.0
        return (1.0 - bucket.left) / self._per_s

    def enter(self, client: str, most: int) -> bool:
        """Begin a request; False when the client has so many under way."""
        bucket = self._bucket(client)
        if bucket.active >= most:
            return False
        bucket.active += 1
        return True

    def leave(self, client: str) -> None:
        """A request has ended."""
        bucket = self._buckets.get(client)
        if bucket is not None:
            bucket.active = max(0, bucket.active - 1)

    def _bucket(self, client: str) -> _Bucket:
        now_s = self._clock.monotonic_s()
        bucket = self._buckets.get(client)
        if bucket is None:
            bucket = self._buckets[client] = _Bucket(self._per_s * BURST, now_s)
            self._forget()
        else:
            self._buckets.move_to_end(client)
            filled = (now_s - bucket.at_s) * self._per_s
            bucket.left = min(self._per_s * BURST, bucket.left + filled)
            bucket.at_s = now_s
        return bucket

    def _forget(self) -> None:
        while len(self._buckets) > MAX_CLIENTS:
            self._buckets.popitem(last=False)
