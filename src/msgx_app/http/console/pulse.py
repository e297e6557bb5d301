"""One look at the store for everybody who looks on: badges, charts, and the stream that refreshes pages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import datetime
from typing import Final

from attrs import evolve, field, frozen

from msgx_app.http.console.ring import EVERY_S, Ring, Sample
from msgx_app.http.office import Desk, Office
from msgx_app.http.problems import busy, problem_of
from msgx_app.http.watch import Watch
from msgx_core.model.proc import TERMINAL_STATES, UNFINISHED_STATES
from msgx_core.model.request import Request, RequestSlot
from msgx_core.ports.operations import Counts

MAX_STREAMS: Final = 32
STREAM_LASTS_S: Final = 600.0
"""Then the browser comes again, and has to show who it is."""

LIVE_S: Final = 2.0
"""So often the store is looked at while somebody looks on."""

COST_SHARE: Final = 0.02
"""A look that takes long is taken less often: of the time at most this share goes into looking."""

CHECK_S: Final = 2.0
"""So often a stream that has nothing to tell asks whether its browser may still look."""

HEARTBEAT_S: Final = 15.0
RETRY_MS: Final = 5000
TOPICS: Final = ("flow", "alerts", "writeback", "outbox", "requests", "jobs", "services")
"""What a page may say that it shows (`data-live`); it is fetched again when one of them has changed."""

_FINISHED = tuple(state.value for state in TERMINAL_STATES)
_WAITING = tuple(state.value for state in UNFINISHED_STATES)


@frozen
class Snapshot:
    """How things were; `store_up` None: nobody has looked yet. `marks` differ when a topic does."""

    at: datetime
    store_up: bool | None = None
    backlog: int = 0
    oldest_s: float = 0.0
    finished: int = 0
    badges: Mapping[str, int] = field(factory=dict)
    marks: Mapping[str, str] = field(factory=dict)


class Pulse:
    """Looks every few seconds while streams are open, else four times a minute. Of one event loop."""

    def __init__(self, office: Office, watch: Watch) -> None:
        self._office = office
        self._watch = watch
        self._clock = office.clock
        self._last = Snapshot(office.clock.now())
        self._ring = Ring()
        self._streams = 0
        self._wanted = asyncio.Event()
        self._told = asyncio.Event()
        self._number = 0
        self._closed = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._cost_s = 0.0

    @property
    def last(self) -> Snapshot:
        """The last look."""
        return self._last

    @property
    def samples(self) -> tuple[Sample, ...]:
        """Of the last hours, oldest first."""
        return self._ring.view()

    async def run(self) -> None:
        """Look on until `close`."""
        # Of this loop: an interface that begins again has another one.
        self._loop = asyncio.get_running_loop()
        self._wanted, self._told = asyncio.Event(), asyncio.Event()
        while not self._closed:
            await self.look()
            pause_s = max(LIVE_S if self._streams else EVERY_S, self._cost_s / COST_SHARE)
            self._wanted.clear()
            try:
                await asyncio.wait_for(self._wanted.wait(), pause_s)
            except TimeoutError:
                continue
            # Somebody came; many who come do not make it look more often.
            await asyncio.sleep(min(LIVE_S, pause_s))

    def close(self) -> None:
        """End every stream. From any thread; idempotent."""
        self._closed = True
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake)

    async def look(self) -> None:
        """Look once, and tell the streams."""
        started_s = self._clock.monotonic_s()
        try:
            seen = await self._office.work(self._seen)
        except Exception as error:
            problem = problem_of(error)
            if problem.more.get("service") != "store":
                return  # busy: what was seen last is still the best that is known
            seen = evolve(self._last, at=self._clock.now(), store_up=False)
        else:
            self._cost_s = self._clock.monotonic_s() - started_s
            self._ring.add(Sample(seen.at, seen.backlog, seen.oldest_s, seen.finished, seen.badges["dead"]))
        seen = evolve(seen, marks={**seen.marks, "services": self._services(seen)})
        changed = (seen.store_up, seen.badges, seen.marks) != (
            self._last.store_up,
            self._last.badges,
            self._last.marks,
        )
        self._last = seen
        if changed:
            self._number += 1
            self._wake()

    def check_room(self) -> None:
        """Raises a `Problem` when there are too many streams."""
        if self._closed or self._streams >= MAX_STREAMS:
            raise busy(f"{MAX_STREAMS} pages are refreshed already", after_s=60)

    async def stream(self, may_look: Callable[[], Awaitable[bool]]) -> AsyncIterator[bytes]:
        """Server-sent events: what has changed, and a sign of life now and then.

        It ends as soon as `may_look` says no, which is asked before each event and every `CHECK_S`.
        """
        ends_at_s = self._clock.monotonic_s() + STREAM_LASTS_S
        self._streams += 1
        self._wanted.set()
        seen, spoke_at_s = -1, self._clock.monotonic_s()
        try:
            yield f"retry: {RETRY_MS}\n\n".encode()
            while not self._closed and self._clock.monotonic_s() < ends_at_s and await may_look():
                now_s = self._clock.monotonic_s()
                if seen != self._number:
                    seen, spoke_at_s = self._number, now_s
                    yield self._event()
                elif now_s - spoke_at_s >= HEARTBEAT_S:
                    spoke_at_s = now_s
                    yield b": still here\n\n"
                await self._change(seen)
        finally:
            self._streams -= 1

    async def _change(self, seen: int) -> None:
        told = self._told
        if seen != self._number or self._closed:
            return
        try:
            await asyncio.wait_for(told.wait(), min(CHECK_S, HEARTBEAT_S))
        except TimeoutError:
            return

    def _wake(self) -> None:
        self._told.set()
        self._told = asyncio.Event()
        if self._closed:
            self._wanted.set()

    def _event(self) -> bytes:
        last = self._last
        data = {"store": last.store_up, "badges": dict(last.badges), "marks": dict(last.marks)}
        return f"event: pulse\nid: {self._number}\ndata: {json.dumps(data)}\n\n".encode()

    def _seen(self, desk: Desk) -> Snapshot:
        store, now = desk.store, desk.clock.now()
        counts, head, lease = store.counts(), store.head(), store.lease()
        backlog, finished = _sum(counts, _WAITING), _sum(counts, _FINISHED)
        jobs = store.open_jobs()
        at_head = "" if head is None else f"{head.msg_id}.{head.attempts}.{head.state.value}"
        dead_events = sum(each.get("DEAD", 0) for each in counts.events.values())
        return Snapshot(
            now,
            True,
            backlog,
            0.0 if head is None else max(0.0, (now - head.enqueued_at).total_seconds()),
            finished,
            {
                "backlog": backlog,
                "dead": counts.messages.get("DEAD", 0),
                "alerts": counts.alerts_open,
                "writeback": counts.writeback_abandoned,
                "outbox": dead_events,
                "requests": counts.requests_open,
                "jobs": len(jobs),
            },
            {
                "flow": f"{finished}.{backlog}.{at_head}.{counts.messages.get('DEAD', 0)}",
                "alerts": str(counts.alerts_open),
                "writeback": f"{counts.writeback_pending}.{counts.writeback_abandoned}",
                "outbox": json.dumps(dict(counts.events), sort_keys=True, default=dict),
                "requests": ".".join(_standing(store.open_request(slot)) for slot in RequestSlot),
                "jobs": ".".join(f"{job.job_id}{job.state.value}" for job in jobs),
                "lease": f"{lease.holder}.{lease.epoch}.{lease.expires_in_s > 0}",
            },
        )

    def _services(self, seen: Snapshot) -> str:
        """Also the time: whether a service answers is only known by asking, and pages that show it ask."""
        phase = self._watch.monitor.phase()
        down = ",".join(sorted(outage.service for outage in self._watch.monitor.outages()))
        tick = int(self._clock.monotonic_s() / EVERY_S)
        return f"{phase.phase.value}.{phase.detail}.{down}.{seen.store_up}.{seen.marks.get('lease')}.{tick}"


def _standing(request: Request | None) -> str:
    if request is None:
        return "-"
    return f"{request.request_id}{request.state.value}{request.resp_msg_id or ''}"


def _sum(counts: Counts, states: tuple[str, ...]) -> int:
    return sum(counts.messages.get(state, 0) for state in states)
