"""Where HTTP's blocking work is done: few threads, connections of its own, bounded in number and time."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

from attrs import frozen

from msgx_app import backends
from msgx_app.answers.machine import machine
from msgx_app.answers.parts import WithStore
from msgx_app.container import Container, policy_of
from msgx_app.http.budget import CpuBudget, ThreadMeter
from msgx_app.http.problems import busy
from msgx_app.http.workers import Workers
from msgx_app.settings import Settings
from msgx_core.errors import Transient
from msgx_core.ports import Clock, Inbox, Store

T = TypeVar("T")

WORKERS = 4
MAX_WAITING = 32
WORK_TIMEOUT_S = 20.0
PATIENCE_S = 5.0
"""So long a job waits for its share of the processor while the pump is busy."""
_MEMORY = "memory"


@frozen
class Desk(WithStore):
    """What an answer is made from; the mailbox is opened when it is needed."""

    office: Office

    @property
    def inbox(self) -> Inbox:
        """The mailbox. Raises `Transient` or `ConfigError`."""
        return self.office.inbox()


class Office:
    """Parts are opened when first asked for, and again after a failure to open; `close` closes them.

    What is kept in memory cannot be opened twice: then the pipeline's own is used.
    """

    def __init__(self, settings: Settings, clock: Clock, budget: CpuBudget) -> None:
        self.settings = settings
        self.clock = clock
        self.policy = policy_of(settings)
        self._budget = budget
        self._guard = threading.Lock()
        self._opened = ExitStack()
        self._parts: dict[str, Any] = {}
        self._container: Container | None = None
        self._workers = Workers(WORKERS, "http-work")

    def use(self, container: Container) -> None:
        """The pipeline's parts are open."""
        self._container = container

    @property
    def container(self) -> Container | None:
        """The pipeline's parts, once they are open."""
        return self._container

    async def work(self, job: Callable[[Desk], T]) -> T:
        """Do it in a thread, in time, or raise a `Problem`. What is late goes on there and is thrown away."""
        return await self._begun(
            lambda: job(Desk(self.settings, self.policy, self.clock, self.store(), self))
        )

    async def without_store(self, job: Callable[[], T]) -> T:
        """The same, for what needs nothing that is open."""
        return await self._begun(job)

    async def _begun(self, job: Callable[[], T]) -> T:
        if self._workers.pending >= WORKERS + MAX_WAITING:
            raise busy("too much is being worked on", after_s=1)
        try:
            return await asyncio.wait_for(self._workers.begin(lambda: self._metered(job)), WORK_TIMEOUT_S)
        except TimeoutError:
            raise busy(f"no answer within {WORK_TIMEOUT_S:g} s; ask for less") from None

    async def json(self, job: Callable[[Desk], Any]) -> bytes:
        """The same, for an answer in JSON."""
        return await self.work(lambda desk: to_json(job(desk)))

    def store(self) -> Store:
        """Our own connection to the store."""
        return self._part(
            "store",
            self.settings.store.url.scheme,
            lambda: backends.open_store(self.settings, self.clock),
            lambda container: container.store,
        )

    def inbox(self) -> Inbox:
        """Our own connection to the mailbox."""
        return self._part(
            "mailbox",
            self.settings.mailbox.url.scheme,
            lambda: backends.open_inbox(self.settings, self.clock),
            lambda container: container.inbox,
        )

    def close(self) -> None:
        """Close what was opened here; what is being worked on fails."""
        self._workers.stop()
        with self._guard:
            self._opened.close()

    def _part(self, name: str, scheme: str, open_it: Callable[[], T], theirs: Callable[[Container], T]) -> T:
        with self._guard:
            if scheme == _MEMORY:
                if self._container is None:
                    raise Transient(name, "not open yet")
                return theirs(self._container)
            if name not in self._parts:
                part: Any = open_it()
                self._opened.callback(part.close)
                self._parts[name] = part
            found: T = self._parts[name]
            return found

    def _metered(self, job: Callable[[], T]) -> T:
        ends_at_s = self.clock.monotonic_s() + PATIENCE_S
        while not self._budget.rest():
            if self.clock.monotonic_s() >= ends_at_s:
                raise busy("the pump needs the processor; ask less often")
        meter = ThreadMeter(self._budget)
        try:
            return job()
        finally:
            meter.tell()


def to_json(value: Any) -> bytes:
    """JSON as the command line prints it, compact."""
    plain = machine(value)
    try:
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(plain, separators=(",", ":")).encode()
