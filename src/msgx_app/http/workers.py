"""A few threads for blocking work that an event loop waits for; none keeps the process from ending."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from attrs import frozen

T = TypeVar("T")


@frozen
class _Task:
    """What is to be done, and who waits for it in which loop."""

    job: Callable[[], Any]
    waiting: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Workers:
    """So many threads, begun when they are first needed. `pending` counts what has not ended; thread-safe."""

    def __init__(self, count: int, name: str) -> None:
        self._count = count
        self._name = name
        self._tasks: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._guard = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._pending = 0

    @property
    def pending(self) -> int:
        """What is being worked on or waits for its turn."""
        return self._pending

    def begin(self, job: Callable[[], T]) -> asyncio.Future[T]:
        """Do it as soon as a thread is free. To be called in a running event loop."""
        loop = asyncio.get_running_loop()
        waiting: asyncio.Future[T] = loop.create_future()
        with self._guard:
            self._pending += 1
            if len(self._threads) < min(self._count, self._pending):
                self._add_thread()
        self._tasks.put(_Task(job, waiting, loop))
        return waiting

    def stop(self) -> None:
        """End the threads after what they do now; nobody waits for them."""
        for _ in self._threads:
            self._tasks.put(None)

    def _add_thread(self) -> None:
        number = len(self._threads) + 1
        thread = threading.Thread(target=self._run, name=f"{self._name}-{number}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _run(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                result, error = task.job(), None
            except Exception as raised:
                result, error = None, raised
            with self._guard:
                self._pending -= 1
            # A loop that has ended has nobody waiting.
            with suppress(RuntimeError):
                task.loop.call_soon_threadsafe(_tell, task.waiting, result, error)
            del task, result, error


def _tell(waiting: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if waiting.done():
        return
    if error is None:
        waiting.set_result(result)
    else:
        waiting.set_exception(error)
