"""Calls that may hang, each waited for no longer than promised."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from msgx_core.errors import MsgxError, Transient

T = TypeVar("T")
MOST_HANGING = 4


class Bounded:
    """Runs calls in daemon threads of its own, so that a dead network file system freezes nobody.

    A call that does not come back is left alone; while `MOST_HANGING` of them hang, further calls fail at
    once. Any error but ours becomes `Transient`. Safe to call from several threads.
    """

    def __init__(self, service: str) -> None:
        self._service = service
        self._guard = threading.Lock()
        self._idle: list[_Worker] = []
        self._hanging = 0
        self._closed = False

    def call(self, work: Callable[[], T], timeout_s: float) -> T:
        """The result of `work`; its errors, and its slowness, as `Transient`."""
        worker = self._take()
        done = worker.start(work)
        if not done.wait(timeout_s) and self._abandon(worker):
            raise Transient(self._service, f"no answer within {timeout_s:g} s")
        result, error = worker.taken()
        with self._guard:
            keep = not self._closed
            if keep:
                self._idle.append(worker)
        if not keep:
            worker.end()
        if error is None:
            return result  # type: ignore[no-any-return]
        if isinstance(error, MsgxError | FileNotFoundError):
            raise error
        raise Transient(self._service, f"{type(error).__name__}: {error}") from error

    def close(self) -> None:
        """End the threads that have nothing to do; calls after it raise `Transient`. Idempotent."""
        with self._guard:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.end()

    def _take(self) -> _Worker:
        with self._guard:
            if self._closed:
                raise Transient(self._service, "closed")
            if self._idle:
                return self._idle.pop()
            if self._hanging >= MOST_HANGING:
                raise Transient(self._service, f"{self._hanging} calls have not come back")
        return _Worker(self._service)

    def _abandon(self, worker: _Worker) -> bool:
        """Leave a call alone; False when it has come back at the last moment."""
        with self._guard:
            self._hanging += 1
        if worker.abandon(self._came_back):
            return True
        self._came_back()
        return False

    def _came_back(self) -> None:
        with self._guard:
            self._hanging -= 1


class _Worker:
    """One thread and its present call."""

    def __init__(self, name: str) -> None:
        self._calls: SimpleQueue[Callable[[], Any] | None] = SimpleQueue()
        self._answer: tuple[Any, BaseException | None] = (None, None)
        self.finished = threading.Event()
        self._guard = threading.Lock()
        self._abandoned: Callable[[], None] | None = None
        threading.Thread(target=self._run, name=f"{name}-call", daemon=True).start()

    def start(self, work: Callable[[], Any]) -> threading.Event:
        """Begin a call; the event tells its end."""
        self.finished.clear()
        self._calls.put(work)
        return self.finished

    def taken(self) -> tuple[Any, BaseException | None]:
        """Result and error of the call that has ended."""
        answer, self._answer = self._answer, (None, None)
        return answer

    def abandon(self, came_back: Callable[[], None]) -> bool:
        """Nobody waits any more: the thread ends with its call and says so. False: the call has ended."""
        with self._guard:
            if self.finished.is_set():
                return False
            self._abandoned = came_back
            return True

    def end(self) -> None:
        """No more calls."""
        self._calls.put(None)

    def _run(self) -> None:
        while (work := self._calls.get()) is not None:
            try:
                self._answer = (work(), None)
            except BaseException as error:
                self._answer = (None, error)
            del work
            with self._guard:
                self.finished.set()
                abandoned = self._abandoned
            if abandoned is not None:
                abandoned()
                return
