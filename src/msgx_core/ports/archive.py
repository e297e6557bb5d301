"""The archive port: the raw text of each message, cold, read by no decision (FST §3.2, D-36)."""

from __future__ import annotations

from collections.abc import Iterator
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


class Archive(Protocol):
    """One compressed object per message under a dated key. Bounded in time.

    Raises `Transient("archive", …)` when it does not answer. `bytes` come back as `bytes`, `str` as `str`.
    """

    def put(self, msg_id: int, at: datetime, raw: RawText) -> str:
        """Keep the text; returns the key. Idempotent for the same message and day."""
        ...

    def get(self, key: str) -> RawText | None:
        """The text under a key; None when there is none."""
        ...

    def find(self, msg_id: int) -> str | None:
        """The key of a message, newest first; may list, for people only."""
        ...

    def read(self, first: date | None = None, last: date | None = None) -> Iterator[ArchivedRaw]:
        """All texts of a range of days by message id within a day, one at a time: memory stays flat."""
        ...

    def remove_before(self, cutoff: date) -> int:
        """Remove whole days before the cutoff; how many objects."""
        ...

    def ping(self) -> None:
        """Return when the archive answers, else raise `Transient`."""
        ...

    def close(self) -> None:
        """Idempotent."""
        ...
