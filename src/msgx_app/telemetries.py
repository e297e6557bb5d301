"""Several telemetries as one: lines, numbers and spans, each told the same."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType

from msgx_core.ports import Telemetry


class Telemetries:
    """Implements `Telemetry`: passes everything on to each of `behind`, in order."""

    def __init__(self, *behind: Telemetry) -> None:
        self._behind: Sequence[Telemetry] = behind

    def count(self, name: str, n: int = 1, /, **labels: str) -> None:
        """Pass on."""
        for each in self._behind:
            each.count(name, n, **labels)

    def observe(self, name: str, value: float, /, **labels: str) -> None:
        """Pass on."""
        for each in self._behind:
            each.observe(name, value, **labels)

    def event(self, name: str, /, **fields: object) -> None:
        """Pass on."""
        for each in self._behind:
            each.event(name, **fields)

    def stage(self, name: str, /, **fields: object) -> AbstractContextManager[None]:
        """Inside the stage of each."""
        stages = [
            stage for each in self._behind if not isinstance(stage := each.stage(name, **fields), nullcontext)
        ]
        return stages[0] if len(stages) == 1 else _Stages(stages)


class _Stages:
    """Stages entered and left together; this is on the way of every message, so it does no more than that."""

    __slots__ = ("_stages",)

    def __init__(self, stages: Sequence[AbstractContextManager[None]]) -> None:
        self._stages = stages

    def __enter__(self) -> None:
        for stage in self._stages:
            stage.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stage in reversed(self._stages):
            stage.__exit__(kind, error, trace)
