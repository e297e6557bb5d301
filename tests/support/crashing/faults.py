"""Parts with one fault each, which depends on the message and the time alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from crashing.bench import BEGIN, Disguise
from msgx_core.errors import Rejected, Transient
from msgx_core.model.change import Change
from msgx_core.ports.bus import BusRecord, Delivery
from msgx_core.ports.cache import CacheEntry
from msgx_core.testing.clock import ManualClock

BROKEN = BEGIN + timedelta(minutes=25)
"""Faults begin after what was there before."""


class Disguised:
    """A part that answers as it is but for one method."""

    def __init__(self, part: Any, clock: ManualClock, method: str, instead: Callable[..., Any]) -> None:
        self._part, self._clock = part, clock
        self._method, self._instead = method, instead

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if name != self._method:
            return found
        return lambda *args: self._instead(found, self._clock.now(), *args)


def _instead(method: str, instead: Callable[..., Any]) -> Disguise:
    """Not before `BROKEN`: what the kind begins with is whole."""

    def faulty(real: Callable[..., Any], now: datetime, *args: Any) -> Any:
        return real(*args) if now < BROKEN else instead(real, now, *args)

    return lambda part, clock: Disguised(part, clock, method, faulty)


def until(minutes: int) -> datetime:
    """A time of the run."""
    return BEGIN + timedelta(minutes=minutes)


def codec_breaks(word: bytes, end: datetime) -> Disguise:
    """The codec has a fault that a text with that word meets."""

    def decode(real: Callable[[Any], Any], now: datetime, raw: Any) -> Any:
        text = raw if isinstance(raw, bytes) else raw.encode()
        if word in text and now < end:
            raise RuntimeError("a fault of ours")
        return real(raw)

    return _instead("decode", decode)


def store_rejects(flid: int, end: datetime) -> Disguise:
    """The store refuses a change of that flight."""

    def apply(real: Callable[[Change], int], now: datetime, change: Change) -> int:
        if now < end and any(put.state.flid == flid for put in change.flights):
            raise Rejected("store-rejected:22003")
        return real(change)

    return _instead("apply", apply)


def cache_rejects(flid: int, end: datetime) -> Disguise:
    """The cache refuses the key of that flight."""

    def write(real: Callable[..., None], now: datetime, entries: Sequence[CacheEntry]) -> None:
        if now < end and any(entry.flid == flid for entry in entries):
            raise Rejected("cache-rejected")
        real(entries)

    return _instead("write", write)


def cache_is_away(end: datetime) -> Disguise:
    """The cache cannot be filled."""

    def rebuild(real: Callable[..., int], now: datetime, *args: Any) -> int:
        if now < end:
            raise Transient("cache", "no answer")
        return real(*args)

    return _instead("rebuild", rebuild)


def bus_refuses(word: bytes, code: str, end: datetime) -> Disguise:
    """The bus refuses records with that word in them and takes the others."""

    def publish(real: Callable[..., Any], now: datetime, records: Sequence[BusRecord]) -> list[Delivery]:
        bad = [now < end and word in record.value for record in records]
        good = iter(real([record for record, refused in zip(records, bad, strict=True) if not refused]))
        return [Delivery(code) if refused else next(good) for refused in bad]

    return _instead("publish", publish)


def mark_fails(msg_id: int, end: datetime) -> Disguise:
    """The mark of that row is refused."""

    def mark(
        real: Callable[..., Any], now: datetime, marks: Sequence[tuple[int, datetime]], *more: Any
    ) -> Any:
        if now >= end:
            return real(marks, *more)
        results = dict(real([mark for mark in marks if mark[0] != msg_id], *more))
        refused = {each: RuntimeError("locked") for each, _ in marks if each == msg_id}
        return {**results, **refused}

    return _instead("mark", mark)


def mailbox_takes_no_marks(end: datetime) -> Disguise:
    """The mailbox as a whole cannot be written to."""

    def mark(real: Callable[..., Any], now: datetime, *args: Any) -> Any:
        if now < end:
            raise Transient("mailbox", "read-only")
        return real(*args)

    return _instead("mark", mark)
