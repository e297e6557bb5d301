"""Telemetry for the embedded set: events as log lines through structlog, counts in memory."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import date
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from msgx_core.ports.clock import Clock

LOST = "msgx.telemetry.lost"
"""Counter of log lines that could not be written."""

# Names that structlog or we use ourselves.
_RESERVED = ("event", "timestamp", "self", "method_name")


class StructlogTelemetry:
    """Implements `Telemetry`. Thread-safe; never raises.

    Events go as one line each to `stream` (standard error as it is at that time), as JSON or for people
    (`console`), with the time of `clock`, UTC.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        renderer: Literal["json", "console"] = "json",
        stream: TextIO | None = None,
    ) -> None:
        self._clock = clock
        self._guard = threading.Lock()
        self._values: dict[str, float] = {}
        self._log = structlog.wrap_logger(
            _Lines(stream),
            processors=[
                structlog.contextvars.merge_contextvars,
                self._stamp,
                structlog.processors.format_exc_info,
                structlog.processors.UnicodeDecoder(),
                *_rendering(renderer),
            ],
            wrapper_class=structlog.BoundLogger,
        )

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        """Add to a counter."""
        series = _series(name, labels)
        with self._guard:
            self._values[series] = self._values.get(series, 0) + n

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """Keep number, sum and largest of the values."""
        count, total, largest = (_series(f"{name}{part}", labels) for part in ("_count", "_sum", "_max"))
        with self._guard:
            self._values[count] = self._values.get(count, 0) + 1
            self._values[total] = self._values.get(total, 0) + value
            self._values[largest] = max(self._values.get(largest, value), value)

    def event(self, name: str, /, **fields: object) -> None:
        """Write one line, with the fields of the stages around it. A reserved name gets a `_` behind it."""
        try:
            self._log.msg(name, **_safe(fields))
        except Exception:
            # A full disk, a closed pipe or a value that cannot be shown must not stop a message.
            self.count(LOST)

    def stage(self, _name: str, /, **fields: object) -> AbstractContextManager[None]:
        """Nothing of its own; `fields` are bound to this thread (or task) meanwhile."""
        return _bound(fields) if fields else _NOTHING

    def snapshot(self) -> dict[str, float]:
        """All values so far by series: `name{label="value",…}`, labels in order.

        A distribution has `name_count`, `name_sum` and `name_max`.
        """
        with self._guard:
            return dict(self._values)

    def _stamp(self, _logger: WrappedLogger, _method: str, fields: EventDict) -> EventDict:
        at = self._clock.now().isoformat(timespec="milliseconds")
        return {"timestamp": at, "event": fields.pop("event"), **fields}


class _Lines:
    """Writes whole lines; looks standard error up each time, because tests and daemons replace it."""

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream
        self._guard = threading.Lock()

    def msg(self, line: str) -> None:
        stream = sys.stderr if self._stream is None else self._stream
        with self._guard:
            stream.write(f"{line}\n")
            stream.flush()


def _rendering(renderer: Literal["json", "console"]) -> list[Processor]:
    if renderer == "json":
        return [
            structlog.processors.JSONRenderer(ensure_ascii=False, separators=(",", ":"), default=repr),
        ]
    return [structlog.dev.ConsoleRenderer(colors=False, sort_keys=False)]


_NOTHING = nullcontext()


@contextmanager
def _bound(fields: dict[str, object]) -> Iterator[None]:
    with structlog.contextvars.bound_contextvars(**_safe(fields)):
        yield


def _safe(fields: dict[str, object]) -> dict[str, object]:
    return {f"{key}_" if key in _RESERVED else key: _shown(fields[key]) for key in fields}


def _shown(value: object) -> object:
    """Times and days as ISO 8601, in any rendering."""
    return value.isoformat() if isinstance(value, date) else value


def _series(name: str, labels: dict[str, str]) -> str:
    if not labels:
        return name
    return name + "{" + ",".join(f'{key}="{labels[key]}"' for key in sorted(labels)) + "}"
