"""The archive port: the raw text of each message, cold, read by no decision (FST §3.2, D-36)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from typing import Protocol

from attrs import frozen

from msgx_core.ports.codec import RawText


@frozen
class ArchivedRaw:
    """One message's text under its key."""

    key: str
    msg_id: int
    raw: RawText


@frozen
class DepartureStep:
    """One transaction of the history sweep: when, and the floor that it left for each flight (D-33, D-37)."""

    at: datetime
    floors: Mapping[int, int]


class Archive(Protocol):
    """One compressed object per message under a dated key. Bounded in time.

    Raises `Transient("archive", …)` when it does not answer, `Rejected("archive-damaged", …)` for an object
    that cannot be read any more. `bytes` come back as `bytes`, `str` as `str`.
    """

    def put(self, msg_id: int, at: datetime, raw: RawText) -> str:
        """Keep the text under the UTC day of `at`; returns the key. Puts in place of what was there."""
        ...

    def get(self, key: str) -> RawText | None:
        """The text under a key; None when there is none."""
        ...

    def find(self, msg_id: int, at: datetime | None = None) -> str | None:
        """The key of a message put `at`, in one or two requests; without `at` its newest, which may list."""
        ...

    def read(self, first: date | None = None, last: date | None = None) -> Iterator[ArchivedRaw]:
        """All texts of a range of days by message id within a day, one at a time: memory stays flat."""
        ...

    def put_step(self, step: DepartureStep) -> str:
        """Keep a step of the history sweep under its day, for verification; returns the key."""
        ...

    def steps(self) -> Iterator[DepartureStep]:
        """All steps that are kept, in order of time; one that is damaged comes without floors."""
        ...

    def remove_before(self, cutoff: date) -> int:
        """Remove whole days before the cutoff; how many objects."""
        ...

    def count_before(self, cutoff: date) -> int:
        """How many objects `remove_before` would remove; nothing is removed."""
        ...

    def ping(self) -> None:
        """Return when the archive answers, else raise `Transient`."""
        ...

    def close(self) -> None:
        """Idempotent."""
        ...
