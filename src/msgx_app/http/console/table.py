"""The pages there are: one module each, and their places in the navigation."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Final

from attrs import frozen

GROUPS: Final = ("now", "work", "data")
"""Of the navigation, from top to bottom."""


@frozen
class Entry:
    """A line of the navigation: its text is `nav.<name>`; `badge` is one of `Pulse`'s, shown unless 0."""

    name: str
    path: str
    group: str
    badge: str = ""


def modules() -> tuple[ModuleType, ...]:
    """Each has route handlers, made with `shows` and `takes`, and an `ENTRY` if it is in the navigation."""
    from msgx_app.http.console.pages import (
        alerts,
        flight,
        flights,
        jobs,
        message,
        messages,
        outbox,
        overview,
        reference,
        replay,
        requests,
        resources,
        snapshots,
        writeback,
    )

    work = (messages, message, replay, writeback, outbox, requests, jobs)
    return (overview, flights, flight, alerts, *work, snapshots, reference, resources)


def entries() -> tuple[Entry, ...]:
    """The lines of the navigation."""
    return tuple(module.ENTRY for module in modules() if hasattr(module, "ENTRY"))


def grouped(found: Sequence[Entry]) -> list[tuple[str, list[Entry]]]:
    """The lines by group."""
    return [(group, lines) for group in GROUPS if (lines := [each for each in found if each.group == group])]
