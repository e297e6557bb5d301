"""Raw messages as evidence, one compressed object each, in a folder or an object store (D-36)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from msgx_adapters.archive_fsspec.bounded import Bounded
from msgx_adapters.archive_fsspec.files import Files
from msgx_adapters.archive_fsspec.keys import (
    Name,
    day_of,
    folder_of,
    is_key,
    is_step,
    name_of,
    pack,
    pack_step,
    parse_name,
    step_name,
    step_time,
    unpack,
    unpack_step,
)
from msgx_core.errors import Rejected
from msgx_core.ports.archive import ArchivedRaw, DepartureStep
from msgx_core.ports.codec import RawText

T = TypeVar("T")
_LISTING = 12
"""A listing may take so many times as long as one object."""


class FsspecArchive:
    """Implements `Archive`. Safe to call from several threads and beside other processes.

    An object is written beside its place and moved there, so that nobody sees half of one. It is not
    forced to the disk: a power cut may cost the last seconds of evidence, and a damaged object is `Rejected`.
    """

    def __init__(self, files: Files, *, timeout_s: float = 5.0) -> None:
        self._files = files
        self._timeout_s = timeout_s
        self._bounded = Bounded("archive")

    @classmethod
    def in_folder(cls, folder: Path, *, timeout_s: float = 5.0, create: bool = True) -> FsspecArchive:
        """A folder on this machine, made where it is missing."""
        return cls(Files.in_folder(str(folder), create=create), timeout_s=timeout_s)

    @classmethod
    def in_memory(cls, *, timeout_s: float = 5.0) -> FsspecArchive:
        """Lives and dies with this process."""
        return cls(Files.in_memory(f"msgx-{uuid4().hex}"), timeout_s=timeout_s)

    @classmethod
    def at(cls, url: str, *, timeout_s: float = 5.0, **options: Any) -> FsspecArchive:
        """`s3://BUCKET/PREFIX`, `gs://BUCKET` or `az://CONTAINER`.

        `ConfigError` when the package for it is missing. `options` go to its file system.
        """
        return cls(Files.at(url, **options), timeout_s=timeout_s)

    def put(self, msg_id: int, at: datetime, raw: RawText) -> str:
        """Keep the text; returns the key."""
        folder, name = folder_of(day_of(at)), name_of(msg_id, is_text=isinstance(raw, str))
        data = pack(raw)
        self._call(lambda: self._files.write(folder, name, data))
        return f"{folder}/{name}"

    def get(self, key: str) -> RawText | None:
        """The text under a key; None when there is none, or it is no key; `Rejected` when it is damaged."""
        if not is_key(key):
            return None
        packed = self._call(lambda: self._files.read(key))
        return None if packed is None else unpack(key, packed)

    def find(self, msg_id: int, at: datetime | None = None) -> str | None:
        """The key of a message; with `at` only under its day, else all days, newest first."""
        if at is not None:
            return self._key_on(msg_id, day_of(at))
        for day in reversed(self._days()):
            for found in self._names(day):
                if found.msg_id == msg_id:
                    return f"{folder_of(day)}/{found.name}"
        return None

    def read(self, first: date | None = None, last: date | None = None) -> Iterator[ArchivedRaw]:
        """All texts of a range of days, by message id within a day."""
        for day in self._days():
            if (first is None or first <= day) and (last is None or day <= last):
                for found in self._names(day):
                    key = f"{folder_of(day)}/{found.name}"
                    raw = self.get(key)
                    if raw is not None:
                        yield ArchivedRaw(key, found.msg_id, raw)

    def put_step(self, step: DepartureStep) -> str:
        """Keep a step of the history sweep; one more of the same instant goes a microsecond behind it."""
        at = step.at
        folder = folder_of(day_of(at))
        while self._exists(f"{folder}/{step_name(at)}"):
            at += timedelta(microseconds=1)
        name, data = step_name(at), pack_step(step)
        self._call(lambda: self._files.write(folder, name, data))
        return f"{folder}/{name}"

    def steps(self) -> Iterator[DepartureStep]:
        """All steps that are kept, in order of time."""
        for day in self._days():
            folder = folder_of(day)
            for name in sorted(self._call(lambda folder=folder: self._files.names(folder), _LISTING)):  # type: ignore[misc]
                at = step_time(name)
                if at is not None:
                    key = f"{folder}/{name}"
                    step = self._step(at, key)
                    if step is not None:
                        yield step

    def remove_before(self, cutoff: date) -> int:
        """Remove whole days before the cutoff; how many objects."""
        removed = 0
        for day in self._days():
            if day < cutoff:
                removed += self._call(lambda day=day: self._remove(day), _LISTING)  # type: ignore[misc]
        return removed

    def count_before(self, cutoff: date) -> int:
        """The objects of whole days before the cutoff."""
        return sum(len(self._names(day)) for day in self._days() if day < cutoff)

    def ping(self) -> None:
        """Return when the archive answers, else raise `Transient`."""
        self._call(self._files.ping)

    def close(self) -> None:
        """Idempotent."""
        self._bounded.close()

    def _step(self, at: datetime, key: str) -> DepartureStep | None:
        """One of them; what is no object is damaged too."""
        try:
            packed = self._call(lambda: self._files.read(key))
        except Rejected:
            return DepartureStep(at, {})
        return None if packed is None else unpack_step(at, packed)

    def _key_on(self, msg_id: int, day: date) -> str | None:
        for is_text in (False, True):
            key = f"{folder_of(day)}/{name_of(msg_id, is_text=is_text)}"
            if self._exists(key):
                return key
        return None

    def _exists(self, key: str) -> bool:
        return self._call(lambda: self._files.exists(key))

    def _days(self) -> list[date]:
        """The days that have a folder, oldest first."""
        found = []
        for year in self._numbers("", 4):
            for month in self._numbers(year, 2):
                for day in self._numbers(f"{year}/{month}", 2):
                    try:
                        found.append(date(int(year), int(month), int(day)))
                    except ValueError:  # a folder of somebody else
                        continue
        return sorted(found)

    def _numbers(self, folder: str, length: int) -> list[str]:
        names = self._call(lambda: self._files.names(folder), _LISTING)
        return sorted({name for name in names if len(name) == length and name.isascii() and name.isdigit()})

    def _names(self, day: date) -> list[Name]:
        found = self._call(lambda: self._files.names(folder_of(day)), _LISTING)
        names = [name for name in map(parse_name, found) if name is not None]
        return sorted(names, key=lambda name: (name.msg_id, name.name))

    def _remove(self, day: date) -> int:
        folder = folder_of(day)
        found = self._files.names(folder)
        ours = [name for name in found if parse_name(name) is not None]
        parts = [name for name in found if name.startswith(".") and name.endswith(".part")]
        steps = [name for name in found if is_step(name)]
        self._files.remove(folder, [*ours, *parts, *steps])
        return len(ours)

    def _call(self, work: Callable[[], T], times: int = 1) -> T:
        return self._bounded.call(work, times * self._timeout_s)
